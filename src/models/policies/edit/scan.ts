/**
 * A light reading of a piece of code in any language: which names it defines, which identifiers it uses. Regular
 * expressions on the text, no parser: what does not parse must still be rewritten, and prose must not throw.
 */
import { splitIdentifier } from '../../../text/mod.ts';

/** How a name came to be: what it says about the document depends on it. */
export type NameKind = 'definition' | 'class' | 'parameter' | 'assigned' | 'call';

export interface Name {
  readonly kind: NameKind;
  readonly text: string;
  /** Lower-case words inside the name. */
  readonly parts: readonly string[];
}

export interface Scan {
  /** In order of appearance, each (kind, text) once. Calls only when nothing is defined. */
  readonly names: readonly Name[];
  /** Distinct identifiers with their counts, most frequent first; keywords and single letters left out. */
  readonly identifiers: readonly (readonly [string, number])[];
}

/** Characters that are read; what stands after them is only indexed. Bounds the time for a 2 MB line. */
export const SCANNED_CHARACTERS = 50_000;
const MAX_NAMES = 64;
const MAX_IDENTIFIERS = 512;

const DEFINITIONS: readonly (readonly [NameKind, RegExp])[] = [
  ['definition', /\b(?:def|fn|func|fun|sub)\s+(?:\([^()\n]{0,99}\)\s*)?([\p{L}_$][\p{L}\p{N}_$]*)/gu],
  ['definition', /\bfunction\s*\*?\s*([\p{L}_$][\p{L}\p{N}_$]*)\s*\(/gu],
  [
    'definition',
    /(?<![\p{L}\p{N}_$])([\p{L}_$][\p{L}\p{N}_$]*)\s*[:=]\s*(?:async\b\s*)?(?:function\b|\([^()\n]{0,199}\)\s*(?::[^=\n]{0,99})?=>|[\p{L}_$][\p{L}\p{N}_$]*\s*=>)/gu,
  ],
  // name(arguments) { : methods of classes and functions of the C family.
  [
    'definition',
    /(?<![\p{L}\p{N}_$])([\p{L}_$][\p{L}\p{N}_$]*)\s*\([^()\n;]{0,299}\)\s*(?:(?::|->)\s*[^{}()\n;]{1,99})?\s{0,9}\{/gu,
  ],
  ['definition', /\bcreate\s+(?:or\s+replace\s+)?(?:table|view|function|procedure)\s+([\p{L}_][\p{L}\p{N}_]*)/giu],
  ['definition', /\bexport\s+(?:const|let|var)\s+([\p{L}_$][\p{L}\p{N}_$]*)/gu],
  ['class', /\b(?:class|interface|struct|enum|trait|type|namespace|module)\s+([\p{L}_$][\p{L}\p{N}_$]*)/gu],
  ['assigned', /^[ \t]*(?:(?:const|let|var|val|auto)\s+)?([\p{L}_$][\p{L}\p{N}_$]*)\s*(?::[^=\n]{1,99})?=(?![=>])/gmu],
];

const CALL = /(?<![\p{L}\p{N}_$])([\p{L}_$][\p{L}\p{N}_$]*)\s*\(/gu;
const IDENTIFIER = /(?<![\p{L}\p{N}_$])[\p{L}_$][\p{L}\p{N}\p{M}_$]*/gu;
const PARAMETERS = /[\p{L}_$][\p{L}\p{N}_$]*(?=\s*(?:[,:=?]|$))/gu;

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'if else elif for while do switch case default break continue return yield function class def lambda import from as in ' +
    'is not and or with try except catch finally raise throw throws new delete typeof instanceof void this self cls super ' +
    'const let var public private protected static async await export extends implements interface enum struct fn func pub ' +
    'mut impl use mod match where type package true false True False None null undefined nil pass global nonlocal assert del ' +
    'print int str bool float double char long short unsigned signed string object any number boolean of end then begin ' +
    'require module exports get set constructor'
  ).split(' '),
);
/** Words that end up before a parenthesis or an equals sign without being a name. */
const NOT_A_NAME: ReadonlySet<string> = new Set(
  'if else elif for while do switch case return function catch with and or not in is new typeof await super this self cls constructor'.split(
    ' ',
  ),
);

export function scanCode(text: string): Scan {
  const read = text.length > SCANNED_CHARACTERS ? text.slice(0, SCANNED_CHARACTERS) : text;
  return { names: findNames(read), identifiers: findIdentifiers(read) };
}

export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word);
}

/** Lower-case words of an identifier; digits stay, as in base64. */
export function identifierParts(identifier: string): string[] {
  return splitIdentifier(identifier).map((part) => part.toLowerCase());
}

function findNames(text: string): Name[] {
  const found: { kind: NameKind; text: string; at: number }[] = [];
  for (const [kind, pattern] of DEFINITIONS) {
    let count = 0;
    for (const match of text.matchAll(pattern)) {
      if (++count > MAX_NAMES) break;
      if (NOT_A_NAME.has(match[1])) continue;
      found.push({ kind, text: match[1], at: match.index });
      if (kind === 'definition') {
        for (const parameter of parametersAfter(text, match.index + match[0].length, match[0])) {
          found.push({ kind: 'parameter', text: parameter, at: match.index });
        }
      }
    }
  }
  if (!found.some((name) => name.kind === 'definition' || name.kind === 'class')) {
    let count = 0;
    for (const match of text.matchAll(CALL)) {
      if (++count > MAX_NAMES) break;
      if (!NOT_A_NAME.has(match[1])) found.push({ kind: 'call', text: match[1], at: match.index });
    }
  }
  found.sort((a, b) => a.at - b.at);
  const seen = new Set<string>();
  const names: Name[] = [];
  for (const { kind, text: name } of found) {
    const key = `${kind} ${name}`;
    if (seen.has(key) || names.length >= MAX_NAMES) continue;
    seen.add(key);
    names.push({ kind, text: name, parts: identifierParts(name) });
  }
  return names;
}

/** Names in the parameter list that the header of a definition opens (in it, or right after it). */
function parametersAfter(text: string, end: number, header: string): string[] {
  const inside = header.indexOf('(');
  const start =
    inside >= 0 ? end - header.length + inside : /^\s*\(/.test(text.slice(end, end + 9)) ? text.indexOf('(', end) : -1;
  if (start < 0) return [];
  const close = text.indexOf(')', start);
  const list = text.slice(start + 1, close < 0 ? start + 300 : Math.min(close, start + 300));
  const names = [];
  for (const [name] of list.matchAll(PARAMETERS)) {
    if (name.length > 1 && !KEYWORDS.has(name) && names.length < 12) names.push(name);
  }
  return names;
}

function findIdentifiers(text: string): (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const [identifier] of text.matchAll(IDENTIFIER)) {
    if (identifier.length < 2 || KEYWORDS.has(identifier)) continue;
    counts.set(identifier, (counts.get(identifier) ?? 0) + 1);
  }
  // Stable: equal counts stay in order of appearance.
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_IDENTIFIERS);
}
