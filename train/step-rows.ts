/** What one step leaves in metrics.jsonl and completions.jsonl. */
import type { Completion, QueryMove, RewardedGroup, StepMetrics } from '../src/types.ts';
import type { Advantages } from './kernels/advantages.ts';
import type { RoundEvaluation } from './refresh.ts';

/** Names are TRL's, so that existing dashboards read them. */
export type MetricsRow = { readonly step: number } & Readonly<Record<string, number>>;

export interface CompletionRow {
  readonly step: number;
  readonly document: string;
  readonly sample: number;
  readonly reward: number;
  readonly advantage: number;
  readonly finish: Completion['finish'];
  readonly text: string;
  /** How each of the document's queries moved when this text alone replaced it. */
  readonly moves: readonly QueryMove[];
}

export function metricsRow(
  step: number,
  groups: readonly RewardedGroup[],
  advantages: Pick<Advantages, 'reward' | 'rewardStd' | 'zeroSpread'>,
  learned: StepMetrics,
  facts: { learningRate: number; numTokens: number; seconds: number; resampled: number },
): MetricsRow {
  const completions = groups.flatMap((group) => group.completions);
  const lengths = completions.map(({ tokens }) => tokens.length);
  const characters = completions.map(({ text }) => text.length);
  const cut = completions.filter(({ finish }) => finish === 'length').length;
  return {
    step,
    reward: advantages.reward,
    reward_std: advantages.rewardStd,
    frac_reward_zero_std: advantages.zeroSpread,
    ...learned,
    learning_rate: facts.learningRate,
    'completions/mean_length': mean(lengths),
    'completions/min_length': lengths.reduce((a, b) => Math.min(a, b), Number.MAX_SAFE_INTEGER),
    'completions/max_length': lengths.reduce((a, b) => Math.max(a, b), 0),
    'completions/mean_characters': mean(characters),
    'completions/clipped_ratio': cut / Math.max(1, completions.length),
    ...(facts.resampled > 0 ? { resampled_groups: facts.resampled } : {}),
    num_tokens: facts.numTokens,
    step_time: facts.seconds,
  };
}

/** The figures of a refresh, for the row of the last step before it: what the policy was worth after that many updates. */
export function evaluationRow({ train, dev }: RoundEvaluation, k: number): Record<string, number> {
  return { [`eval/train/nDCG@${k}`]: train, ...(dev === null ? {} : { [`eval/dev/nDCG@${k}`]: dev }) };
}

/** All rewrites of the first few groups. */
export function completionRows(step: number, groups: readonly RewardedGroup[], documents: number): CompletionRow[] {
  return groups.slice(0, documents).flatMap((group) =>
    group.completions.map((completion, sample) => ({
      step,
      document: group.prompt.document.id,
      sample,
      reward: group.rewards[sample],
      advantage: group.advantages[sample],
      finish: completion.finish,
      text: completion.text,
      moves: group.moves[sample],
    })),
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
