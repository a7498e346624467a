/** Words of languages other than English: segments, folding, pairs of characters, stems. */
import { describe, expect, test } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import { type AnalyzerName, createAnalyzer, SNOWBALL_LANGUAGES, segmentedWords } from '../../../src/text/mod.ts';
import { segmentsOf, sentenceEnds } from '../../../src/text/segments.ts';

const terms = (name: AnalyzerName, text: string): string[] => createAnalyzer(name).analyze(text);
const plain = (text: string, granularity: 'word' | 'sentence') => [
  ...new Intl.Segmenter('und', { granularity }).segment(text),
];
const PIECES = [
  ...[
    'the',
    'Größe',
    "can't",
    '3.14',
    'foo_bar',
    'a.b.c',
    'e.g.',
    'Dr. no',
    'x',
    "'s",
    '"',
    '(',
    ')',
    '. ',
    '! ',
    ', ',
    ' ',
  ],
  ...[
    '日本語の文章',
    'です。',
    'カタカナー',
    '한국어',
    'الكتاب',
    'ไทยภาษา',
    '😀👍🏽',
    '\u0301',
    '\u00ad',
    '\r\n',
    '\n',
    '\t',
    '\u2028',
  ],
];
const randomText = (seed: number): string => {
  const rng = createRng(seed);
  return Array.from({ length: rng.int(40) }, () => PIECES[rng.int(PIECES.length)]).join('');
};

describe('segments', () => {
  test('words by pieces are those of the whole text', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const text = randomText(seed);
      const expected = plain(text, 'word').flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []));
      expect(segmentedWords(text), JSON.stringify(text)).toEqual(expected);
    }
  });

  test('sentences by lines are those of the whole text', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const text = randomText(seed);
      const expected = plain(text, 'sentence').map(({ index, segment }) => index + segment.length);
      expect(sentenceEnds(text), JSON.stringify(text)).toEqual(expected);
    }
  });

  test('a window that moves over a long text finds what the segmenter finds in it', () => {
    const text = 'This is one sentence, no? Dr. Who said so. (It was e.g. 3.14!) '.repeat(40);
    for (const granularity of ['word', 'sentence'] as const) {
      const segmenter = new Intl.Segmenter('und', { granularity });
      const found = [...segmentsOf(text, segmenter)];
      expect(found.map((segment) => segment.text)).toEqual(plain(text, granularity).map(({ segment }) => segment));
      expect(found.every(({ text: part, start, end }) => text.slice(start, end) === part)).toBe(true);
    }
  });

  test('time grows with the length, not with its square', () => {
    const started = performance.now();
    const text = `${'Größe,wörter;'.repeat(40_000)}${'日本語の文章'.repeat(20_000)}${'z'.repeat(300_000)}`;
    expect(segmentedWords(text).length).toBeGreaterThan(80_000);
    // The plain segmenter takes minutes for this.
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

describe('unicode', () => {
  test('folds forms and cases, keeps words whole', () => {
    expect(terms('unicode', 'Die STRASSE, die Straße; ﬁnden Ελλάς ΕΛΛΑΣ')).toEqual(
      'die strasse die strasse finden ελλάς ελλας'.split(' '),
    );
    expect(terms('unicode', "can't foo_bar 3.14")).toEqual(["can't", 'foo_bar', '3.14']);
    expect(terms('unicode', 'co\u00adoperate ＡＢＣ')).toEqual(['cooperate', 'abc']);
    expect(terms('unicode', 'x'.repeat(600)).map((term) => term.length)).toEqual([255, 255, 90]);
  });

  test('Japanese by its dictionary, Arabic by its spaces', () => {
    expect(terms('unicode', '東京都に住む')).toContain('住む');
    expect(terms('unicode', 'الكتاب على الطاولة')).toEqual(['الكتاب', 'على', 'الطاولة']);
  });
});

describe('cjk', () => {
  test('pairs within a run, lone characters, other scripts as words', () => {
    expect(terms('cjk', '東京都 GPUサーバー、猫 Größe')).toEqual([
      '東京',
      '京都',
      'gpu',
      'サー',
      'ーバ',
      'バー',
      '猫',
      'grösse',
    ]);
    expect(terms('cjk', '한국어')).toEqual(['한국', '국어']);
    expect(terms('cjk', '𠮷野家')).toEqual(['𠮷野', '野家']);
  });
});

describe('snowball', () => {
  test('German, Arabic, Russian, Turkish', () => {
    expect(terms('snowball:german', 'Häuser Hauses laufend')).toEqual(['haus', 'haus', 'laufend']);
    expect(terms('snowball:arabic', 'الكتاب كتاب')).toEqual(['كتاب', 'كتاب']);
    expect(terms('snowball:russian', 'книги книгами')).toEqual(['книг', 'книг']);
    const [upper, lower, other] = terms('snowball:turkish', 'ISPARTA ısparta isparta');
    expect(upper).toBe(lower);
    expect(upper).not.toBe(other);
  });

  test('every language stems without loss of a word, the same each time', () => {
    const text = `${randomText(7)} running Häuser naciones книгами الكتاب a`;
    for (const language of SNOWBALL_LANGUAGES) {
      const found = terms(`snowball:${language}`, text);
      expect(found.length).toBe(terms('unicode', text).length);
      expect(found).not.toContain('');
      expect(terms(`snowball:${language}`, text)).toEqual(found);
    }
  });
});
