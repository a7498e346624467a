/**
 * Analyzers: text to index terms. The analyzer is the largest lever of a lexical retriever on code (mbpp nDCG@5 .27
 * with `standard`, .44 with `english`, .45 with `code`; commands in docs/log.md), so it is always an explicit setting.
 *
 * - `standard`: lower-cased words.
 * - `english`:  possessives dropped, Lucene's stop words dropped, Porter stems. Lucene's EnglishAnalyzer, near enough to
 *               reproduce its published BM25 numbers.
 * - `code`:     `english`, with identifiers split into their words; the whole identifier stays as a term of its own, so
 *               that a query which names it exactly still finds it.
 * - `unicode`:  words as Unicode has them (UAX 29; Han, Kana, Thai by the dictionaries of `Intl.Segmenter`), cases folded.
 * - `cjk`:      runs of Han, Kana and Hangul as overlapping pairs of characters, everything else as `unicode`.
 * - `snowball:LANGUAGE`: `unicode`, each word stemmed by the Snowball stemmer of the language. No stop words: idf does that.
 */
import { stemmer } from 'stemmer';
import { splitIdentifier } from './identifiers.ts';
import { segmentedWords } from './segments.ts';
import { SNOWBALL_LANGUAGES, type SnowballLanguage, snowballStemmer } from './snowball.ts';
import { ENGLISH_STOP_WORDS } from './stopwords.ts';
import { cutLongWords, MAX_WORD, tokenize } from './tokenize.ts';

export type AnalyzerName = 'standard' | 'english' | 'code' | 'unicode' | 'cjk' | `snowball:${SnowballLanguage}`;

export interface Analyzer {
  /** Travels with every index: two indexes are comparable only under the same analyzer. */
  readonly id: AnalyzerName;
  /** Terms in order of appearance, duplicates kept. Pure: same text, same terms. */
  analyze(text: string): string[];
  /**
   * How analyze takes ASCII text apart: into the longest runs of these characters, each of which gives the same terms
   * wherever it stands. Indexing a large corpus remembers runs by this instead of analyzing each of them again.
   */
  readonly ascii: AsciiRuns;
}

export interface AsciiRuns {
  /** inRun[code] = 1 when the character belongs to a run; 128 entries. */
  readonly inRun: Uint8Array;
  /** "'s" after a letter or digit and not before one is left out. */
  readonly dropsPossessives: boolean;
}

export const ANALYZERS: readonly AnalyzerName[] = [
  'standard',
  'english',
  'code',
  'unicode',
  'cjk',
  ...SNOWBALL_LANGUAGES.map((language) => `snowball:${language}` as const),
];

/** One analyzer serves many texts: it remembers the stems it has seen. */
export function createAnalyzer(name: AnalyzerName): Analyzer {
  switch (name) {
    case 'standard':
      return { id: name, analyze: tokenize, ascii: { inRun: asciiSet(/[A-Za-z0-9]/), dropsPossessives: false } };
    case 'english': {
      const stem = createStemmer(stemmer);
      return {
        id: name,
        analyze: (text) => stemmedWords(tokenize(dropPossessives(text)), stem),
        ascii: { inRun: asciiSet(/[A-Za-z0-9]/), dropsPossessives: true },
      };
    }
    case 'code': {
      const stem = createStemmer(stemmer);
      return {
        id: name,
        analyze: (text) => codeTerms(text, stem),
        ascii: { inRun: asciiSet(/[A-Za-z0-9_$]/), dropsPossessives: true },
      };
    }
    case 'unicode':
      return { id: name, analyze: (text) => unicodeTerms(text, foldCase), ascii: SPACED };
    case 'cjk':
      return { id: name, analyze: cjkTerms, ascii: SPACED };
    default: {
      const language = name.slice('snowball:'.length) as SnowballLanguage;
      name satisfies `snowball:${SnowballLanguage}`;
      if (!SNOWBALL_LANGUAGES.includes(language)) throw new Error(`unknown analyzer ${name}`);
      const stem = createStemmer(snowballStemmer(language));
      // The one language where an I is no i.
      const fold = language === 'turkish' ? (word: string) => word.toLocaleLowerCase('tr') : foldCase;
      return { id: name, analyze: (text) => unicodeTerms(text, fold).map(stem), ascii: SPACED };
    }
  }
}

