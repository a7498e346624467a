/** BAGEL, RGS, GAR, AcuRank, BM25 and the fused order: identities and hand cases. */
import { describe, expect, it } from 'vitest';
import { createSelector, type SelectorSpec } from '../../../select/selectors/registry.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import type { SelectionLimits } from '../../../src/ports.ts';
import type { Pool, SelectedDocument } from '../../../src/types.ts';
import { oracleStep } from '../../support/dense-gp.ts';
import { poolOf, randomVectors, SHAPES, unit, withWords } from '../../support/pools.ts';

function play(spec: SelectorSpec, pool: Pool, limits: SelectionLimits, scores: ArrayLike<number | null>) {
  const run = createSelector(spec).begin(pool, limits);
  const batches: number[][] = [];
  for (let next = run.ask(); next.length > 0; next = run.ask()) {
    batches.push([...next]);
    for (const d of next) run.tell(d, scores[d]);
  }
  return { batches, asked: batches.flat(), order: run.result().order };
}

const positions = (order: readonly SelectedDocument[]): number[] => order.map(({ position }) => position);

function randomPool(
  seed: number,
  size: number,
): { pool: Pool; scores: number[]; vectors: number[][]; query: number[] } {
  const rng = createRng(seed);
  const vectors = randomVectors(rng, size, 5, SHAPES[seed % SHAPES.length]);
  const query = unit([1, 2, 3, 4, 5]);
  const scores = Array.from({ length: size }, () => rng.next());
  return { pool: withWords(poolOf(vectors, query)), scores, vectors, query };
}

describe('rgs', () => {
  it('with as many seeds as calls is single-stage, to the last bit', () => {
    for (let seed = 0; seed < 60; seed++) {
      const { pool, scores } = randomPool(seed, 3 + seed);
      const limits = { budget: 1 + (seed % 20), capacity: 5 };
      const one = play({ driver: 'rgs', seedDiv: 1 }, pool, limits, scores);
      const other = play({ driver: 'single-stage' }, pool, limits, scores);
      expect(one.asked).toEqual(other.asked);
      expect(one.order).toEqual(other.order);
    }
  });

  it('expands the best-scored document first', () => {
    // Two groups far apart; the first stage ranks group A first, B holds what is relevant.
    const a = Array.from({ length: 10 }, (_, i) => unit([1, 0.01 * i, 0]));
    const b = Array.from({ length: 10 }, (_, i) => unit([0, 0.01 * i, 1]));
    const pool = poolOf([...a.slice(0, 5), b[0], ...a.slice(5), ...b.slice(1)], unit([1, 0, 0]));
    const isB = (d: number): boolean => d === 5 || d > 10;
    const scores = Array.from({ length: 20 }, (_, d) => (isB(d) ? 0.9 : 0.1));
    const { batches, asked } = play({ driver: 'rgs', degree: 5 }, pool, { budget: 12, capacity: 5 }, scores);
    expect(batches[0]).toEqual([0, 1, 2, 3, 4, 5]);
    expect(asked.slice(6, 10).filter(isB).length).toBeGreaterThanOrEqual(3);
  });

  it('draws the same graph for the same seed, whatever else was asked of the pool', () => {
    const { pool, scores } = randomPool(0, 80);
    const limits = { budget: 30, capacity: 10 };
    const twin = { ...pool, embeddings: { ...pool.embeddings, data: pool.embeddings.data.slice() } };
    play({ driver: 'gar' }, pool, limits, scores);
    expect(play({ driver: 'rgs' }, pool, limits, scores)).toEqual(play({ driver: 'rgs' }, twin, limits, scores));
  });
});

describe('gar', () => {
  it('takes turns between the first stage and the neighbours of what was scored', () => {
    // Neighbours on a circle: d is next to d - 1 and d + 1.
    const vectors = Array.from({ length: 12 }, (_, d) => [Math.cos((d * Math.PI) / 6), Math.sin((d * Math.PI) / 6)]);
    const scores = [0.1, 0.9, 0.2, 0.3, 0.8, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.7];
    const { batches } = play(
      { driver: 'gar', neighbours: 2, batch: 2 },
      poolOf(vectors),
      { budget: 9, capacity: 3 },
      scores,
    );
    // First stage 0, 1; neighbours of 1 are 0 and 2, of 0 are 1 and 11: 2 is worth .9, 11 is worth .1.
    // Then 5 beside 4 (.8) and 10 beside 11 (.7).
    expect(batches).toEqual([[0, 1], [2, 11], [3, 4], [5, 10], [6]]);
  });
});

