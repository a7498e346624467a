import { type AstNode, type AstToken, allChildren, child } from './ast.ts';

/**
 * The tokens of a function from its parameters to its end, joined; semicolons, trailing commas and the way a module
 * names its imports do not count, so that the ESM and the CommonJS build of one function agree.
 * @param modules names that stand for whole modules in this file (`moduleNames`).
 */
export function tokenKey(
  text: string,
  tokens: readonly AstToken[],
  value: AstNode,
  modules: ReadonlySet<string>,
): string {
  const words: string[] = [];
  const kind = `${value.async === true ? 'async ' : ''}${value.generator === true ? '*' : ''}`;
  const isFunction = /^(?:Function|Arrow)/.test(value.type);
  for (let i = firstAt(tokens, parametersStart(value)); i < tokens.length && tokens[i].start < value.end; i++) {
    const token = tokens[i];
    if (typeof token.type === 'string') continue; // comments
    const word = text.slice(token.start, token.end);
    if (words.length === 0 && isFunction && LEADING.has(word)) continue;
    words.push(word);
  }
  return kind + simplified(words, modules).join(' ');
}

/** Said by `kind` already, and absent from methods. */
const LEADING = new Set(['async', 'function', '*']);

/** Where the tokens begin that do not depend on how the function got its name. */
function parametersStart(value: AstNode): number {
  if (value.type.endsWith('Method')) return child(value, 'key')!.end;
  if (value.type === 'FunctionDeclaration' || value.type === 'FunctionExpression')
    return child(value, 'id')?.end ?? value.start;
  return value.start;
}

function simplified(words: readonly string[], modules: ReadonlySet<string>): string[] {
  const result: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === ';') continue;
    if (word === ',' && /^[)\]}]$/.test(words[i + 1] ?? '')) continue;
    if (/^["']/.test(word)) {
      result.push(`"${word.slice(1, -1)}"`);
      continue;
    }
    // (0, _module.name)(x)
    if (word === '(' && words[i + 1] === '0' && words[i + 2] === ',' && words[i + 4] === '.' && words[i + 6] === ')') {
      result.push(imported(words[i + 3], words[i + 5]));
      i += 6;
      continue;
    }
    if (modules.has(word) && words[i + 1] === '.' && result[result.length - 1] !== '.') {
      result.push(imported(word, words[i + 2] ?? ''));
      i += 2;
      continue;
    }
    result.push(word);
  }
  return result;
}

/** What the ESM source calls `_module.name`; a default import goes by its module's name. */
function imported(module: string, name: string): string {
  return name === 'default' ? module.replace(/^_+/, '').replace(/(?:_\d+|Default|__default)$/, '') : name;
}

/** Names bound to `require(...)`, directly or through an interop helper. */
export function moduleNames(program: AstNode): Set<string> {
  const names = new Set<string>();
  const stack: AstNode[] = [program];
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (node.type === 'VariableDeclarator') {
      const id = child(node, 'id')!;
      let init = child(node, 'init');
      while (init?.type === 'CallExpression' && calleeName(init) !== 'require') init = (init.arguments as AstNode[])[0];
      if (id.type === 'Identifier' && init?.type === 'CallExpression') names.add(id.name as string);
    } else stack.push(...allChildren(node));
  }
  return names;
}

function calleeName(call: AstNode): unknown {
  return child(call, 'callee')?.name;
}

function firstAt(tokens: readonly AstToken[], position: number): number {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tokens[middle].start < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
