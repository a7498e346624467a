import { describe, expect, it } from 'vitest';
import { eigenSymmetric } from '../../../src/kernels/eigen.ts';
import { createRng } from '../../../src/kernels/rng.ts';

describe('eigenSymmetric', () => {
  it('solves a case known by hand', () => {
    const { values, vectors } = eigenSymmetric(Float64Array.of(2, 1, 1, 2), 2);
    expect(values[0]).toBeCloseTo(3, 14);
    expect(values[1]).toBeCloseTo(1, 14);
    expect(Math.abs(vectors[0])).toBeCloseTo(Math.SQRT1_2, 14);
    expect(vectors[0]).toBeCloseTo(vectors[1], 14);
  });

  for (const n of [1, 2, 3, 7, 40, 130]) {
    it(`A V = V diag(values) with orthonormal V, descending, for n = ${n}`, () => {
      const matrix = randomSymmetric(n, n);
      expectEigen(matrix, n, 1e-12 * n);
    });
  }

  it('copes with repeated, zero and tiny eigenvalues', () => {
    const n = 30;
    expectEigen(new Float64Array(n * n), n, 1e-15);
    const ones = new Float64Array(n * n).fill(1);
    const { values } = eigenSymmetric(ones, n);
    expect(values[0]).toBeCloseTo(n, 11);
    expect(Math.abs(values[1])).toBeLessThan(1e-12);
    expectEigen(ones, n, 1e-12);
    const graded = new Float64Array(n * n);
    for (let i = 0; i < n; i++) graded[i * n + i] = 10 ** -i;
    expectEigen(graded, n, 1e-15);
  });

  it('refuses a matrix with NaN instead of looping', () => {
    const matrix = randomSymmetric(5, 1);
    matrix[7] = Number.NaN;
    expect(() => eigenSymmetric(matrix, 5)).toThrow(/non-finite/);
  });
});

function expectEigen(matrix: Float64Array, n: number, tolerance: number): void {
  const { values, vectors } = eigenSymmetric(matrix, n);
  for (let k = 0; k < n; k++) {
    if (k > 0) expect(values[k]).toBeLessThanOrEqual(values[k - 1]);
    for (let i = 0; i < n; i++) {
      let image = 0;
      for (let j = 0; j < n; j++) image += matrix[i * n + j] * vectors[k * n + j];
      expect(Math.abs(image - values[k] * vectors[k * n + i])).toBeLessThanOrEqual(tolerance);
    }
    for (let other = 0; other <= k; other++) {
      let product = 0;
      for (let j = 0; j < n; j++) product += vectors[k * n + j] * vectors[other * n + j];
      expect(Math.abs(product - (k === other ? 1 : 0))).toBeLessThan(1e-12);
    }
  }
}

function randomSymmetric(n: number, seed: number): Float64Array {
  const rng = createRng(seed);
  const matrix = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      matrix[i * n + j] = rng.normal();
      matrix[j * n + i] = matrix[i * n + j];
    }
  }
  return matrix;
}
