/**
 * Text to words. A word is a run of letters, digits and combining marks; an underscore, a hyphen or an apostrophe ends
 * one. Han and Hiragana have no spaces between words, so there each character is a word, as in Lucene's
 * StandardTokenizer. Compatibility forms are folded first (NFKC), because text out of PDFs is full of ligatures.
 */
const ASCII_WORD = /[A-Za-z0-9]+/g;
const WORD = /[\p{sc=Han}\p{sc=Hiragana}]|(?:(?![\p{sc=Han}\p{sc=Hiragana}])[\p{L}\p{N}\p{M}])+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly ASCII
const NOT_ASCII = /[^\x00-\x7f]/;
const SOFT_HYPHEN = /\u00ad/g;

/** A run longer than this is cut into pieces (Lucene's limit): base64 on one line must not become one 2 MB term. */
export const MAX_WORD = 255;

/** Words in the case they were written in, in order. */
export function words(text: string): string[] {
  const found = NOT_ASCII.test(text)
    ? text.replace(SOFT_HYPHEN, '').normalize('NFKC').match(WORD)
    : text.match(ASCII_WORD);
  if (found === null) return [];
  for (let i = 0; i < found.length; i++) if (found[i].length > MAX_WORD) return cutLongWords(found);
  return found;
}

/** Lower-cased words: the `standard` tokens. */
export function tokenize(text: string): string[] {
  // After folding, not before: lower-casing can lengthen a word ('İ'), and only ASCII keeps the fast path.
  const found = words(text);
  for (let i = 0; i < found.length; i++) found[i] = found[i].toLowerCase();
  return found;
}

/** Words beyond MAX_WORD in pieces. */
export function cutLongWords(found: readonly string[]): string[] {
  const out: string[] = [];
  for (const word of found) {
    let start = 0;
    while (word.length - start > MAX_WORD) {
      let end = start + MAX_WORD;
      // Never between the halves of a surrogate pair.
      if (isHighSurrogate(word.charCodeAt(end - 1))) end--;
      out.push(word.slice(start, end));
      start = end;
    }
    out.push(word.slice(start));
  }
  return out;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
