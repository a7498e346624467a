/**
 * Intl.Segmenter over texts of any length. V8 takes time that grows with the square of the text, so a window moves over it: the
 * segments at its end, which what follows might change, are found again at the beginning of the next one.
 */
const WINDOW = 512;
/** Segments at the end of a window that are not believed yet. */
const UNSURE = 2;

export interface Segment {
  readonly text: string;
  /** Offset of its beginning. */
  readonly start: number;
  readonly end: number;
  /** Of words: has letters, digits or ideographs. */
  readonly isWord: boolean;
}

/** All segments in order; together they are the text. */
export function* segmentsOf(text: string, segmenter: Intl.Segmenter): Generator<Segment> {
  let size = WINDOW;
  for (let start = 0; start < text.length; ) {
    const end = Math.min(text.length, wholeAt(text, start + size));
    const found = [...segmenter.segment(text.slice(start, end))];
    if (end < text.length) {
      if (found.length <= UNSURE) {
        size *= 2;
        continue;
      }
      found.length -= UNSURE;
    }
    const offset = start;
    for (const { segment, index, isWordLike } of found) {
      start = offset + index + segment.length;
      yield { text: segment, start: offset + index, end: start, isWord: isWordLike === true };
    }
    size = WINDOW;
  }
}

/** Never between the halves of a surrogate pair. */
function wholeAt(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? at + 1 : at;
}

const WORDS = new Intl.Segmenter('und', { granularity: 'word' });
const SENTENCES = new Intl.Segmenter('und', { granularity: 'sentence' });
/** A word of ASCII with nothing but ordinary punctuation around it: there is nothing to segment. */
const PLAIN = /^["'([{<*]*([A-Za-z0-9]+)["')\]}>*,;:!?.]*$/;

/** Segments of a text as UAX 29 has words: words and what is between them. */
export const wordSegments = (text: string): Generator<Segment> => segmentsOf(text, WORDS);

/** The words of a text by UAX 29 (Han, Kana, Thai and others by dictionary), in order. */
export function segmentedWords(text: string): string[] {
  const found: string[] = [];
  // White space is never inside a word, so the pieces between it can be looked at alone.
  for (const piece of text.match(/\S+/gu) ?? []) {
    const plain = PLAIN.exec(piece);
    if (plain !== null) found.push(plain[1]);
    else for (const { text: word, isWord } of wordSegments(piece)) if (isWord) found.push(word);
  }
  return found;
}

/** Ends of the sentences of a text, by UAX 29. A line break always ends one. */
export function sentenceEnds(text: string): number[] {
  const ends: number[] = [];
  for (const { 0: line, index } of text.matchAll(/[^\n]*\n|[^\n]+/g))
    for (const { end } of segmentsOf(line, SENTENCES)) ends.push(index + end);
  return ends;
}
