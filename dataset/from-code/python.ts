import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import { isDirective } from './comment.ts';
import type { SourceFunction } from './source-function.ts';
import { dedent, indentationAt, type Span, withoutSpans } from './strip.ts';

/**
 * Every function and method of a Python file, in the order of the file, with its docstring or else the `#` lines above it
 * as comment. Docstrings and comments are no part of the code, nested ones included. A function that has nothing but its
 * docstring comes with empty code. The parser recovers from what it does not know, so no file is refused.
 */
export function pythonFunctions(text: string): SourceFunction[] {
  const found: { node: SyntaxNode; owner: string }[] = [];
  const hidden: Span[] = [];
  const remarks: Span[] = [];
  const owners: { name: string; to: number }[] = [];

  const tree = parser.parse(text);
  tree.iterate({
    enter(ref) {
      while (owners.length > 0 && owners[owners.length - 1].to <= ref.from) owners.pop();
      if (ref.name === 'Comment') {
        const span = { start: ref.from, end: ref.to };
        hidden.push(span);
        remarks.push(span);
      } else if (ref.name === 'FunctionDefinition' || ref.name === 'ClassDefinition') {
        const node = ref.node;
        const docstring = docstringOf(node);
        if (docstring) hidden.push(withoutDocstring(text, docstring, statementsOf(node).length === 1));
        const owner = owners[owners.length - 1]?.name ?? '';
        if (ref.name === 'FunctionDefinition') found.push({ node, owner });
        // The functions inside a function go by their own names.
        const name = ref.name === 'ClassDefinition' ? qualified(owner, nameOf(node, text)) : '';
        owners.push({ name, to: ref.to });
      }
    },
  });
  hidden.sort((a, b) => a.start - b.start);

  const lines = lineCounter(text);
  return found.map(({ node, owner }) => {
    const whole = node.parent?.name === 'DecoratedStatement' ? node.parent : node;
    const docstring = docstringOf(node);
    const hasCode = statementsOf(node).some((statement) => statement.from !== docstring?.from);
    const { line, column } = lines(whole.from);
    const above = docstring ? undefined : remarksAbove(text, remarks, whole.from);
    return {
      name: qualified(owner, nameOf(node, text)),
      line,
      column,
      code: hasCode
        ? dedent(
            withoutSpans(text, whole.from, whole.to, within(hidden, whole.from, whole.to)),
            indentationAt(text, whole.from),
          )
        : '',
      comments: docstring ? [docstringText(text.slice(docstring.from, docstring.to))] : above ? [above] : [],
      key: hasCode ? tokenKey(text, node) : '',
    };
  });
}

function qualified(owner: string, name: string): string {
  return owner === '' ? name : `${owner}.${name}`;
}

function nameOf(definition: SyntaxNode, text: string): string {
  const name = definition.getChild('VariableName');
  return name ? text.slice(name.from, name.to) : '';
}

function statementsOf(definition: SyntaxNode): SyntaxNode[] {
  const statements: SyntaxNode[] = [];
  for (let node = definition.getChild('Body')?.firstChild; node; node = node.nextSibling) {
    if (node.name !== ':' && node.name !== 'Comment' && node.name !== ';') statements.push(node);
  }
  return statements;
}

/** The first statement of the body when it is a plain string. */
function docstringOf(definition: SyntaxNode): SyntaxNode | undefined {
  const first = statementsOf(definition)[0];
  const value = first?.name === 'ExpressionStatement' ? first.firstChild : undefined;
  const isString = value?.name === 'String' || value?.name === 'ContinuedString';
  return isString && value.nextSibling === null ? first : undefined;
}

/** The blank lines below a docstring go with it; a body needs something to stand there. */
function withoutDocstring(text: string, docstring: SyntaxNode, isAlone: boolean): Span {
  const { from: start, to } = docstring;
  if (isAlone) return { start, end: to, replacement: 'pass' };
  const blank = /^[ \t]*\n(?:[ \t]*\n)+/.exec(text.slice(to, to + 200))?.[0].length ?? 0;
  return { start, end: to + blank };
}

function docstringText(literal: string): string {
  const body = literal.trim().replace(/^[rRuUbBfF]{0,2}("""|'''|"|')/, '');
  const text = body.replace(/("""|'''|"|')\s*$/, '').replace(/\\\n/g, '');
  const [first, ...rest] = text.split('\n');
  const indents = rest.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)![0].length);
  const shared = indents.length === 0 ? 0 : Math.min(...indents);
  return [first.trimStart(), ...rest.map((line) => line.slice(shared))].join('\n');
}

/** `#` lines that end directly above the function. */
function remarksAbove(text: string, remarks: readonly Span[], position: number): string | undefined {
  const lines: string[] = [];
  let at = position;
  for (let i = lastEndingBy(remarks, position); i >= 0; i--) {
    const { start, end } = remarks[i];
    const gap = text.slice(end, at);
    const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
    if (gap.trim() !== '' || gap.split('\n').length > 2 || before.trim() !== '') break;
    const remark = text.slice(start, end).replace(/^#+[:!]?/, '');
    if (!isDirective(remark)) lines.unshift(remark);
    at = start;
  }
  return lines.length > 0 ? lines.join('\n') : undefined;
}

/** Tokens after the name; blocks keep their borders, because in Python they are white space. */
function tokenKey(text: string, definition: SyntaxNode): string {
  const words: string[] = [];
  const docstrings = new Set<number>();
  const from = definition.getChild('ParamList')?.from ?? definition.from;
  if (definition.getChild('async')) words.push('async');
  const cursor = definition.cursor();
  cursor.iterate(
    (node) => {
      if (node.name === 'FunctionDefinition' || node.name === 'ClassDefinition') {
        const docstring = docstringOf(node.node);
        if (docstring) docstrings.add(docstring.from);
      }
      if (node.name === 'Comment' || (node.name === 'ExpressionStatement' && docstrings.has(node.from))) return false;
      if (node.name === 'Body') words.push('{');
      const isAtom = /String$/.test(node.name) || node.node.firstChild === null;
      if (isAtom && node.from >= from) words.push(text.slice(node.from, node.to));
      return !isAtom;
    },
    (node) => {
      if (node.name === 'Body') words.push('}');
    },
  );
  return words.join(' ');
}

function within(spans: readonly Span[], from: number, to: number): Span[] {
  const result: Span[] = [];
  for (let i = lastEndingBy(spans, from) + 1; i < spans.length && spans[i].start < to; i++) result.push(spans[i]);
  return result;
}

function lastEndingBy(spans: readonly Span[], position: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].end <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Line and column of ascending positions, in one pass over the text. */
function lineCounter(text: string): (position: number) => { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  return (position) => {
    for (
      let newline = text.indexOf('\n', lineStart);
      newline !== -1 && newline < position;
      newline = text.indexOf('\n', lineStart)
    ) {
      lineStart = newline + 1;
      line++;
    }
    return { line, column: position - lineStart + 1 };
  };
}
