/**
 * The loop that every selector on a Gaussian process shares (BoundaryMORPH Algorithm 2): bring told scores into the
 * posterior, let the acquisition choose among what is open, ask. A failed call stays spent; its document keeps the
 * estimate and is never asked for again.
 */
import { DocOptError } from '../../src/errors.ts';
import type { SelectionLimits, SelectionRun } from '../../src/ports.ts';
import type { Pool } from '../../src/types.ts';
import type { Beliefs } from '../kernels/acquisitions.ts';
import { createLedger, STATUS } from './ledger.ts';
import { createResidualModel, type Surrogate } from './residual-model.ts';

/** What an acquisition sees. Variances are in units of the kernel; times `scale` squared they are in squared scores. */
export interface View extends Beliefs {
  readonly scale: number;
  /** Acquisition steps before this one. */
  readonly step: number;
  /** Posterior covariance of two documents, in units of the kernel. */
  covariance(i: number, j: number): number;
}

export interface Choice {
  /** An open position. */
  readonly pick: number;
  /** How clear the border is: the smallest standardised gap across it. Only acquisitions that compute it. */
  readonly gap?: number;
}

export interface Acquisition {
  (view: View): Choice;
  /** Positions that later steps may well choose, likeliest first; a guess that saves time when it is right. */
  likely?(view: View, count: number): readonly number[];
}

/** Settings that every selector on a Gaussian process takes. */
export interface RunOptions {
  /** Calls asked for at once. Beyond the first of a batch, earlier picks count as known at their mean. */
  readonly batch?: number;
  /** Ends when the smallest z across the border is larger than this: further calls would hardly change the set. Off by default. */
  readonly stopAt?: number;
}

export interface RunPlan extends RunOptions {
  readonly surrogate: Surrogate;
  readonly acquire: Acquisition;
  /** First-stage documents scored before the first acquisition. */
  readonly warmStart?: number;
}

export function requireRunOptions({ batch = 1, stopAt }: RunOptions): void {
  if (!Number.isInteger(batch) || batch < 1) {
    throw new DocOptError('CONFIG', `selector.batch is ${batch}; it must be a whole number of at least 1.`);
  }
  if (stopAt !== undefined && !(stopAt >= 0)) {
    throw new DocOptError('CONFIG', `selector.stopAt is ${stopAt}; it must be a number of at least 0.`);
  }
}

export function createGaussianRun(pool: Pool, limits: SelectionLimits, plan: RunPlan): SelectionRun {
  const size = pool.ids.length;
  const batch = plan.batch ?? 1;
  const { prior } = plan.surrogate;
  const ledger = createLedger(size, limits);
  const model = createResidualModel(pool, ledger, plan.surrogate);
  const { posterior } = model;
  const means = new Float64Array(size);
  const variances = new Float64Array(size);
  const open = new Uint8Array(size);

  /** Observations that stand: the query and every told score. Beyond them lie the assumptions of a batch. */
  let standing = posterior.count;
  /** The last ask, in order, as far as it is not settled. */
  let asked: readonly number[] = [];
  let warm = Math.min(plan.warmStart ?? 0, ledger.left);
  let step = 0;
  let stopped = false;
  let lastScale = 1;

  /** From what the last acquisition saw. */
  const likely =
    plan.acquire.likely === undefined ? undefined : (count: number) => plan.acquire.likely!(view(lastScale), count);

  /** Brings told scores into the posterior. */
  const settle = (): void => {
    const told = asked.filter((position) => ledger.status[position] === STATUS.scored);
    // The assumptions were added in the order asked; when every pick was answered their rows are already right.
    const assumed = told.length === asked.length ? posterior.count - standing : 0;
    posterior.rewind(standing + assumed);
    for (const position of told.slice(assumed)) posterior.add(position, likely);
    for (const position of told) posterior.settle(ledger.scores[position] - prior[position]);
    standing = posterior.count;
    asked = asked.filter((position) => ledger.status[position] === STATUS.asked);
  };

  /** Variances as the acquisition sees them: 0 for what is scored, or assumed to be. */
  const spread = (picks: readonly number[]): void => {
    posterior.variances(variances);
    for (let d = 0; d < size; d++) {
      if (ledger.status[d] === STATUS.scored) variances[d] = 0;
      open[d] = ledger.status[d] === STATUS.open ? 1 : 0;
    }
    for (const pick of picks) variances[pick] = open[pick] = 0;
  };

  const view = (scale: number): View => ({
    means,
    variances,
    open,
    capacity: limits.capacity,
    scale,
    step,
    covariance: model.pairCovariance,
  });

  const nextPicks = (): number[] => {
    const wanted = stopped ? 0 : Math.min(batch, ledger.left);
    const picks: number[] = [];
    if (wanted > 0) model.estimate(means);
    const { deviation } = posterior.residualMoments();
    lastScale = deviation;
    while (picks.length < wanted) {
      // Conditioning on its own mean leaves every mean as it is; only the variances shrink.
      if (picks.length > 0) posterior.add(picks[picks.length - 1], likely);
      spread(picks);
      const { pick, gap } = plan.acquire(view(deviation));
      if (gap !== undefined && plan.stopAt !== undefined && gap > plan.stopAt) {
        // Later in a batch it only ends the batch: answers may still bring the border closer.
        stopped = picks.length === 0;
        break;
      }
      picks.push(pick);
      step++;
    }
    return picks;
  };

  return {
    ask() {
      ledger.requireAnswers();
      settle();
      const picks = warm > 0 ? Array.from({ length: warm }, (_, position) => position) : nextPicks();
      warm = 0;
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
