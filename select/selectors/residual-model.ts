/**
 * A pool seen through the Gaussian process: the residual of the reranker against a prior mean, its posterior, and the
 * answer that follows from it. What a selector adds is only where to look next.
 */
import { dot } from '../../src/kernels/vector.ts';
import type { Pool, SelectedDocument } from '../../src/types.ts';
import { type Covariance, covarianceAt, covarianceRow } from '../kernels/covariance.ts';
import { createPosterior, type Posterior, QUERY } from '../kernels/posterior.ts';
import { createRowProducts } from '../kernels/row-products.ts';
import { type Ledger, STATUS } from './ledger.ts';

export interface ResidualModel {
  readonly posterior: Posterior;
  readonly prior: Float64Array;
  /** out = the score where there is one, else the posterior mean (not clipped to [0, 1]). */
  estimate(out: Float64Array): void;
  /** Posterior covariance of two documents, in units of the kernel; 0 when either is scored. */
  pairCovariance(i: number, j: number): number;
  /** Every document, best estimate first, equal ones in first-stage order. */
  order(): SelectedDocument[];
}

export function createResidualModel(
  pool: Pool,
  ledger: Ledger,
  prior: Float64Array,
  covariance: Covariance,
  queryResidual: number,
): ResidualModel {
  const size = pool.ids.length;
  const { columns, data } = pool.embeddings;

  const products = createRowProducts(pool.embeddings);

  const kernelRow = (position: number, out: Float64Array): void => {
    const isQuery = position === QUERY;
    const vector = isQuery ? pool.queryEmbedding! : data.subarray(position * columns, (position + 1) * columns);
    covarianceRow(covariance, products, vector, out);
    // K(a,a) = 1 also for a vector of zeros, whose cosine with itself is 0.
    if (!isQuery) out[position] = 1;
  };

  const posterior = createPosterior({ size, row: kernelRow });
  if (pool.queryEmbedding !== undefined && size > 0) {
    posterior.add(QUERY);
    posterior.settle(queryResidual);
  }

  const estimate = (out: Float64Array): void => {
    posterior.means(prior, out);
    for (let d = 0; d < size; d++) if (ledger.status[d] === STATUS.scored) out[d] = ledger.scores[d];
  };

  return {
    posterior,
    prior,
    estimate,
    pairCovariance(i, j) {
      if (ledger.status[i] === STATUS.scored || ledger.status[j] === STATUS.scored) return 0;
      const cosine = dot(data, i * columns, data, j * columns, columns);
      return posterior.covariance(i, j, covarianceAt(covariance, cosine));
    },
    order() {
      const means = new Float64Array(size);
      estimate(means);
      const { deviation } = posterior.residualMoments();
      const positions = Int32Array.from({ length: size }, (_, d) => d);
      positions.sort((a, b) => means[b] - means[a] || a - b);
      return Array.from(positions, (position, index): SelectedDocument => {
        const scored = ledger.status[position] === STATUS.scored;
        return {
          position,
          id: pool.ids[position],
          rank: index + 1,
          source: scored ? 'scored' : 'estimated',
          relevanceScore: means[position],
          std: scored ? 0 : deviation * Math.sqrt(posterior.variance(position)),
        };
      });
    },
  };
}
