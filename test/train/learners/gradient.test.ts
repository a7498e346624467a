import { describe, expect, it } from 'vitest';
import type { Completion, RewardedGroup } from '../../../src/types.ts';
import { groupAdvantages } from '../../../train/kernels/advantages.ts';
import type { LossAggregation } from '../../../train/kernels/grpo-loss.ts';
import { createGradientLearner, type GradientOptions } from '../../../train/learners/gradient.ts';
import { PRESETS } from '../../../train/options.ts';
import { type ClassPolicy, createClassPolicy } from '../../support/class-policy.ts';
import { createTrainingWorld } from '../../support/training-world.ts';

const world = createTrainingWorld(1);
const options = (over: Partial<GradientOptions> = {}): GradientOptions => ({ ...PRESETS.edit, beta: 0.1, ...over });
const newPolicy = (): ClassPolicy => createClassPolicy(3, world.candidatesOf, -0.5);

/** Groups whose reward is how many words of class 0 a completion has, less those of class 1. */
async function groupsOf(policy: ClassPolicy, documents: number, samples: number): Promise<RewardedGroup[]> {
  const prompts = Array.from({ length: documents }, (_, i) => ({
    document: { id: `d${i}`, text: world.corpus.indexText(i) },
  }));
  const answers = await policy.generate(prompts, { samples, temperature: 1, seed: 5 });
  const rewards = answers.map((group) =>
    Float64Array.from(group, ({ tokens }) => tokens[0] + tokens[1] - tokens[2] - tokens[3]),
  );
  const { advantages } = groupAdvantages(rewards, 'group');
  return answers.map((completions, i) => ({
    prompt: prompts[i],
    completions,
    rewards: rewards[i],
    advantages: advantages[i],
    moves: [],
  }));
}

async function stepped(over: Partial<GradientOptions>): Promise<number[]> {
  const policy = newPolicy();
  const learner = createGradientLearner(policy, options(over));
  const groups = await groupsOf(policy, 4, 8);
  await learner.step(groups, 0.1);
  await learner.step(groups, 0.1);
  return [...policy.weights];
}

describe('createGradientLearner', () => {
  it.each(['grpo', 'dapo', 'dr_grpo'] satisfies LossAggregation[])(
    '%s: one batch of 32 makes the same update as 4 of 8',
    async (loss) => {
      const whole = await stepped({ loss });
      expect(await stepped({ loss, microBatch: 8 })).toEqual(whole);
      expect(await stepped({ loss, microBatch: 5 })).toEqual(whole);
      expect(whole).not.toEqual([-0.5, -0.5, -0.5]);
    },
  );

  it('moves towards what is rewarded', async () => {
    const policy = newPolicy();
    const learner = createGradientLearner(policy, options({ beta: 0 }));
    for (let i = 0; i < 30; i++) await learner.step(await groupsOf(policy, 8, 8), 0.1);
    expect(policy.weights[0]).toBeGreaterThan(0.5);
    expect(policy.weights[1]).toBeLessThan(-1);
  });

  it('leaves the weights alone when no group has spread, momentum or not', async () => {
    const policy = newPolicy();
    const learner = createGradientLearner(policy, options());
    const groups = await groupsOf(policy, 4, 8);
    await learner.step(groups, 0.1);
    const before = [...policy.weights];
    const silent = groups.map((group) => ({ ...group, advantages: new Float64Array(8) }));
    expect(await learner.step(silent, 0.1)).toEqual({});
    expect([...policy.weights]).toEqual(before);
    expect(policy.updates()).toBe(1);
  });

  it('does not even ask for the log-probs of groups without spread', async () => {
    const policy = newPolicy();
    const asked: (readonly Completion[])[] = [];
    const watched = {
      ...policy,
      logProbs: (completions: readonly Completion[], which: 'current' | 'reference') => {
        asked.push(completions);
        return policy.logProbs(completions, which);
      },
    };
    const learner = createGradientLearner(watched, options());
    const groups = await groupsOf(policy, 2, 8);
    await learner.step([groups[0], { ...groups[1], advantages: new Float64Array(8) }], 0.1);
    expect(asked.map(({ length }) => length)).toEqual([8, 8]);
  });

  it('reports the KL to the anchor: 0 at first, then not; after re-anchoring 0 again', async () => {
    const policy = newPolicy();
    const learner = createGradientLearner(policy, options({ klAnchor: 'round' }));
    const groups = await groupsOf(policy, 8, 8);
    const first = await learner.step(groups, 0.1);
    expect(first.kl).toBe(0);
    expect(first.clip_ratio).toBe(0);
    expect(first.entropy).toBeGreaterThan(0);
    const second = await learner.step(groups, 0.1);
    expect(second.kl).toBeGreaterThan(0);
    learner.onRefresh?.();
    expect((await learner.step(groups, 0.1)).kl).toBe(0);
  });

  it('keeps the first anchor otherwise, and asks for none when beta is 0', async () => {
    const policy = newPolicy();
    const learner = createGradientLearner(policy, options());
    const groups = await groupsOf(policy, 8, 8);
    await learner.step(groups, 0.1);
    learner.onRefresh?.();
    expect((await learner.step(groups, 0.1)).kl).toBeGreaterThan(0);
    const free = createGradientLearner(newPolicy(), options({ beta: 0 }));
    expect(await free.step(groups, 0.1)).not.toHaveProperty('kl');
  });

  it('clips once several updates are made from one batch', async () => {
    const policy = newPolicy();
    const learner = createGradientLearner(policy, options({ iterations: 6, beta: 0 }));
    const metrics = await learner.step(await groupsOf(policy, 8, 8), 0.3);
    expect(policy.updates()).toBe(6);
    expect(metrics.clip_ratio).toBeGreaterThan(0);
    expect(metrics.clip_ratio).toBeCloseTo(metrics['clip_ratio/low_mean'] + metrics['clip_ratio/high_mean'], 12);
  });
});
