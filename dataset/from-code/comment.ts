import { plainText } from './plain-text.ts';
import { firstSentence } from './sentence.ts';

/** Why a comment gives no query. The report counts them by these words. */
export type CommentRefusal =
  | 'no description'
  | 'tool directive'
  | 'licence'
  | 'todo or remark'
  | 'deprecation notice'
  | 'pointer elsewhere'
  | 'commented-out code'
  | 'too few words';

export type Described = { readonly sentence: string } | { readonly refused: CommentRefusal };

/** Only the beginning can hold the first sentence; a megabyte of brackets must not keep the expressions below busy. */
const LONGEST = 4000;

/**
 * The first sentence that describes the function, out of a comment's text (markers such as `/**`, `//`, `"""` already
 * gone, tags and markup still in). It is the sentence before the first tag, or else that of `@summary`, `@description`
 * or the like, or below `@private` and its kin, whichever comes first; a heading of one or two words gives way to the paragraph below it.
 */
export function describeComment(wholeComment: string, fewestWords = 3): Described {
  const comment = wholeComment.slice(0, LONGEST);
  if (isDirective(comment)) return { refused: 'tool directive' };
  const { lead, tags } = splitTags(withoutFences(comment));
  if (tags.some((tag) => LICENCE_TAGS.has(tag.name))) return { refused: 'licence' };
  // A comment with one of these describes a type or a file, and only happens to stand above a function.
  if (tags.some((tag) => FOREIGN_TAGS.has(tag.name))) return { refused: 'no description' };

  let refused: CommentRefusal = 'no description';
  for (const text of [lead, ...tags.map(describingText)]) {
    for (const paragraph of paragraphs(text)) {
      const sentence = firstSentence(paragraph);
      if (sentence === '') continue;
      const refusal = refuse(sentence, fewestWords);
      if (refusal === undefined) return { sentence };
      refused = refusal;
      const isSignature = /^[\w$.]+\([^()]*\):?$/.test(paragraph);
      const isHeading = isSignature || (refusal === 'too few words' && !/[.!?。！？]$/u.test(paragraph));
      if (!isHeading) return { refused };
    }
  }
  return { refused };
}

/** Comments that speak to a tool. They may stand between a function and its real comment. */
export function isDirective(comment: string): boolean {
  return DIRECTIVE.test(comment.trim());
}

// Whole forms only: "standard deviation of ..." and "exported by ..." are descriptions.
const DIRECTIVE = new RegExp(
  `^(?:${[
    String.raw`(?:eslint|oxlint|biome|deno|prettier|stylelint|standard)-[\w-]+`,
    String.raw`(?:eslint|jshint|jslint|jscs|tslint|stylelint|cspell|spell-?checker|codespell)[\s:]`,
    String.raw`(?:istanbul|c8|v8)\s+ignore\b|node:coverage\b|flow-?fixme|\$flow|noinspection\b`,
    String.raw`@ts-|@(?:flow|noflow|format|jsx\w*|vite-ignore|__\w+__)\b|[#@]__|webpack\w*:`,
    String.raw`#(?:end)?region\b|[#@]\s*source\w*=|sourceMappingURL|::|:\s*(?:\w+|\{)|!\/`,
    String.raw`globals?\s+[\w$]+\s*(?::\s*\w+\s*)?(?:,|$)|exported\s+[\w$]+\s*(?:,|$)`,
    String.raw`type:|noqa\b|(?:pylint|pyright|mypy|ruff|fmt|yapf|isort|pragma):|flake8\b|nosec\b|-\*-`,
  ].join('|')})`,
  'i',
);

const LICENCE_TAGS = new Set(['license', 'licence', 'preserve', 'copyright', 'cc_on']);
const FOREIGN_TAGS = new Set(
  'file fileoverview overview module packagedocumentation typedef callback inheritdoc enum event interface'.split(' '),
);
const DESCRIBING_TAGS = new Set(['description', 'desc', 'summary', 'brief', 'short', 'classdesc']);
/** Tags that end with their line: what is below them speaks of the function again. */
const ONE_LINE_TAGS = new Set(
  `private public protected internal static async function func method constructor class extends augments abstract override
  readonly inner instance global ignore hidden export api access name memberof memberof! since alpha beta tsl`.split(
    /\s+/,
  ),
);

function describingText({ name, text }: Tag): string {
  if (DESCRIBING_TAGS.has(name)) return text;
  const newline = text.indexOf('\n');
  return ONE_LINE_TAGS.has(name) && newline !== -1 ? text.slice(newline) : '';
}

interface Tag {
  readonly name: string;
  readonly text: string;
}

/** Splits at lines that begin with a JSDoc tag (`@param`), a Sphinx field (`:param x:`) or a Google/NumPy heading (`Args:`). */
function splitTags(comment: string): { lead: string; tags: Tag[] } {
  const lead: string[] = [];
  const tags: { name: string; lines: string[] }[] = [];
  const lines = comment.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    const tag =
      /^\s*[@\\]([a-zA-Z_][\w-]*)(?![\w./-]*\/)(.*)$/.exec(line) ??
      /^\s*:(param|parameter|arg|argument|key|keyword|type|raises?|except|exception|var|ivar|cvar|vartype|returns?|rtype|yields?|meta)\b[^:]*:(.*)$/.exec(
        line,
      );
    const heading =
      /^\s*(Args|Arguments|Parameters|Params|Returns?|Raises|Throws|Yields?|Examples?|Notes?|Attributes|See Also|References|Warnings?|Todo):?\s*$/.exec(
        line,
      );
    const isHeading = heading !== null && (/:\s*$/.test(line) || /^\s*[-=~^]{3,}\s*$/.test(lines[i + 1] ?? ''));
    if (tag) tags.push({ name: tag[1].toLowerCase(), lines: [tag[2]] });
    else if (isHeading) tags.push({ name: heading![1].toLowerCase(), lines: [] });
    else if (tags.length > 0) tags[tags.length - 1].lines.push(line);
    else lead.push(line);
  }
  return { lead: lead.join('\n'), tags: tags.map((tag) => ({ name: tag.name, text: tag.lines.join('\n') })) };
}

function withoutFences(comment: string): string {
  return comment.replace(/^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1[^\n]*$|(?![\s\S]))/gm, '\n');
}

/**
 * Blocks of prose as plain text, one line each; headings, rules, tables, list items, doctests and TODO lines end a block
 * and are none. So does a line that stops short of the margin before a capital: people leave the full stop out.
 */
function* paragraphs(text: string): Generator<string> {
  let open: string[] = [];
  const close = function* (): Generator<string> {
    for (const part of splitAtShortLines(open)) {
      const plain = plainText(part.join('\n'));
      if (plain !== '') yield plain;
    }
    open = [];
  };
  for (const line of text.replace(BLOCK_HTML, '\n\n').split('\n')) {
    const isRule = /^\s*[^\p{L}\p{N}`"'([{<]*$/u.test(line) && !/^\s*[)\].!?]+\s*$/.test(line);
    if (isRule || EXAMPLE_LINE.test(line.trim()) || /^\s*(#{1,6}\s|>>>|\.\.\s|\|.*\|\s*$)/.test(line)) yield* close();
    else if (open.length > 0 && /^\s*(?:(?:[-*+•]|\d+[.)])\s|(?:TODO|FIXME|XXX)\b)/.test(line)) {
      yield* close();
      return; // What follows are details.
    } else open.push(line.trim().replace(/^(?:[-*+•!]\s*)+(?=\S)/, ''));
  }
  yield* close();
}

