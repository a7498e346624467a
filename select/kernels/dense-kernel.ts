/** A kernel on the unit vectors of a pool: a function of the cosine, K(a,a) = 1. */
import { dot } from '../../src/kernels/vector.ts';
import type { Matrix } from '../../src/types.ts';
import { type Covariance, covarianceAt, covarianceRow } from './covariance.ts';
import type { PoolKernel } from './pool-kernel.ts';
import { QUERY } from './posterior.ts';
import type { RowProducts } from './row-products.ts';

export function createDenseKernel(
  embeddings: Matrix,
  query: Float32Array | Float64Array | undefined,
  covariance: Covariance,
  products: RowProducts,
): PoolKernel {
  const { columns, data } = embeddings;
  return {
    row(position, out) {
      if (position === QUERY) {
        if (query === undefined) throw new RangeError('there is no query vector');
        covarianceRow(covariance, products, query, out);
        return;
      }
      covarianceRow(covariance, products, data.subarray(position * columns, (position + 1) * columns), out);
      // K(a,a) = 1 also for a vector of zeros, whose cosine with itself is 0.
      out[position] = 1;
    },
    pair: (a, b) => (a === b ? 1 : covarianceAt(covariance, dot(data, a * columns, data, b * columns, columns))),
    diagonal: () => 1,
  };
}
