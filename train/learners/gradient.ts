/**
 * GRPO by gradient: the loss is a pure function of log-probabilities, so all that this learner does is ask the policy for
 * them, and hand it back the slope. One batch of rollouts makes one update (more with `iterations`).
 */
import { DocOptError } from '../../src/errors.ts';
import type { Learner, TrainablePolicy } from '../../src/ports.ts';
import type { Completion, RewardedGroup, StepMetrics } from '../../src/types.ts';
import { type BatchTotals, type GrpoBatch, type GrpoLoss, grpoLoss } from '../kernels/grpo-loss.ts';
import type { TrainOptions } from '../options.ts';

export type GradientOptions = Pick<
  TrainOptions,
  'loss' | 'clipLow' | 'clipHigh' | 'beta' | 'klAnchor' | 'iterations' | 'microBatch' | 'rollout'
>;

/** Anchors the policy where it stands now; `load` brings a saved anchor back. */
export function createGradientLearner(policy: TrainablePolicy, options: GradientOptions): Learner {
  policy.anchor();
  return {
    policy,
    onRefresh() {
      if (options.klAnchor === 'round') policy.anchor();
    },

    async step(groups, learningRate) {
      const batch = flatten(groups);
      // Adam would still coast on its momentum: without a single group that teaches, the weights stay as they are.
      if (batch.completions.length === 0) return {};
      const entropy = await policy.entropy(batch.completions);
      let metrics: StepMetrics = {};
      let old: readonly Float64Array[] | undefined;
      for (let iteration = 0; iteration < options.iterations; iteration++) {
        const current = await inParts(batch.completions, options.microBatch, (part) =>
          policy.logProbs(part, 'current'),
        );
        old ??= current;
        const reference =
          options.beta > 0
            ? await inParts(batch.completions, options.microBatch, (part) => policy.logProbs(part, 'reference'))
            : undefined;
        const parts = lossParts(batch, current, old, reference, options);
        checkFinite(parts);
        await policy.applyGradient(
          batch.completions,
          parts.flatMap((part) => part.gradient),
          learningRate,
        );
        metrics = summarise(parts, reference !== undefined);
      }
      return { ...metrics, entropy };
    },

    save: (artefact) => policy.save(artefact),
    load: (artefact) => policy.load(artefact),
  };
}

interface FlatBatch {
  /** Of the groups that teach; the others cost nothing, not even their log-probs. */
  readonly completions: readonly Completion[];
  readonly advantages: Float64Array;
  /** Completions of all groups: means over sequences count the silent ones too. */
  readonly sequences: number;
}

function flatten(groups: readonly RewardedGroup[]): FlatBatch {
  const teaching = groups.filter((group) => group.advantages.some((advantage) => advantage !== 0));
  return {
    completions: teaching.flatMap((group) => group.completions),
    advantages: Float64Array.from(teaching.flatMap((group) => [...group.advantages])),
    sequences: groups.reduce((sum, group) => sum + group.completions.length, 0),
  };
}

/** The loss of each micro-batch, as shares of the one loss of the whole batch. */
function lossParts(
  batch: FlatBatch,
  current: readonly Float64Array[],
  old: readonly Float64Array[],
  reference: readonly Float64Array[] | undefined,
  options: GradientOptions,
): GrpoLoss[] {
  const totals: BatchTotals = {
    sequences: batch.sequences,
    activeSequences: current.length,
    activeTokens: current.reduce((sum, row) => sum + row.length, 0),
  };
  const longest = current.reduce((length, row) => Math.max(length, row.length), 1);
  const size = options.microBatch > 0 ? options.microBatch : current.length;
  const parts: GrpoLoss[] = [];
  for (let start = 0; start < current.length; start += size) {
    const end = Math.min(current.length, start + size);
    const part: GrpoBatch = {
      logProbs: current.slice(start, end),
      oldLogProbs: old.slice(start, end),
      referenceLogProbs: reference?.slice(start, end),
      advantages: batch.advantages.slice(start, end),
      active: new Uint8Array(end - start).fill(1),
    };
    parts.push(
      grpoLoss(
        part,
        {
          aggregation: options.loss,
          clipLow: options.clipLow,
          clipHigh: options.clipHigh,
          beta: options.beta,
          maxLength: options.rollout.maxNewTokens ?? longest,
        },
        totals,
      ),
    );
  }
  return parts;
}

function summarise(parts: readonly GrpoLoss[], hasReference: boolean): StepMetrics {
  const total = (pick: (part: GrpoLoss) => number): number => parts.reduce((sum, part) => sum + pick(part), 0);
  const tokens = Math.max(
    1,
    total((part) => part.activeTokens),
  );
  const low = total((part) => part.clippedLow) / tokens;
  const high = total((part) => part.clippedHigh) / tokens;
  return {
    loss: total((part) => part.loss),
    ...(hasReference ? { kl: total((part) => part.klSum) / tokens } : {}),
    clip_ratio: low + high,
    'clip_ratio/low_mean': low,
    'clip_ratio/high_mean': high,
  };
}

function checkFinite(parts: readonly GrpoLoss[]): void {
  if (parts.every((part) => Number.isFinite(part.loss))) return;
  throw new DocOptError('INTERNAL', 'the loss is not a finite number', {
    hint: 'The policy gave log-probabilities that are not finite. Lower --learning-rate, or raise --beta.',
  });
}

async function inParts(
  completions: readonly Completion[],
  size: number,
  run: (part: readonly Completion[]) => Promise<Float64Array[]>,
): Promise<Float64Array[]> {
  if (size <= 0 || completions.length <= size) return run(completions);
  const rows: Float64Array[] = [];
  for (let start = 0; start < completions.length; start += size) {
    rows.push(...(await run(completions.slice(start, start + size))));
  }
  return rows;
}
