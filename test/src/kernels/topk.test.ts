import { describe, expect, it } from 'vitest';
import { compareRanked } from '../../../src/kernels/compare.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { idPlaces, topPositions } from '../../../src/kernels/topk.ts';

describe('topPositions', () => {
  it('equals a full sort by (score desc, id asc) on random scores with many ties', () => {
    const rng = createRng(1);
    for (let round = 0; round < 300; round++) {
      const n = rng.int(40);
      const ids = Array.from({ length: n }, (_, i) => `${rng.int(5)}-${i}`);
      const scores = Float64Array.from({ length: n }, () => (rng.next() < 0.1 ? -Infinity : rng.int(4) - 1));
      const k = rng.int(12);
      const expected = ids
        .map((_, i) => i)
        .filter((i) => scores[i] !== -Infinity)
        .sort((a, b) => compareRanked(scores[a], ids[a], scores[b], ids[b]))
        .slice(0, k);
      expect([...topPositions(scores, n, k, idPlaces(ids))]).toEqual(expected);
    }
  });

  it('looks only at the first `count` scores', () => {
    expect([...topPositions(Float64Array.of(1, 2, 9), 2, 5, Int32Array.of(0, 1, 2))]).toEqual([1, 0]);
  });
});
