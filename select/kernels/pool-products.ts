/** Inner products among the rows of a pool, and with a vector from outside. */
import { dot } from '../../src/kernels/vector.ts';
import type { Matrix } from '../../src/types.ts';
import type { RowProducts } from './row-products.ts';

export interface PoolProducts {
  /** outs[i][r] = row r . row positions[i], for every r. */
  ofRows(positions: readonly number[], outs: readonly Float64Array[]): void;
  /** Several rows at once cost much less than one after the other. */
  readonly together: boolean;
  /** out[r] = row r . vector. */
  ofVector(vector: Float32Array | Float64Array, out: Float64Array): void;
  /** out[j * PAIR_SIDE + i] = row first[i] . row second[j], of PAIR_SIDE rows each. */
  between(first: readonly number[], second: readonly number[], out: Float64Array): void;
}

/** Rows of each side of a block of pairs. */
export const PAIR_SIDE = 16;

/** In float64. */
export function exactProducts({ columns, data }: Matrix, products: RowProducts): PoolProducts {
  const double = (vector: Float32Array | Float64Array): Float64Array =>
    vector instanceof Float64Array ? vector : Float64Array.from(vector);
  return {
    ofRows(positions, outs) {
      for (const [i, position] of positions.entries())
        products(double(data.subarray(position * columns, (position + 1) * columns)), outs[i]);
    },
    together: false,
    ofVector: (vector, out) => products(double(vector), out),
    between(first, second, out) {
      let at = 0;
      for (const b of second) for (const a of first) out[at++] = dot(data, a * columns, data, b * columns, columns);
    },
  };
}
