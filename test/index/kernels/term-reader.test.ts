import { describe, expect, test } from 'vitest';
import { createPostingsBuilder } from '../../../index/kernels/build-postings.ts';
import { TermReader } from '../../../index/kernels/term-reader.ts';
import { createRng, type Rng } from '../../../src/kernels/rng.ts';
import { ANALYZERS, createAnalyzer } from '../../../src/text/mod.ts';

const PIECES = [
  ...['the', 'The', 'running', 'cats', 'HTTPServer', 'userIDs', 'user_id', '_', '$', '__init__', 'x2y', '42', 's', 'S'],
  ...["'s", "'S", "''s", "'", '’s', "'s's", "'t", '.', '-', ' ', '  ', '\n', '\t', '\u0000', '(', ')', '<', '"'],
];
const WIDE = ['é', 'É', 'ﬁ', '\u0301', '\u00ad', '東京', '\ud800', '\u{10400}', 'ß', '²', '’'];

function randomPieces(rng: Rng, wide: boolean): string {
  const pieces = wide ? [...PIECES, ...WIDE] : PIECES;
  return Array.from({ length: rng.int(25) }, () => pieces[rng.int(pieces.length)]).join(rng.next() < 0.3 ? ' ' : '');
}

describe('term reader', () => {
  for (const name of ANALYZERS) {
    test(`gives what the ${name} analyzer gives`, () => {
      const rng = createRng(21);
      const analyzer = createAnalyzer(name);
      const texts = Array.from({ length: 3000 }, (_, i) => randomPieces(rng, i % 3 === 0));
      const byString = createPostingsBuilder();
      const byRun = createPostingsBuilder();
      const reader = new TermReader(analyzer, byRun.numberOf);
      for (const text of texts) {
        byString.add(analyzer.analyze(text));
        byRun.addNumbers(reader.read(text));
      }
      const expected = byString.finish();
      const actual = byRun.finish();
      expect([...actual.vocabulary]).toEqual([...expected.vocabulary]);
      expect(actual).toEqual(expected);
    });
  }

  test('many different words, long ones, and words that collide', () => {
    const rng = createRng(22);
    const analyzer = createAnalyzer('standard');
    const word = () => Array.from({ length: 1 + rng.int(4) }, () => 'abcdefghij'[rng.int(10)]).join('');
    const texts = Array.from({ length: 400 }, () => Array.from({ length: 100 }, word).join(' '));
    texts.push(
      texts.join(' '),
      'x'.repeat(100_000),
      `${'y'.repeat(70)} ${'y'.repeat(70)} ${'z'.repeat(64)} ${'z'.repeat(64)}`,
    );
    const byString = createPostingsBuilder();
    const byRun = createPostingsBuilder();
    const reader = new TermReader(analyzer, byRun.numberOf);
    for (const text of texts) {
      byString.add(analyzer.analyze(text));
      byRun.addNumbers(reader.read(text));
    }
    expect(byRun.finish()).toEqual(byString.finish());
  });
});
