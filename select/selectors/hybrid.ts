/**
 * `morph-hybrid` and `dense-log`: the boundary rule on a process that knows what the first stage is worth.
 *
 *   y(d) = a + w . g(d) + f(d),   (a, w) ~ N((0, prior weights), .3 s^2 I),   f ~ GP(0, s^2 K),   noise .1 s^2
 *
 * g holds 1 - ln(1 + rank) / ln N for the BM25 rank, the dense rank and the rank of their reciprocal-rank fusion
 * (`dense-log`: the dense rank alone). A uniform percentile claims that the middle of a pool scores .5; log ranks fall as
 * relevance does, and a and w are refitted at every call inside the process (kernels/linear-basis.ts). K is half vMF at
 * twice the paper's concentration and half TF-IDF cosine where the texts are there. The query is observed at y = 1, g = 1.
 * s cancels in the means and in the smallest z; it is only the unit of `std`.
 *
 * All of this is for scores that run from 0 to 1 over a pool. Where the reranker is known to give less (a calibrated one gives
 * most documents next to nothing), y is its score in that range: 1 stands for what it gives the head of the first stage on
 * average, 0 for what it gives the tail. Estimates are then worth what scores are worth, and one list can hold both.
 */
import { DocOptError } from '../../src/errors.ts';
import type { Pool, ScoreScale } from '../../src/types.ts';
import { addLinearBasis } from '../kernels/linear-basis.ts';
import { mixKernels, type PoolKernel } from '../kernels/pool-kernel.ts';
import { logRankFeature } from '../kernels/ranks.ts';
import { createTfidfKernel } from '../kernels/tfidf-cosine.ts';
import { type AcquisitionName, acquisition, type BoundaryOptions } from './acquire.ts';
import { observed, vectorKernel } from './boundary-morph.ts';
import { createGaussianRun, type RunOptions, requireRunOptions } from './gaussian-run.ts';
import { denseRanksOf, fusedRanksOf, requireLexicalRanks } from './pool-ranks.ts';
import { type SteppedSelector, steppedSelector } from './stepped.ts';

/** Prior mean of w for BM25, dense and fused ranks. */
export const HYBRID_WEIGHTS: readonly number[] = [0.25, 0.25, 0.5];
/** Prior variance of a and of each weight, in units of s^2. */
const COEFFICIENT_VARIANCE = 0.3;
/** Of a single observation, in units of s^2: how little one score is doubted. */
export const DEFAULT_NOISE = 0.1;
const SHARPEN = 2;

export interface LogRankOptions extends RunOptions, BoundaryOptions {
  readonly acquisition?: AcquisitionName;
  /** Observation noise as a multiple of s^2: the larger, the less a single score is trusted. auto = as `learned`, else the default. */
  readonly noise?: number | 'auto';
  /** What a scored document is ranked by: its score, or the posterior mean (default where the noise is above 1). */
  readonly scoredBy?: 'score' | 'posterior';
  readonly seed?: number;
  /** From earlier queries: see select/history.ts. Stated options win. */
  readonly learned?: { readonly weights?: readonly number[]; readonly noise?: number };
}

export interface HybridOptions extends LogRankOptions {
  /** Prior mean of the weights of BM25, dense and fused ranks. */
  readonly weights?: readonly number[];
}

export function createMorphHybrid(options: HybridOptions = {}): SteppedSelector {
  const weights = options.weights ?? options.learned?.weights ?? HYBRID_WEIGHTS;
  if (weights.length !== 3 || weights.some((w) => !Number.isFinite(w))) {
    throw new DocOptError('CONFIG', `selector.weights is [${weights}]; expected three numbers: BM25, dense, fused.`);
  }
  return logRankSelector('morph-hybrid', options, weights, (pool) => [
    requireLexicalRanks(pool, 'morph-hybrid'),
    denseRanksOf(pool),
    fusedRanksOf(pool, 'morph-hybrid'),
  ]);
}

export function createDenseLog(options: LogRankOptions = {}): SteppedSelector {
  return logRankSelector('dense-log', options, [1], (pool) => [denseRanksOf(pool)]);
}

function logRankSelector(
  name: string,
  options: LogRankOptions,
  weights: readonly number[],
  rankings: (pool: Pool) => readonly Int32Array[],
): SteppedSelector {
  requireRunOptions(options);
  const noise = (options.noise === 'auto' ? options.learned?.noise : options.noise) ?? DEFAULT_NOISE;
  if (!Number.isFinite(noise) || noise <= 0) {
    throw new DocOptError('CONFIG', `selector.noise is ${noise}; it must be a number above 0.`);
  }
  const acquire = acquisition(options.acquisition ?? 'boundary', options);
  const queryMean = weights.reduce((sum, w) => sum + w, 0);

  return steppedSelector(name, function* (pool, limits) {
    const size = pool.ids.length;
    const features = rankings(pool).map(logRankFeature);
    const [bottom, top] = rangeOf(pool.scoreScale, size);
    const prior = new Float64Array(size).fill(bottom);
    features.forEach((feature, i) => {
      for (let d = 0; d < size; d++) prior[d] += (top - bottom) * weights[i] * feature[d];
    });
    const process = yield* closeness(pool, options.seed);
    const surrogate = {
      prior,
      kernel: addLinearBasis(process, size, features, COEFFICIENT_VARIANCE),
      queryResidual: observed(pool, (top - bottom) * (1 - queryMean)),
      noise,
      centred: false,
      scoredBy: options.scoredBy ?? (noise > 1 ? 'posterior' : 'score'),
    } as const;
    return createGaussianRun(pool, limits, { ...options, surrogate, acquire });
  });
}

/** What the reranker gives the last and the first of so many documents, on average; 0 and 1 where it does not say. */
function rangeOf(scale: ScoreScale | undefined, size: number): readonly [bottom: number, top: number] {
  if (scale === undefined) return [0, 1];
  const { top, fall } = scale;
  return [Math.max(0, top - fall * Math.log(Math.max(1, size))), top];
}

/** What makes two documents alike: their vectors, and their words where the pool has them. */
function* closeness(pool: Pool, seed: number | undefined): Generator<void, PoolKernel> {
  const vectors = yield* vectorKernel(pool, { seed }, SHARPEN);
  if (pool.terms === undefined) return vectors;
  return mixKernels(pool.ids.length, [
    { weight: 0.5, kernel: vectors },
    { weight: 0.5, kernel: createTfidfKernel(pool.terms) },
  ]);
}
