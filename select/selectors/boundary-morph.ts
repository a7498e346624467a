/**
 * `boundary-morph` (BoundaryMORPH 3): a Gaussian process over the residual of the reranker against the first-stage
 * percentile, anchored at the query, that spends each call on the most contested comparison across the capacity boundary.
 * Its ablations (5.2) and BAGEL (C.2) are the same process with one part exchanged:
 *   `morph-ucb`         GP-UCB in place of the boundary rule
 *   `morph-zero-prior`  prior mean 0 in place of the percentile
 *   `bagel`             both of these, and half of the budget on the first-stage top before anything else
 *
 * Filled in where the paper leaves room (docs/paper-map.md): the tie rules of Eq. 4, and what happens without a pair to
 * contest (the open document with the largest deviation).
 */
import { DocOptError } from '../../src/errors.ts';
import type { Pool } from '../../src/types.ts';
import { createCovariance, type KernelName } from '../kernels/covariance.ts';
import { createDenseKernel } from '../kernels/dense-kernel.ts';
import { percentilePrior } from '../kernels/percentile-prior.ts';
import type { PoolKernel } from '../kernels/pool-kernel.ts';
import { type AcquisitionName, acquisition, type BoundaryOptions, upperConfidence } from './acquire.ts';
import { createGaussianRun, type RunOptions, requireRunOptions } from './gaussian-run.ts';
import { closenessOf, medianOf } from './geometry.ts';
import { type SteppedSelector, steppedSelector } from './stepped.ts';

interface ProcessOptions extends RunOptions {
  readonly kernel?: KernelName;
  /** Of the pairs that the median cosine is taken over, in pools beyond 2,000 documents. */
  readonly seed?: number;
}

export interface BoundaryMorphOptions extends ProcessOptions, BoundaryOptions {
  readonly acquisition?: AcquisitionName;
  /** Residual of the free observation: 0 (the query's own percentile is 1, as its score), or 1 (no prior at the query). */
  readonly queryResidual?: 0 | 1;
}

export interface ZeroPriorOptions extends ProcessOptions, BoundaryOptions {}

export interface UpperConfidenceOptions extends ProcessOptions {
  /** beta_0 of beta_t = beta_0 / sqrt(t + 1). */
  readonly beta0?: number;
}

export function createBoundaryMorph(options: BoundaryMorphOptions = {}): SteppedSelector {
  requireRunOptions(options);
  const acquire = acquisition(options.acquisition ?? 'boundary', options);
  return steppedSelector('boundary-morph', function* (pool, limits) {
    const kernel = yield* vectorKernel(pool, options);
    const prior = percentilePrior(pool.ids.length);
    const surrogate = { prior, kernel, queryResidual: observed(pool, options.queryResidual ?? 0) };
    return createGaussianRun(pool, limits, { ...options, surrogate, acquire });
  });
}

/** Without a prior mean the query's residual is its whole score, 1. */
export function createMorphZeroPrior(options: ZeroPriorOptions = {}): SteppedSelector {
  requireRunOptions(options);
  const acquire = acquisition('boundary', options);
  return steppedSelector('morph-zero-prior', function* (pool, limits) {
    const kernel = yield* vectorKernel(pool, options);
    const surrogate = { prior: new Float64Array(pool.ids.length), kernel, queryResidual: observed(pool, 1) };
    return createGaussianRun(pool, limits, { ...options, surrogate, acquire });
  });
}

export function createMorphUcb(options: UpperConfidenceOptions = {}): SteppedSelector {
  requireRunOptions(options);
  const acquire = upperConfidence(requireBeta(options));
  return steppedSelector('morph-ucb', function* (pool, limits) {
    const kernel = yield* vectorKernel(pool, options);
    const surrogate = { prior: percentilePrior(pool.ids.length), kernel, queryResidual: observed(pool, 0) };
    return createGaussianRun(pool, limits, { ...options, surrogate, acquire });
  });
}

export function createBagel(options: UpperConfidenceOptions = {}): SteppedSelector {
  requireRunOptions(options);
  const acquire = upperConfidence(requireBeta(options));
  return steppedSelector('bagel', function* (pool, limits) {
    const kernel = yield* vectorKernel(pool, options);
    const surrogate = { prior: new Float64Array(pool.ids.length), kernel, queryResidual: observed(pool, 1) };
    const warmStart = Math.floor(limits.budget / 2);
    return createGaussianRun(pool, limits, { ...options, surrogate, acquire, warmStart });
  });
}

/** The kernel of B.3 and B.4 on the pool's vectors, its width set by the median heuristic. `sharpen` multiplies the concentration. */
export function* vectorKernel(
  pool: Pool,
  { kernel = 'vmf', seed = 1 }: ProcessOptions,
  sharpen = 1,
): Generator<void, PoolKernel> {
  const median = yield* medianOf(pool.embeddings, seed);
  const covariance = createCovariance(kernel, median, pool.embeddings.data);
  return createDenseKernel(
    pool.embeddings,
    pool.queryEmbedding,
    { ...covariance, concentration: sharpen * covariance.concentration },
    closenessOf(pool.embeddings),
  );
}

/** A query without a vector is not observed. */
export function observed(pool: Pool, residual: number): number | undefined {
  return pool.queryEmbedding === undefined ? undefined : residual;
}

function requireBeta({ beta0 = 1 }: UpperConfidenceOptions): number {
  if (!Number.isFinite(beta0) || beta0 < 0) {
    throw new DocOptError('CONFIG', `selector.beta0 is ${beta0}; it must be a number of at least 0.`);
  }
  return beta0;
}