/** Cuts between lines where the next word, a capitalised one, would still have fitted into the width of the block. */
function splitAtShortLines(lines: readonly string[]): string[][] {
  const width = Math.max(0, ...lines.map((line) => line.length));
  const parts: string[][] = [];
  let part: string[] = [];
  for (const [i, line] of lines.entries()) {
    part.push(line);
    const next = /^\p{Lu}\S*/u.exec(lines[i + 1] ?? '')?.[0];
    const goesOn =
      /(?:[,([:–—-]|\b(?:a|an|the|of|to|by|in|on|at|and|or|with|for|from|as|is|are|that|if|when|than|into|its?|this|any))$/i.test(
        line,
      );
    if (next !== undefined && !goesOn && line.length + 1 + next.length < width) {
      parts.push(part);
      part = [];
    }
  }
  return part.length > 0 ? [...parts, part] : parts;
}

const BLOCK_HTML = /<\/?(?:p|br|ul|ol|li|pre|div|h[1-6]|table|tr|td|blockquote|hr|dl|dt|dd)(?:\s[^>]*)?\/?>/gi;

function refuse(sentence: string, fewestWords: number): CommentRefusal | undefined {
  if (
    /\bcopyright\b|\(c\)\s*\d{4}|all rights reserved|permission is hereby|spdx-|\blicen[sc]ed? (?:under|by|:)/i.test(
      sentence,
    )
  )
    return 'licence';
  if (/^(?:todo|fixme|xxx|hack|wip|tbd|n\.?b\.?|note|notes|warning|caution|important|attention)\b/i.test(sentence))
    return 'todo or remark';
  if (/^\W*deprecated\b|^use \S+ instead\b/i.test(sentence)) return 'deprecation notice';
  if (/^(?:see(?! if\b| whether\b)|cf\.?|refer to|same as above|ditto|inherited|inherit doc)\b/i.test(sentence))
    return 'pointer elsewhere';
  if (looksLikeCode(sentence)) return 'commented-out code';
  if (wordCount(sentence) < fewestWords) return 'too few words';
  return undefined;
}

/** `arange(5) -> [0, 1, 2, 3, 4]` */
const EXAMPLE_LINE = /^[\w.]*[([].*(?:->|=>|={2,3})/;

function looksLikeCode(sentence: string): boolean {
  if (/[;{]$|^\}/.test(sentence) || EXAMPLE_LINE.test(sentence)) return true;
  if (
    /^(?:var|let|const)\s+[\w$]+\s*=|^(?:import|export)\s.*(?:\bfrom\b|[=({])|^(?:if|for|while|switch)\s*\(.*\)\s*\{/.test(
      sentence,
    )
  )
    return true;
  const letters = sentence.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const symbols = sentence.match(/[=;{}()<>[\]&|+*/\\$]/g)?.length ?? 0;
  return symbols > 0.3 * (letters + symbols);
}

/** Words between spaces; a Chinese or Japanese character counts as a word, for no spaces divide those. */
function wordCount(sentence: string): number {
  const spaced = sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  return Math.max(spaced, sentence.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu)?.length ?? 0);
}
