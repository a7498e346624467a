/**
 * `boundary-morph` (BoundaryMORPH 3): a Gaussian process over the residual of the reranker against the first-stage
 * percentile, anchored at the query, that spends each call on the most contested comparison across the capacity boundary.
 *
 * Filled in where the paper leaves room (docs/paper-map.md): the tie rules of Eq. 4, and what happens without a pair to
 * contest (the open document with the largest deviation). A failed call stays spent; its document keeps the estimate and
 * is never asked for again.
 */
import { DocOptError } from '../../src/errors.ts';
import { deriveSeed } from '../../src/kernels/rng.ts';
import type { SelectionLimits, SelectionRun, Selector } from '../../src/ports.ts';
import type { Pool } from '../../src/types.ts';
import { mostContested, mostUncertain } from '../kernels/boundary.ts';
import { medianCosineInSteps } from '../kernels/cosine-median.ts';
import { type Covariance, createCovariance, type KernelName } from '../kernels/covariance.ts';
import { percentilePrior } from '../kernels/percentile-prior.ts';
import { createLedger, STATUS } from './ledger.ts';
import { createResidualModel } from './residual-model.ts';

export interface BoundaryMorphOptions {
  readonly kernel?: KernelName;
  /** standardised = Eq. 4; additive = the confidence-bound gap of active set ordering. */
  readonly gap?: 'standardised' | 'additive';
  /** Denominator sigma_i^2 + sigma_j^2 - 2 cov_ij in place of sigma_i^2 + sigma_j^2. */
  readonly pairCovariance?: boolean;
  /** Residual of the free observation: 0 (the query's own percentile is 1, as its score), or 1 (no prior at the query). */
  readonly queryResidual?: 0 | 1;
  /** Calls asked for at once. Beyond the first of a batch, earlier picks count as known at their mean. */
  readonly batch?: number;
  /** Of the pairs that the median cosine is taken over, in pools beyond 2,000 documents. */
  readonly seed?: number;
}

/** A selector whose start is long enough to be cut into steps (services let other requests run in between). */
export interface SteppedSelector extends Selector {
  beginInSteps(pool: Pool, limits: SelectionLimits): Generator<void, SelectionRun>;
}

export function createBoundaryMorph(options: BoundaryMorphOptions = {}): SteppedSelector {
  const batch = options.batch ?? 1;
  if (!Number.isInteger(batch) || batch < 1) {
    throw new DocOptError('CONFIG', `selector.batch is ${batch}; it must be a whole number of at least 1.`);
  }
  const seed = deriveSeed(options.seed ?? 1, 'median-cosine');

  function* beginInSteps(pool: Pool, limits: SelectionLimits): Generator<void, SelectionRun> {
    // Without a call to place there is still an order to give, but an empty pool has no geometry at all.
    const median = yield* medianCosineInSteps(pool.embeddings, { seed });
    const covariance = createCovariance(options.kernel ?? 'vmf', median, pool.embeddings.data);
    return createRun(pool, limits, covariance, options, batch);
  }

  return {
    name: 'boundary-morph',
    beginInSteps,
    begin(pool, limits) {
      const steps = beginInSteps(pool, limits);
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
      }
    },
  };
}

function createRun(
  pool: Pool,
  limits: SelectionLimits,
  covariance: Covariance,
  options: BoundaryMorphOptions,
  batch: number,
): SelectionRun {
  const size = pool.ids.length;
  const ledger = createLedger(size, limits);
  const prior = percentilePrior(size);
  const model = createResidualModel(pool, ledger, prior, covariance, options.queryResidual ?? 0);
  const { posterior } = model;
  const means = new Float64Array(size);
  const variances = new Float64Array(size);
  const open = new Uint8Array(size);

  /** Observations that stand: the query and every told score. Beyond them lie the assumptions of a batch. */
  let standing = posterior.count;
  /** The last ask, in order, as far as it is not settled. */
  let asked: readonly number[] = [];

  /** Brings told scores into the posterior. */
  const settle = (): void => {
    const told = asked.filter((position) => ledger.status[position] === STATUS.scored);
    // The assumptions were added in the order asked; when every pick was answered their rows are already right.
    const assumed = told.length === asked.length ? posterior.count - standing : 0;
    posterior.rewind(standing + assumed);
    for (const position of told.slice(assumed)) posterior.add(position);
    for (const position of told) posterior.settle(ledger.scores[position] - prior[position]);
    standing = posterior.count;
    asked = asked.filter((position) => ledger.status[position] === STATUS.asked);
  };

  /** Variances as the acquisition sees them: 0 for what is scored, or assumed to be. */
  const spread = (picks: readonly number[]): void => {
    const unit = options.gap === 'additive' ? posterior.residualMoments().deviation ** 2 : 1;
    for (let d = 0; d < size; d++) {
      variances[d] = ledger.status[d] === STATUS.scored ? 0 : unit * posterior.variance(d);
      open[d] = ledger.status[d] === STATUS.open ? 1 : 0;
    }
    for (const pick of picks) variances[pick] = open[pick] = 0;
  };

  const choose = (): number => {
    const contest = mostContested({
      means,
      variances,
      open,
      capacity: limits.capacity,
      gap: options.gap,
      covariance: options.pairCovariance === true ? model.pairCovariance : undefined,
    });
    return contest?.pick ?? mostUncertain(variances, open);
  };

  return {
    ask() {
      ledger.requireAnswers();
      settle();
      const wanted = Math.min(batch, ledger.left);
      const picks: number[] = [];
      if (wanted > 0) model.estimate(means);
      while (picks.length < wanted) {
        // Conditioning on its own mean leaves every mean as it is; only the variances shrink.
        if (picks.length > 0) posterior.add(picks[picks.length - 1]);
        spread(picks);
        picks.push(choose());
      }
      asked = ledger.ask(picks);
      return asked;
    },
    tell: ledger.tell,
    result() {
      settle();
      return { order: model.order(), capacity: limits.capacity };
    },
  };
}
