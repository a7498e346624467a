/**
 * The GRPO loss and its gradient by log-probability. This is all that reinforcement learning needs from a policy:
 * whoever can push d loss / d logProb through its weights can be trained.
 *
 * Per token, with lp the current, old the sampling and ref the anchor log-probability, rho = exp(lp - old):
 *   l = -min(rho A, clip(rho, 1 - clipLow, 1 + clipHigh) A) + beta k3,   k3 = exp(ref - lp) - (ref - lp) - 1
 * Tokens of sequences whose advantage is masked (a group without spread) neither count nor learn.
 */
export type LossAggregation = 'grpo' | 'dapo' | 'dr_grpo' | 'bnpo';

export interface GrpoOptions {
  readonly aggregation: LossAggregation;
  readonly clipLow: number;
  readonly clipHigh: number;
  /** Weight of the KL term; 0 leaves it out and then no anchor log-probabilities are needed. */
  readonly beta: number;
  /** dr_grpo divides by this constant instead of by lengths. */
  readonly maxLength: number;
}

/** Some sequences of a batch: row c holds the tokens of one completion. */
export interface GrpoBatch {
  readonly logProbs: readonly Float64Array[];
  readonly oldLogProbs: readonly Float64Array[];
  /** Needed when beta > 0. */
  readonly referenceLogProbs?: readonly Float64Array[];
  readonly advantages: Float64Array;
  /** 1 = learns, 0 = masked. */
  readonly active: Uint8Array;
}

/** Sizes of the whole batch that one update is made from, of which a GrpoBatch may be one slice. */
export interface BatchTotals {
  /** All of them: `grpo` and `dr_grpo` average over masked sequences too, as zeros. */
  readonly sequences: number;
  readonly activeSequences: number;
  readonly activeTokens: number;
}

export interface GrpoLoss {
  /** This slice's share: the slices of a batch add up to the loss of the whole. */
  readonly loss: number;
  /** d loss / d logProb, same shape as logProbs. */
  readonly gradient: readonly Float64Array[];
  /** Sums over active tokens, for means over the whole batch. */
  readonly activeTokens: number;
  readonly klSum: number;
  readonly clippedLow: number;
  readonly clippedHigh: number;
}

export function batchTotals(batch: Pick<GrpoBatch, 'logProbs' | 'active'>): BatchTotals {
  const local = countActive(batch);
  return { sequences: batch.logProbs.length, activeSequences: local.sequences, activeTokens: local.tokens };
}

/**
 * Aggregations: `grpo` mean over sequences of token means; `dapo` sum over tokens / active tokens of the whole batch;
 * `dr_grpo` sum / (sequences * maxLength); `bnpo` mean over the slice's own active tokens, weighted by the slice's share
 * of the active sequences (so bnpo alone depends on how a batch is sliced).
 */
export function grpoLoss(batch: GrpoBatch, options: GrpoOptions, totals: BatchTotals = batchTotals(batch)): GrpoLoss {
  const { clipLow, clipHigh, beta } = options;
  const local = countActive(batch);
  let loss = 0;
  let klSum = 0;
  let clippedLow = 0;
  let clippedHigh = 0;
  const gradient = batch.logProbs.map((logProbs, row) => {
    const byToken = new Float64Array(logProbs.length);
    if (batch.active[row] === 0 || logProbs.length === 0) return byToken;
    const old = batch.oldLogProbs[row];
    const reference = batch.referenceLogProbs?.[row];
    const advantage = batch.advantages[row];
    const weight = tokenWeight(options, totals, local, logProbs.length);
    for (let t = 0; t < logProbs.length; t++) {
      const rho = Math.exp(logProbs[t] - old[t]);
      const clipped = Math.max(1 - clipLow, Math.min(1 + clipHigh, rho));
      const plain = rho * advantage;
      const bounded = clipped * advantage;
      let value = -Math.min(plain, bounded);
      // Where the bounded branch is the smaller one, the loss no longer depends on the policy.
      let slope = plain <= bounded ? -plain : 0;
      if (plain > bounded) advantage < 0 ? clippedLow++ : clippedHigh++;
      if (reference !== undefined) {
        const away = reference[t] - logProbs[t];
        const ratio = Math.exp(away);
        const k3 = ratio - away - 1;
        klSum += k3;
        if (beta !== 0) {
          value += beta * k3;
          slope += beta * (1 - ratio);
        }
      }
      loss += weight * value;
      byToken[t] = weight * slope;
    }
    return byToken;
  });
  return { loss, gradient, activeTokens: local.tokens, klSum, clippedLow, clippedHigh };
}

function tokenWeight(options: GrpoOptions, totals: BatchTotals, local: ActiveCount, length: number): number {
  switch (options.aggregation) {
    case 'grpo':
      return 1 / (totals.sequences * length);
    case 'dapo':
      return 1 / totals.activeTokens;
    case 'dr_grpo':
      return 1 / (totals.sequences * options.maxLength);
    case 'bnpo':
      return local.sequences / totals.activeSequences / local.tokens;
    default:
      return options.aggregation satisfies never;
  }
}

interface ActiveCount {
  readonly sequences: number;
  readonly tokens: number;
}

function countActive(batch: Pick<GrpoBatch, 'logProbs' | 'active'>): ActiveCount {
  let sequences = 0;
  let tokens = 0;
  batch.logProbs.forEach((row, index) => {
    if (batch.active[index] === 0) return;
    sequences++;
    tokens += row.length;
  });
  return { sequences, tokens };
}