describe('acurank', () => {
  it('scores around the rank k, and never by the neighbours', () => {
    const { pool } = randomPool(0, 11);
    // Percentiles 1, .9, ..., 0: with k = 3 the threshold starts between .8 and .7.
    const { asked } = play({ driver: 'acurank' }, pool, { budget: 4, capacity: 3 }, new Array(11).fill(0.75));
    expect(new Set(asked.slice(0, 2))).toEqual(new Set([2, 3]));
    const { scores } = randomPool(1, 11);
    const other = { ...pool, embeddings: randomPool(3, 11).pool.embeddings };
    const limits = { budget: 6, capacity: 3 };
    expect(play({ driver: 'acurank' }, other, limits, scores)).toEqual(
      play({ driver: 'acurank' }, pool, limits, scores),
    );
  });

  it('stops once every membership is settled, when told to', () => {
    const { pool } = randomPool(0, 11);
    const scores = [1, 1, 1, ...new Array<number>(8).fill(0)];
    const spec = { driver: 'acurank', deviation: 0.05 } as const;
    const limits = { budget: 11, capacity: 3 };
    expect(play({ ...spec, tolerance: 0.01 }, pool, limits, scores).asked.length).toBeLessThan(8);
    expect(play(spec, pool, limits, scores).asked).toHaveLength(11);
  });
});

describe('bagel', () => {
  it('spends half on the first-stage top, then follows UCB on a process without a prior', () => {
    for (let seed = 0; seed < 12; seed++) {
      const { pool, scores, vectors, query } = randomPool(2 * (seed % 2), 20 + seed);
      const beta0 = [0, 0.5, 1, 2][seed % 4];
      const { batches, asked } = play({ driver: 'bagel', beta0 }, pool, { budget: 9, capacity: 4 }, scores);
      expect(batches[0]).toEqual([0, 1, 2, 3]);
      // Moving the scores by the percentile makes the oracle's process one without a prior.
      const n = vectors.length;
      const prior = (d: number): number => (n - 1 - d) / (n - 1);
      const moved = scores.map((score, d) => score + prior(d));
      for (let t = 0; t < 5; t++) {
        const seen = asked.slice(0, 4 + t);
        const input = { vectors, query, scores: moved, budget: 9, capacity: 4, queryResidual: 1 };
        const { posterior, sigma } = oracleStep(input, seen);
        const bound = (d: number): number => posterior[d] - prior(d) + (beta0 / Math.sqrt(t + 1)) * sigma[d];
        const open = vectors.map((_, d) => d).filter((d) => !seen.includes(d));
        const most = Math.max(...open.map(bound));
        expect(bound(asked[4 + t])).toBeGreaterThan(most - 1e-9);
      }
    }
  });
});

describe('the fused order', () => {
  it('is the selector on the pool reordered by reciprocal-rank fusion', () => {
    const { pool, scores } = randomPool(0, 15);
    const fusion = (d: number): number => 1 / (61 + pool.lexicalRanks![d]) + 1 / (61 + d);
    const byFusion = Array.from({ length: 15 }, (_, d) => d).sort((a, b) => fusion(b) - fusion(a) || a - b);
    const { asked, order } = play(
      { driver: 'single-stage', prior: 'fusion' },
      pool,
      { budget: 6, capacity: 3 },
      scores,
    );
    expect(asked).toEqual(byFusion.slice(0, 6));
    const expected = [...byFusion.slice(0, 6).sort((a, b) => scores[b] - scores[a]), ...byFusion.slice(6)];
    expect(positions(order)).toEqual(expected);
    expect(order.every(({ id, position }) => id === pool.ids[position])).toBe(true);
  });

  it('changes nothing where words and vectors agree', () => {
    const { pool, scores } = randomPool(1, 18);
    const agreed = { ...pool, lexicalRanks: Int32Array.from({ length: 18 }, (_, d) => d) };
    const limits = { budget: 7, capacity: 4 };
    for (const driver of ['boundary-morph', 'bagel', 'rgs', 'gar', 'acurank'] as const) {
      expect(play({ driver, prior: 'fusion' }, agreed, limits, scores)).toEqual(
        play({ driver }, agreed, limits, scores),
      );
    }
  });
});

describe('bm25-rerank', () => {
  it('is the lexical order, whatever the budget', () => {
    const { pool, scores } = randomPool(0, 9);
    const { asked, order } = play({ driver: 'bm25-rerank' }, pool, { budget: 5, capacity: 3 }, scores);
    expect(asked).toEqual([]);
    expect(positions(order).map((d) => pool.lexicalRanks![d])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('early stop', () => {
  it('ends when the border is clear, and only then', () => {
    const { pool, scores } = randomPool(0, 30);
    const limits = { budget: 30, capacity: 10 };
    const spec = { driver: 'morph-hybrid' } as const;
    const full = play(spec, pool, limits, scores).asked;
    expect(full).toHaveLength(30);
    const stopped = play({ ...spec, stopAt: 1 }, pool, limits, scores).asked;
    expect(stopped.length).toBeLessThan(30);
    expect(stopped).toEqual(full.slice(0, stopped.length));
    expect(play({ ...spec, stopAt: 1e300 }, pool, { budget: 12, capacity: 10 }, scores).asked).toEqual(
      full.slice(0, 12),
    );
  });
});
