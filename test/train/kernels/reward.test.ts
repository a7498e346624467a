import { describe, expect, it } from 'vitest';
import { compareRanked } from '../../../src/kernels/compare.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { idealDcg } from '../../../src/metrics/ndcg.ts';
import type { Ranking } from '../../../src/types.ts';
import {
  depthFor,
  type Judged,
  ndcgOf,
  placeAmongTies,
  rankingReward,
  rankWithin,
  similarityReward,
  sinkEmpty,
  tieRunsOverCut,
} from '../../../train/kernels/reward.ts';

const judge = (grades: Record<string, number>, k: number): Judged => ({
  grades: new Map(Object.entries(grades)),
  ideal: idealDcg(Object.values(grades), k),
});

function rank(scores: Record<string, number>, depth: number): Ranking {
  const rows = Object.entries(scores).sort((a, b) => compareRanked(a[1], a[0], b[1], b[0]));
  const cut = rows.slice(0, depth);
  return { ids: cut.map(([id]) => id), scores: Float64Array.from(cut, ([, score]) => score) };
}

describe('golden reward', () => {
  // Two queries, three documents; document d0 is swapped; q0 is its positive query, q1 (relevant: d1) its negative one.
  const similarities = [
    { d0: 0.5, d1: 0.6, d2: 0.55 },
    { d0: 0.4, d1: 0.7, d2: 0.65 },
  ];
  const judged = [judge({ d0: 1 }, 5), judge({ d1: 1 }, 5)];
  const ndcg = (query: number, score: number) =>
    ndcgOf(rank({ ...similarities[query], d0: score }, 5).ids, judged[query], 5);

  it('has the base of the worked example', () => {
    expect(ndcg(0, 0.5)).toBeCloseTo(0.5, 12);
    expect(ndcg(1, 0.4)).toBe(1);
  });

  it.each([
    { candidate: [0.58, 0.66], after: [0.6309297536, 1] },
    { candidate: [0.62, 0.72], after: [1, 0.6309297536] },
  ])('candidate $candidate earns .1309297536', ({ candidate, after }) => {
    const now = [ndcg(0, candidate[0]), ndcg(1, candidate[1])];
    expect(Math.abs(now[0] - after[0])).toBeLessThan(1e-8);
    expect(Math.abs(now[1] - after[1])).toBeLessThan(1e-8);
    expect(Math.abs(rankingReward([now[0] - 0.5], [now[1] - 1]) - 0.1309297536)).toBeLessThan(1e-8);
  });
});

describe('ndcgOf', () => {
  it('takes the ideal from all judgements and counts only the first k', () => {
    const judged = judge({ a: 3, b: 2, c: 1, n: -1 }, 2);
    expect(ndcgOf(['b', 'x', 'a'], judged, 2)).toBeCloseTo(2 / (3 + 2 / Math.log2(3)), 12);
    expect(ndcgOf(['n'], judged, 2)).toBe(0);
    expect(ndcgOf([], judged, 2)).toBe(0);
  });

  it('is 0 for a query without relevant documents', () => {
    expect(ndcgOf(['a'], judge({ a: 0 }, 5), 5)).toBe(0);
  });
});

describe('rankWithin', () => {
  it('is 1-based and null below the cut', () => {
    expect(rankWithin(['a', 'b', 'c'], 'b', 2)).toBe(2);
    expect(rankWithin(['a', 'b', 'c'], 'c', 2)).toBeNull();
    expect(rankWithin(['a', 'b', 'c'], 'z', 3)).toBeNull();
  });
});

describe('pessimistic ties', () => {
  const ranking = rank({ a: 2, b: 1, c: 1, d: 1, e: 0.5 }, 5);

  it('puts the swapped document last among its equals when it is relevant, first when it is not', () => {
    expect(placeAmongTies(ranking, 'b', false)).toEqual(['a', 'c', 'd', 'b', 'e']);
    expect(placeAmongTies(ranking, 'd', true)).toEqual(['a', 'd', 'b', 'c', 'e']);
    expect(placeAmongTies(ranking, 'a', false)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(placeAmongTies(ranking, 'z', true)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('never pays for copying a competitor', () => {
    const judged = judge({ z: 1 }, 2);
    // z copies a, the best document: equal scores, and by id z would come second.
    const copied = rank({ a: 2, b: 1, z: 2 }, depthFor('pessimistic', 2));
    expect(ndcgOf(placeAmongTies(copied, 'z', false), judged, 2)).toBeCloseTo(1 / Math.log2(3), 12);
    const competitor = judge({ b: 1 }, 2);
    const pushed = rank({ b: 2, z: 2 }, 3);
    expect(ndcgOf(placeAmongTies(pushed, 'z', true), competitor, 2)).toBeCloseTo(1 / Math.log2(3), 12);
  });

  it('agrees with placing in the whole ranking wherever the cut says that it can', () => {
    const rng = createRng(3);
    let unresolved = 0;
    let resolved = 0;
    for (let trial = 0; trial < 3000; trial++) {
      const size = 3 + rng.int(7);
      const scores: Record<string, number> = {};
      for (let d = 0; d < size; d++) scores[`d${d}`] = rng.int(4);
      const id = `d${rng.int(size)}`;
      const k = 1 + rng.int(3);
      const depth = depthFor('pessimistic', k);
      const wins = rng.int(2) === 0;
      const cut = rank(scores, depth);
      if (wins && !cut.ids.includes(id) && tieRunsOverCut(cut, k, depth)) {
        unresolved++;
        continue;
      }
      resolved++;
      const whole = placeAmongTies(rank(scores, size), id, wins).slice(0, k);
      expect(placeAmongTies(cut, id, wins).slice(0, k)).toEqual(whole);
    }
    expect(resolved).toBeGreaterThan(1000);
    expect(unresolved).toBeGreaterThan(50);
  });
});

describe('combining', () => {
  it('counts the mean of nothing as 0', () => {
    expect(rankingReward([], [-0.5])).toBe(-0.5);
    expect(rankingReward([0.25, 0.75], [])).toBe(0.5);
  });

  it('stays within [-2, 2]', () => {
    expect(rankingReward([1, 1], [1])).toBe(2);
    expect(rankingReward([-1], [-1, -1])).toBe(-2);
  });

  it('measures similarity gains in units of the spread', () => {
    expect(similarityReward([3], [1, 0], 2)).toBe((3 - 0.5) / 2);
    expect(similarityReward([3], [], 0)).toBe(3);
  });
});

describe('an empty rewrite', () => {
  const sunk = (rewards: number[], texts: string[], original: string): number[] => {
    const values = Float64Array.from(rewards);
    sinkEmpty(values, texts, original);
    return [...values];
  };

  it('earns the worst there is, and never more than another of its group', () => {
    expect(sunk([1.5, 0.2, -0.3], ['', 'b', 'c'], 'a')).toEqual([-2, 0.2, -0.3]);
    // Similarities have no lower bound.
    expect(sunk([9, -7, 1], [' \n', 'b', 'c'], 'a')).toEqual([-7, -7, 1]);
    expect(sunk([1, 2], ['', ' '], 'a')).toEqual([-2, -2]);
  });

  it('of a document that is empty itself is no change', () => {
    expect(sunk([0, 0.4], ['', 'b'], ' ')).toEqual([0, 0.4]);
  });
});
