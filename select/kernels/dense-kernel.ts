/** A kernel on the unit vectors of a pool: a function of the cosine, K(a,a) = 1. */
import { dot } from '../../src/kernels/vector.ts';
import type { Matrix } from '../../src/types.ts';
import { type Covariance, covarianceAt, toCovariances } from './covariance.ts';
import type { PoolKernel } from './pool-kernel.ts';
import type { PoolProducts } from './pool-products.ts';
import { QUERY } from './posterior.ts';

export function createDenseKernel(
  embeddings: Matrix,
  query: Float32Array | Float64Array | undefined,
  covariance: Covariance,
  products: PoolProducts,
): PoolKernel {
  const { columns, data } = embeddings;
  const rows = (positions: readonly number[], outs: readonly Float64Array[]): void => {
    products.ofRows(positions, outs);
    for (const [i, position] of positions.entries()) {
      toCovariances(covariance, outs[i]);
      // K(a,a) = 1 also for a vector of zeros, whose cosine with itself is 0.
      outs[i][position] = 1;
    }
  };
  return {
    row(position, out) {
      if (position !== QUERY) {
        rows([position], [out]);
        return;
      }
      if (query === undefined) throw new RangeError('there is no query vector');
      products.ofVector(query, out);
      toCovariances(covariance, out);
    },
    rows: products.together ? rows : undefined,
    pair: (a, b) => (a === b ? 1 : covarianceAt(covariance, dot(data, a * columns, data, b * columns, columns))),
    diagonal: () => 1,
  };
}
