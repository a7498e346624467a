/** All inner products of one vector with the rows of a matrix: what a kernel row costs. */
import type { Matrix } from '../../src/types.ts';
import { innerProductFor } from './inner-product.ts';
import { createSimdRows } from './simd-rows.ts';

/** out[r] = row r . vector, for every row r >= from (default 0). */
export type RowProducts = (vector: Float64Array, out: Float64Array, from?: number) => void;

/** Copies float32 rows once; worth it from the second product on. */
export function createRowProducts(matrix: Matrix): RowProducts {
  const { rows, columns, data } = matrix;
  if (!(data instanceof Float32Array)) return plainRowProducts(matrix);
  const simd = createSimdRows(rows, columns);
  if (simd === undefined) return plainRowProducts(matrix);
  simd.setRows(data);
  return simd.times;
}

export function plainRowProducts({ rows, columns, data }: Matrix): RowProducts {
  const inner = innerProductFor(data);
  return (vector, out, from = 0) => {
    for (let r = from; r < rows; r++) out[r] = inner(data, r * columns, vector, 0, columns);
  };
}
