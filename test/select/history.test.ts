import { describe, expect, it } from 'vitest';
import { LEAST_FOR_NOISE, type LoggedQuery, learnNoise, learnWeights } from '../../select/history.ts';
import { nonNegativeLeastSquares } from '../../select/kernels/non-negative-least-squares.ts';
import { fuseRanks, logRankFeature } from '../../select/kernels/ranks.ts';
import { createMorphHybrid } from '../../select/selectors/hybrid.ts';
import { createRng, shuffle } from '../../src/kernels/rng.ts';
import { poolOf, randomVectors, unit, withWords } from '../support/pools.ts';

/** Projected gradient, long enough: slow and sure. */
function slow(columns: readonly Float64Array[], y: Float64Array): number[] {
  const centre = (v: Float64Array): number[] => {
    const mean = v.reduce((a, b) => a + b, 0) / v.length;
    return Array.from(v, (x) => x - mean);
  };
  const x = columns.map(centre);
  const target = centre(y);
  const w = columns.map(() => 0);
  const rate = 0.5 / x.reduce((sum, column) => sum + column.reduce((a, b) => a + b * b, 0), 0);
  for (let step = 0; step < 60_000; step++) {
    const rest = target.map((value, r) => value - x.reduce((sum, column, i) => sum + w[i] * column[r], 0));
    x.forEach((column, i) => {
      w[i] = Math.max(0, w[i] + 2 * rate * column.reduce((sum, value, r) => sum + value * rest[r], 0));
    });
  }
  return w;
}

describe('non-negative least squares', () => {
  it('agrees with projected gradient', () => {
    const rng = createRng(4);
    for (let round = 0; round < 8; round++) {
      const columns = [0, 1, 2].map(() => Float64Array.from({ length: 12 }, () => rng.normal()));
      const truth = [rng.normal(), rng.normal(), rng.normal()];
      const y = Float64Array.from(
        { length: 12 },
        (_, r) => 3 + columns.reduce((s, c, i) => s + truth[i] * c[r], 0) + 0.3 * rng.normal(),
      );
      const expected = slow(columns, y);
      nonNegativeLeastSquares(columns, y).forEach((w, i) => {
        expect(w).toBeCloseTo(expected[i], 6);
      });
    }
  });

  it('shares what equal columns explain, and finds nothing in noise that falls', () => {
    const column = Float64Array.of(0, 1, 2, 3);
    const w = nonNegativeLeastSquares([column, column], Float64Array.of(0, 2, 4, 6));
    expect(w[0] + w[1]).toBeCloseTo(2, 6);
    expect(Math.min(...w)).toBeGreaterThanOrEqual(0);
    expect([...nonNegativeLeastSquares([column], Float64Array.of(6, 4, 2, 0))]).toEqual([0]);
  });
});

function logged(seed: number, trust: number): LoggedQuery {
  const rng = createRng(seed);
  const size = 40;
  const pool = withWords(poolOf(randomVectors(rng, size, 6, 'clusters'), unit([1, 1, 0, 0, 0, 0])));
  const lexicalRanks = Int32Array.from(shuffle([...Array(size).keys()], rng));
  const dense = Int32Array.from({ length: size }, (_, d) => d);
  const g = logRankFeature(fuseRanks([lexicalRanks, dense], size));
  const relevant = Array.from(g, (value) => (value + 0.15 * rng.normal() > 0.4 ? 1 : 0));
  const scores = Float64Array.from(relevant, (label) => trust * label * 0.6 + 0.2 + (1 - trust) * 0.6 * rng.next());
  return { pool: { ...pool, lexicalRanks }, scores, relevant };
}

describe('weights from a history', () => {
  const scored = (seed: number): LoggedQuery => {
    const query = logged(seed, 1);
    const g = logRankFeature(query.pool.lexicalRanks!);
    // What the reranker says follows the words alone.
    return { ...query, scores: g.map((value, d) => (d % 3 === 0 ? Number.NaN : 0.1 + 0.7 * value)) };
  };
  it('finds whom the scores follow', () => {
    const { weights, notes } = learnWeights(Array.from({ length: 8 }, (_, i) => scored(i)));
    expect(weights![0]).toBeGreaterThan(0.99);
    expect(weights!.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
    expect(notes).toEqual(['weights: 1.00, 0.00, 0.00 (BM25, dense, fused) from 8 logged queries']);
    const { order } = createMorphHybrid({ learned: { weights } })
      .begin(scored(20).pool, { budget: 0, capacity: 3 })
      .result();
    expect(scored(20).pool.lexicalRanks![order[0].position]).toBe(0);
  });
  it('keeps the standard ones with fewer than eight queries', () => {
    const { weights, notes } = learnWeights(Array.from({ length: 7 }, (_, i) => scored(i)));
    expect(weights).toBeUndefined();
    expect(notes[0]).toMatch(/7 logged queries are fewer than 8/);
  });
});

describe('noise: auto', () => {
  const limits = { budget: 20, capacity: 10 };
  it('falls back to the default with too few labelled queries', () => {
    const few = Array.from({ length: LEAST_FOR_NOISE - 1 }, (_, i) => logged(i, 0.1));
    expect(learnNoise(few, limits)).toEqual({
      notes: ['noise: auto took 0.1, 19 labelled queries are fewer than 20'],
    });
    const unlabelled = Array.from({ length: 30 }, (_, i) => ({ ...logged(i, 0.1), relevant: undefined }));
    expect(learnNoise(unlabelled, limits).noise).toBeUndefined();
  });
  it('doubts a reranker that knows little, and believes one that knows', () => {
    const doubted = learnNoise(
      Array.from({ length: 40 }, (_, i) => logged(i, 0.02)),
      limits,
    );
    expect(doubted.noise).toBeGreaterThan(0.1);
    const believed = learnNoise(
      Array.from({ length: 40 }, (_, i) => logged(i, 1)),
      limits,
    );
    expect(believed.noise).toBeLessThanOrEqual(1);
    expect(believed.notes[0]).toMatch(/noise: auto took .* from 40 labelled queries/);
  });
});
