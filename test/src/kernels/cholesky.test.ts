import { describe, expect, it } from 'vitest';
import { choleskyFactor, choleskySolve } from '../../../src/kernels/cholesky.ts';
import { createRng } from '../../../src/kernels/rng.ts';

describe('cholesky', () => {
  it('L L^T = A and the solve inverts A', () => {
    const rng = createRng(1);
    for (const n of [1, 2, 5, 17]) {
      const x = Float64Array.from({ length: n * n }, () => rng.normal());
      const a = new Float64Array(n * n);
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          for (let p = 0; p < n; p++) a[i * n + j] += x[i * n + p] * x[j * n + p];
          if (i === j) a[i * n + j] += 0.1;
        }
      }
      const factor = a.slice();
      expect(choleskyFactor(factor, n)).toBe(true);
      for (let i = 0; i < n; i++) {
        for (let j = 0; j <= i; j++) {
          let product = 0;
          for (let p = 0; p <= j; p++) product += factor[i * n + p] * factor[j * n + p];
          expect(product).toBeCloseTo(a[i * n + j], 10);
        }
      }
      const truth = Float64Array.from({ length: n }, () => rng.normal());
      const b = new Float64Array(n);
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) b[i] += a[i * n + j] * truth[j];
      choleskySolve(factor, n, b);
      for (let i = 0; i < n; i++) expect(b[i]).toBeCloseTo(truth[i], 8);
    }
  });

  it('says when a matrix is not positive definite', () => {
    expect(choleskyFactor(Float64Array.of(1, 2, 2, 1), 2)).toBe(false);
    expect(choleskyFactor(Float64Array.of(Number.NaN), 1)).toBe(false);
  });
});
