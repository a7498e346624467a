/**
 * Group-relative advantages (GRPO): A = (r - mean of its group) / (std + 1e-4), sample deviation. A group whose rewards
 * are all equal teaches nothing: its advantages are exactly 0, which is how a learner knows to leave it out.
 */
export type AdvantageScale = 'none' | 'group' | 'batch';

export interface Advantages {
  /** advantages[group][sample]. */
  readonly advantages: readonly Float64Array[];
  /** Share of groups without spread: frac_reward_zero_std. */
  readonly zeroSpread: number;
  /** Mean reward over all samples. */
  readonly reward: number;
  /** Mean of the groups' sample deviations. */
  readonly rewardStd: number;
}

const EPSILON = 1e-4;

export function groupAdvantages(rewards: readonly Float64Array[], scale: AdvantageScale): Advantages {
  const batchStd = scale === 'batch' ? sampleStd(concatenate(rewards)) : 0;
  let zero = 0;
  let stdSum = 0;
  let sum = 0;
  let count = 0;
  const advantages = rewards.map((group) => {
    for (const reward of group) sum += reward;
    count += group.length;
    if (!hasSpread(group)) {
      zero++;
      return new Float64Array(group.length);
    }
    const center = mean(group);
    const std = sampleStd(group);
    stdSum += std;
    const divisor = scale === 'none' ? 1 : (scale === 'group' ? std : batchStd) + EPSILON;
    return group.map((reward) => (reward - center) / divisor);
  });
  const groups = Math.max(1, rewards.length);
  return { advantages, zeroSpread: zero / groups, reward: count === 0 ? 0 : sum / count, rewardStd: stdSum / groups };
}

/** False when every reward of the group is the same number; rounding in a mean must not invent a signal. */
export function hasSpread(rewards: Float64Array): boolean {
  for (let i = 1; i < rewards.length; i++) if (rewards[i] !== rewards[0]) return true;
  return false;
}

function mean(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

function sampleStd(values: Float64Array): number {
  if (values.length < 2) return 0;
  const center = mean(values);
  let squares = 0;
  for (const value of values) squares += (value - center) ** 2;
  return Math.sqrt(squares / (values.length - 1));
}

function concatenate(rows: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(rows.reduce((size, row) => size + row.length, 0));
  let offset = 0;
  for (const row of rows) {
    all.set(row, offset);
    offset += row.length;
  }
  return all;
}
