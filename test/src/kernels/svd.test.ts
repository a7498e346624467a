import { describe, expect, it } from 'vitest';
import { eigenSymmetric } from '../../../src/kernels/eigen.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { type SparseMatrix, truncatedSvd } from '../../../src/kernels/svd.ts';

describe('truncatedSvd', () => {
  it('equals the exact decomposition when the asked rank covers the matrix', () => {
    const a = sparse(randomRows(25, 18, 0.3, 1));
    const exact = exactRight(a);
    const svd = truncatedSvd(a, { rank: 18, seed: 3 });
    expect(svd.rank).toBe(18);
    for (let k = 0; k < 18; k++) expect(svd.values[k]).toBeCloseTo(exact.values[k], 10);
    expectSameSpace(svd.vectors, exact.vectors, 18, 18);
  });

  it('finds the leading singular values of a larger matrix', () => {
    const a = sparse(randomRows(300, 120, 0.1, 2, 0.97));
    const exact = exactRight(a);
    const svd = truncatedSvd(a, { rank: 10, seed: 4, oversampling: 20, iterations: 4 });
    for (let k = 0; k < 10; k++) {
      expect(svd.values[k] / exact.values[k]).toBeGreaterThan(0.999);
      expect(svd.values[k] / exact.values[k]).toBeLessThan(1 + 1e-10);
    }
  });

  it('answers fewer dimensions for a matrix of lower rank', () => {
    const base = randomRows(3, 40, 0.5, 5);
    const a = sparse([...base, ...base, base[0], []]);
    const svd = truncatedSvd(a, { rank: 6, seed: 1 });
    expect(svd.rank).toBe(3);
    expect(svd.vectors.length).toBe(40 * 3);
  });

  it('answers rank 0 for an empty matrix', () => {
    expect(truncatedSvd(sparse([[], []], 4), { rank: 2, seed: 1 }).rank).toBe(0);
    expect(truncatedSvd(sparse([], 0), { rank: 2, seed: 1 }).rank).toBe(0);
  });

  it('is the same bit for bit with the same seed', () => {
    const a = sparse(randomRows(80, 60, 0.2, 6));
    const first = truncatedSvd(a, { rank: 8, seed: 9 });
    expect(truncatedSvd(a, { rank: 8, seed: 9 })).toEqual(first);
    expect(truncatedSvd(a, { rank: 8, seed: 10 }).vectors).not.toEqual(first.vectors);
  });
});

type Row = readonly (readonly [column: number, value: number])[];

function randomRows(rows: number, columns: number, density: number, seed: number, decay = 1): Row[] {
  const rng = createRng(seed);
  return Array.from({ length: rows }, () => {
    const row: [number, number][] = [];
    for (let c = 0; c < columns; c++) if (rng.next() < density) row.push([c, rng.normal() * decay ** c]);
    return row;
  });
}

function sparse(rows: readonly Row[], columns?: number): SparseMatrix {
  const flat = rows.flat();
  const offsets = new Float64Array(rows.length + 1);
  rows.forEach((row, r) => {
    offsets[r + 1] = offsets[r] + row.length;
  });
  return {
    rows: rows.length,
    columns: columns ?? 1 + Math.max(...flat.map(([column]) => column)),
    offsets,
    indices: Int32Array.from(flat, ([column]) => column),
    values: Float64Array.from(flat, ([, value]) => value),
  };
}

function exactRight(a: SparseMatrix): { values: number[]; vectors: Float64Array } {
  const square = new Float64Array(a.columns * a.columns);
  for (let r = 0; r < a.rows; r++) {
    for (let m = a.offsets[r]; m < a.offsets[r + 1]; m++) {
      for (let n = a.offsets[r]; n < a.offsets[r + 1]; n++) {
        square[a.indices[m] * a.columns + a.indices[n]] += a.values[m] * a.values[n];
      }
    }
  }
  const { values, vectors } = eigenSymmetric(square, a.columns);
  return { values: Array.from(values, (value) => Math.sqrt(Math.max(0, value))), vectors };
}

/** Column k of `found` (columns x rank) is row k of `exact`, up to sign. */
function expectSameSpace(found: Float64Array, exact: Float64Array, columns: number, rank: number): void {
  for (let k = 0; k < rank; k++) {
    let cosine = 0;
    for (let c = 0; c < columns; c++) cosine += found[c * rank + k] * exact[k * columns + c];
    expect(Math.abs(cosine)).toBeCloseTo(1, 9);
  }
}
