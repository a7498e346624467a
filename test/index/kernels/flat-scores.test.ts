import { describe, expect, it } from 'vitest';
import { flatScores, pairScore } from '../../../index/kernels/flat-scores.ts';
import { simdBlock } from '../../../index/kernels/simd-scores.ts';
import { createRng } from '../../../src/kernels/rng.ts';

describe('flatScores', () => {
  it('are the bits of the plain sum from first to last, with SIMD and without, in any company', () => {
    expect(simdBlock(8)).toBeDefined();
    const rng = createRng(61);
    for (let round = 0; round < 150; round++) {
      const width = 1 + rng.int(round % 10 === 0 ? 400 : 24);
      const count = rng.int(round % 7 === 0 ? 200 : 20);
      const queryCount = rng.int(round % 5 === 0 ? 21 : 6);
      const rows = Float32Array.from({ length: count * width }, () => rng.normal() * 10 ** (rng.int(7) - 3));
      const queries = Float64Array.from({ length: queryCount * width }, () => rng.normal());
      for (const simd of [true, false]) {
        const out = new Float64Array(queryCount * count).fill(-7);
        flatScores(rows, count, queries, width, out, simd);
        for (let q = 0; q < queryCount; q++)
          for (let r = 0; r < count; r++)
            expect(out[q * count + r]).toBe(pairScore(rows, r * width, queries, q * width, width));
      }
    }
  });

  it('are 0 for vectors without elements', () => {
    const out = new Float64Array(3).fill(1);
    flatScores(new Float32Array(0), 3, new Float64Array(0), 0, out);
    expect(out).toEqual(new Float64Array(3));
  });
});
