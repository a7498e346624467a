/**
 * A pool seen through a Gaussian process: the residual of the reranker against a prior mean, its posterior, and the
 * answer that follows from it. What a selector adds is the prior, the kernel, and where to look next.
 */
import type { Pool, SelectedDocument } from '../../src/types.ts';
import type { PoolKernel } from '../kernels/pool-kernel.ts';
import { createPosterior, type Posterior, QUERY } from '../kernels/posterior.ts';
import { type Ledger, STATUS } from './ledger.ts';

/** A process as a selector describes it. */
export interface Surrogate {
  /** Prior mean of the score, by position. */
  readonly prior: Float64Array;
  readonly kernel: PoolKernel;
  /** Residual of the free observation at the query; undefined = the query is not observed. */
  readonly queryResidual: number | undefined;
  /** Observation noise in units of the kernel; 1e-4 when left out, 1e-2 where that breaks down. */
  readonly noise?: number;
  /** Residuals are centred by their mean (default). A process with an intercept needs no centring. */
  readonly centred?: boolean;
  /** What a scored document is ranked by in the end: its score (default), or the posterior mean, which doubts it. */
  readonly scoredBy?: 'score' | 'posterior';
}

export interface ResidualModel {
  readonly posterior: Posterior;
  readonly prior: Float64Array;
  /** out = the score where there is one (unless it is doubted), else the posterior mean (not clipped to [0, 1]). */
  estimate(out: Float64Array): void;
  /** Posterior covariance of two documents, in units of the kernel; 0 when either is scored. */
  pairCovariance(i: number, j: number): number;
  /** Every document, best estimate first, equal ones in first-stage order. */
  order(): SelectedDocument[];
}

export function createResidualModel(pool: Pool, ledger: Ledger, surrogate: Surrogate): ResidualModel {
  const size = pool.ids.length;
  const { kernel, prior } = surrogate;
  const posterior = createPosterior({
    size,
    row: kernel.row,
    rows: kernel.rows,
    diagonal: kernel.diagonal,
    noise: surrogate.noise,
    centred: surrogate.centred,
  });
  if (surrogate.queryResidual !== undefined && size > 0) {
    posterior.add(QUERY);
    posterior.settle(surrogate.queryResidual);
  }

  const estimate = (out: Float64Array): void => {
    posterior.means(prior, out);
    if (surrogate.scoredBy === 'posterior') return;
    for (let d = 0; d < size; d++) if (ledger.status[d] === STATUS.scored) out[d] = ledger.scores[d];
  };

  return {
    posterior,
    prior,
    estimate,
    pairCovariance(i, j) {
      if (ledger.status[i] === STATUS.scored || ledger.status[j] === STATUS.scored) return 0;
      return posterior.covariance(i, j, kernel.pair(i, j));
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
          relevanceScore: scored ? ledger.scores[position] : means[position],
          std: scored ? 0 : deviation * Math.sqrt(posterior.variance(position)),
        };
      });
    },
  };
}