/** White space always ends a word of UAX 29, nothing else does for sure. */
const SPACED: AsciiRuns = { inRun: asciiSet(/[!-~]/), dropsPossessives: false };
const HIDDEN_HYPHEN = /\u00ad/g;
const normalized = (text: string): string => text.replace(HIDDEN_HYPHEN, '').normalize('NFKC');

/** Upper case first, so that ß is ss and both forms of a Greek sigma are one. */
const foldCase = (word: string): string => word.toUpperCase().toLowerCase();

function unicodeTerms(text: string, fold: (word: string) => string): string[] {
  return cutLongWords(segmentedWords(normalized(text)).map(fold));
}

/** Also the mark that lengthens a vowel of Katakana, which belongs to no script. */
const CJK_RUN = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u30fc]+/gu;

/** As Lucene's CJK analyzer: a run of n characters is n - 1 pairs, a lone character itself. */
function cjkTerms(text: string): string[] {
  const plain = normalized(text);
  const terms: string[] = [];
  let at = 0;
  const others = (end: number): void => {
    if (end > at) terms.push(...cutLongWords(segmentedWords(plain.slice(at, end)).map(foldCase)));
  };
  for (const { 0: run, index } of plain.matchAll(CJK_RUN)) {
    others(index);
    const characters = [...run];
    if (characters.length === 1) terms.push(run);
    for (let i = 1; i < characters.length; i++) terms.push(characters[i - 1] + characters[i]);
    at = index + run.length;
  }
  others(plain.length);
  return terms;
}

/** Porter stems of what is no stop word, in place. */
function stemmedWords(words: string[], stem: (word: string) => string): string[] {
  let kept = 0;
  for (const word of words) if (!ENGLISH_STOP_WORDS.has(word)) words[kept++] = stem(word);
  words.length = kept;
  return words;
}

const IDENTIFIER = /[\p{L}\p{N}\p{M}_$]+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly ASCII
const NOT_ASCII = /[^\x00-\x7f]/;
const ASCII_IDENTIFIER = /[A-Za-z0-9_$]+/g;

function codeTerms(text: string, stem: (word: string) => string): string[] {
  const plain = dropPossessives(text);
  const terms: string[] = [];
  for (const identifier of plain.match(NOT_ASCII.test(plain) ? IDENTIFIER : ASCII_IDENTIFIER) ?? []) {
    const parts = splitIdentifier(identifier);
    for (const part of parts) {
      for (const word of stemmedWords(tokenize(part), stem)) terms.push(word);
    }
    if (parts.length > 1 && identifier.length <= MAX_WORD) terms.push(identifier.normalize('NFKC').toLowerCase());
  }
  return terms;
}

/** One entry per ASCII character: does the pattern match it? */
function asciiSet(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

const POSSESSIVE = /(?<=[\p{L}\p{N}])['’][sS](?![\p{L}\p{N}])/gu;

/** A space stays in their place, so that what stood on both sides does not grow together. */
function dropPossessives(text: string): string {
  return text.includes("'") || text.includes('’') ? text.replace(POSSESSIVE, ' ') : text;
}

/** Enough for the vocabulary of a large collection; beyond it the memory starts afresh, which costs time only. */
const REMEMBERED_STEMS = 1 << 18;

function createStemmer(stemOf: (word: string) => string): (word: string) => string {
  const stems = new Map<string, string>();
  return (word) => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    if (stems.size >= REMEMBERED_STEMS) stems.clear();
    const stem = word.length > 64 ? word : stemOf(word);
    stems.set(word, stem);
    return stem;
  };
}
