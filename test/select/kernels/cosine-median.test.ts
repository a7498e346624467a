import { describe, expect, it } from 'vitest';
import { medianCosine, medianCosineInSteps, medianOf } from '../../../select/kernels/cosine-median.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import type { Matrix } from '../../../src/types.ts';
import { oracleMedian } from '../../support/dense-gp.ts';
import { exampleVectors, randomVectors } from '../../support/pools.ts';

function matrixOf(vectors: readonly (readonly number[])[]): Matrix {
  return { rows: vectors.length, columns: vectors[0]?.length ?? 1, data: Float64Array.from(vectors.flat()) };
}

describe('medianOf', () => {
  it('is the middle, or the mean of the two middle values', () => {
    const rng = createRng(3);
    for (let round = 0; round < 300; round++) {
      const values = Float64Array.from({ length: 1 + rng.int(40) }, () =>
        round % 2 === 0 ? rng.int(5) : rng.normal(),
      );
      const sorted = [...values].sort((a, b) => a - b);
      const half = sorted.length / 2;
      const expected = sorted.length % 2 === 1 ? sorted[Math.floor(half)] : (sorted[half - 1] + sorted[half]) / 2;
      expect(medianOf(values)).toBe(expected);
    }
  });
});

describe('medianCosine', () => {
  it('has the published value on the worked example', () => {
    expect(medianCosine(matrixOf(exampleVectors()))).toBeCloseTo(0.766044443118978, 14);
  });

  it('equals the sorted list of all pairs', () => {
    const rng = createRng(8);
    for (const count of [2, 3, 7, 8, 9, 16, 33, 70]) {
      const vectors = randomVectors(rng, count, 5, 'clusters');
      expect(medianCosine(matrixOf(vectors))).toBeCloseTo(oracleMedian(vectors), 14);
    }
  });

  it('is NaN without a pair', () => {
    expect(medianCosine(matrixOf([[1, 0]]))).toBeNaN();
    expect(medianCosine({ rows: 0, columns: 3, data: new Float64Array(0) })).toBeNaN();
  });

  it('samples close to the exact value beyond the limit, the same for the same seed', () => {
    const vectors = randomVectors(createRng(4), 1500, 6, 'clusters');
    const matrix = matrixOf(vectors);
    const exact = medianCosine(matrix);
    const sampled = medianCosine(matrix, { exactLimit: 100, pairs: 200_000, seed: 1 });
    expect(Math.abs(sampled - exact)).toBeLessThan(0.01);
    expect(medianCosine(matrix, { exactLimit: 100, pairs: 200_000, seed: 1 })).toBe(sampled);
    expect(medianCosine(matrix, { exactLimit: 100, pairs: 200_000, seed: 2 })).not.toBe(sampled);
  });

  it('never pairs a document with itself, whatever the number of rows', () => {
    // Orthogonal rows: the only cosines are 0, and 1 for a row with itself.
    for (const count of [101, 104, 119]) {
      const data = new Float64Array(count * count);
      for (let i = 0; i < count; i++) data[i * count + i] = 1;
      const matrix = { rows: count, columns: count, data };
      const steps = medianCosineInSteps(matrix, { exactLimit: 100, pairs: 800 });
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      expect(step.value).toBe(0);
    }
  });

  it('hands control back while it works', () => {
    const matrix = matrixOf(randomVectors(createRng(4), 700, 3, 'gaussian'));
    let turns = 0;
    const steps = medianCosineInSteps(matrix);
    while (steps.next().done !== true) turns++;
    expect(turns).toBeGreaterThan(20);
  });
});
