import { describe, expect, it } from 'vitest';
import { createRng, shuffle } from '../../../src/kernels/rng.ts';
import { agreementOf, overlapAt, parseAgreement, rankBiasedOverlap } from '../../../src/metrics/agreement.ts';

const ids = (text: string): string[] => [...text];
const common = (a: readonly string[], b: readonly string[]): number => a.filter((id) => b.includes(id)).length;

/**
 * Straight from the definition: the weighted sum over depths 1, 2, ... far beyond the ends, with the agreement that the paper
 * assumes where a ranking is not seen, and every intersection counted anew.
 */
function slowRbo(a: readonly string[], b: readonly string[], p: number): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const [s, l] = [short.length, long.length];
  const atShort = common(short, long.slice(0, s)) / s;
  const agreement = (d: number): number => {
    const seen = Math.min(d, l);
    const both = common(long.slice(0, seen), short.slice(0, seen));
    return (both + atShort * Math.max(0, seen - s)) / seen;
  };
  let sum = 0;
  for (let d = 1; d <= 4000; d++) sum += p ** (d - 1) * (d <= l ? agreement(d) : agreement(l));
  return (1 - p) * sum;
}

describe('rank-biased overlap', () => {
  it('is the definition, on random rankings of any lengths', () => {
    const rng = createRng(5);
    for (let trial = 0; trial < 150; trial++) {
      const pool = Array.from({ length: 12 + rng.int(20) }, (_, i) => `d${i}`);
      const [a, b] = [shuffle([...pool], rng), shuffle([...pool], rng)].map((list) =>
        list.slice(0, 1 + rng.int(list.length)),
      );
      const p = 0.3 + 0.65 * rng.next();
      expect(rankBiasedOverlap(a, b, p)).toBeCloseTo(slowRbo(a, b, p), 10);
      expect(rankBiasedOverlap(b, a, p)).toBe(rankBiasedOverlap(a, b, p));
    }
  });

  it('is 1 for equal rankings, 0 for disjoint ones, and looks at the top first', () => {
    for (const length of [1, 3, 100]) {
      const list = Array.from({ length }, (_, i) => `d${i}`);
      expect(rankBiasedOverlap(list, list, 0.9)).toBeCloseTo(1, 12);
      expect(
        rankBiasedOverlap(
          list,
          list.map((id) => `x${id}`),
          0.9,
        ),
      ).toBe(0);
    }
    expect(rankBiasedOverlap([], ids('ab'), 0.9)).toBe(0);
    expect(rankBiasedOverlap([], [], 0.9)).toBeUndefined();
    const [top, bottom] = [ids('bacdefgh'), ids('abcdefhg')];
    expect(rankBiasedOverlap(ids('abcdefgh'), top, 0.9)!).toBeLessThan(
      rankBiasedOverlap(ids('abcdefgh'), bottom, 0.9)!,
    );
  });

  it('a hand case: abc against bac at p = .5', () => {
    // Agreements 0, 1, 1 and 1 beyond: .5 (0 + .5 + .25) + .125 = .5.
    expect(rankBiasedOverlap(ids('abc'), ids('bac'), 0.5)).toBeCloseTo(0.5, 12);
    // A prefix goes on as it agrees: fully.
    expect(rankBiasedOverlap(ids('ab'), ids('abcd'), 0.5)).toBeCloseTo(1, 12);
  });
});

it('overlap is over what the longer one has there', () => {
  expect(overlapAt(ids('abcd'), ids('dcxy'), 4)).toBe(0.5);
  expect(overlapAt(ids('abcd'), ids('dcxy'), 2)).toBe(0);
  expect(overlapAt(ids('abc'), ids('cab'), 10)).toBe(1);
  expect(overlapAt(ids('a'), ids('abcd'), 10)).toBe(0.25);
  expect(overlapAt([], ids('a'), 10)).toBe(0);
  expect(overlapAt([], [], 10)).toBeUndefined();
});

it('measures by name; others are refused with what there is', () => {
  expect(['overlap@10', 'RBO', 'rbo(p=0.95)'].map((text) => parseAgreement(text).name)).toEqual([
    'overlap@10',
    'rbo(p=0.9)',
    'rbo(p=0.95)',
  ]);
  for (const text of ['overlap', 'overlap@0', 'rbo(p=1)', 'rbo(p=0)', 'rbo@10', 'kendall', ''])
    expect(() => parseAgreement(text)).toThrow(/no measure of agreement/);
});

it('means are over the queries that at least one answers', () => {
  const run = (rankings: Record<string, string>) =>
    new Map(
      Object.entries(rankings).map(([query, text]) => [
        query,
        { ids: ids(text), scores: Float64Array.from(text, (_, i) => -i) },
      ]),
    );
  const [overlap] = agreementOf(
    { name: 'ours', run: run({ q1: 'abc', q2: 'ab', q3: '' }) },
    { name: 'theirs', run: run({ q1: 'abc', q4: 'x' }) },
    ['q1', 'q2', 'q3'],
    [parseAgreement('overlap@3')],
  );
  expect(overlap).toEqual({
    a: 'ours',
    b: 'theirs',
    measure: 'overlap@3',
    mean: 0.5,
    queries: 2,
    perQuery: { q1: 1, q2: 0 },
  });
});
