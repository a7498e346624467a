import { afterAll, describe, expect, it } from 'vitest';
import { lmPolicySchema } from '../../../../../src/config/specs.ts';
import { createLmPolicy, type LmPolicy } from '../../../../../src/models/policies/lm/lm-policy.ts';
import type { Completion, Prompt, RewardedGroup, Sampling } from '../../../../../src/types.ts';
import { groupAdvantages } from '../../../../../train/kernels/advantages.ts';
import { createGradientLearner, type GradientOptions } from '../../../../../train/learners/gradient.ts';
import { onnxRuntime } from '../../../../support/graph-runtimes.ts';
import { randomWeights } from '../../../../support/tiny-models.ts';
import { LETTERS, TOY_CONFIG, toyModel } from '../../../../support/toy-language-model.ts';
import { memoryArtefact } from '../edit/memory-artefact.ts';

const prompts: Prompt[] = ['abc', 'fedcba', 'p'].map((text, i) => ({ document: { id: `d${i}`, text } }));
const SAMPLING: Sampling = { samples: 4, temperature: 0.8, maxNewTokens: 6, seed: 1 };

const made: LmPolicy[] = [];
async function policyOf(settings: object = {}): Promise<LmPolicy> {
  const spec = lmPolicySchema.parse({ driver: 'lm', path: 'toy', ...settings });
  const policy = createLmPolicy(spec, await toyModel(), onnxRuntime, 7);
  made.push(policy);
  return policy;
}
afterAll(() => Promise.all(made.map((policy) => policy.release())));

const OPTIONS: GradientOptions = {
  loss: 'dapo',
  clipLow: 0.2,
  clipHigh: 0.2,
  beta: 0,
  klAnchor: 'initial',
  iterations: 1,
  microBatch: 0,
  rollout: { temperature: 1, maxNewTokens: 6 },
};

function grouped(answers: readonly Completion[][], reward: (completion: Completion) => number): RewardedGroup[] {
  const rewards = answers.map((group) => Float64Array.from(group, reward));
  const { advantages } = groupAdvantages(rewards, 'group');
  return answers.map((completions, i) => ({
    prompt: completions[0].prompt,
    completions,
    rewards: rewards[i],
    advantages: advantages[i],
    moves: [],
  }));
}

describe('weights in few bits', () => {
  // The toy with its feed-forward layer as wide as whole blocks.
  const wide = { ...TOY_CONFIG, intermediateSize: 64, headSize: 16, hiddenSize: 64 };

  it('say nearly what all bits say, follow the adapter, and the log-probabilities stay those of all bits', async () => {
    const loaded = { ...(await toyModel()), config: wide, weights: randomWeights(wide, 3) };
    const [exact, int8] = ['fp32', 'int8'].map((precision) => {
      const spec = lmPolicySchema.parse({ driver: 'lm', path: 'toy', precision });
      const policy = createLmPolicy(spec, loaded, onnxRuntime, 7);
      made.push(policy);
      return policy;
    });
    expect(int8.id).toBe(exact.id.replace(/\)$/, ', int8)'));
    const answers = await int8.generate(prompts, { ...SAMPLING, temperature: 1 });
    expect(answers.map((group) => group.length)).toEqual([4, 4, 4]);
    const own = await int8.logProbs(answers.flat(), 'current');
    expect(own).toEqual(await exact.logProbs(answers.flat(), 'current'));
    answers.flat().forEach(({ logProbs }, i) => {
      for (const [t, value] of logProbs.entries()) expect(Math.abs(value - own[i][t])).toBeLessThan(0.2);
    });
    const greedy = { ...SAMPLING, samples: 1, temperature: 0 };
    const before = await int8.generate(prompts, greedy);
    const slopes = answers.flat().map(({ tokens }) => new Float64Array(tokens.length).fill(-1));
    for (let step = 0; step < 5; step++) await int8.applyGradient(answers.flat(), slopes, 0.05);
    expect((await int8.generate(prompts, greedy)).flat().map(({ tokens }) => [...tokens])).not.toEqual(
      before.flat().map(({ tokens }) => [...tokens]),
    );
  });

  it('are refused where all weights are trained', async () => {
    await expect(policyOf({ precision: 'q4', training: 'full' })).rejects.toMatchObject({ code: 'CONFIG' });
  });
});

describe('generate', () => {
  it('always as many as asked; the text is the document with the answer below, or the answer', async () => {
    const appending = await policyOf();
    const answers = await appending.generate(prompts, SAMPLING);
    expect(answers.map((group) => group.length)).toEqual([4, 4, 4]);
    answers.flat().forEach(({ text, prompt, tokens, logProbs, finish }) => {
      expect(text.startsWith(prompt.document.text)).toBe(true);
      expect(logProbs.length).toBe(tokens.length);
      expect(['stop', 'length']).toContain(finish);
    });
    const replacing = await policyOf({ output: 'replace' });
    const other = await replacing.generate(prompts, SAMPLING);
    expect(other.flat().map(({ tokens }) => tokens)).toEqual(answers.flat().map(({ tokens }) => tokens));
    expect(other[0][0].text).toBe(answers[0][0].text.slice('abc'.length).trim());
  });

  it('the same seed gives the same text, another seed another, whatever the batch', async () => {
    const policy = await policyOf();
    const small = await policyOf({ batchSize: 1 });
    const first = await policy.generate(prompts, SAMPLING);
    expect(await policy.generate(prompts, SAMPLING)).toEqual(first);
    const texts = (answers: Completion[][]): string[] => answers.flat().map(({ text }) => text);
    expect(texts(await small.generate([...prompts].reverse(), SAMPLING)).sort()).toEqual(texts(first).sort());
    expect(texts(await policy.generate(prompts, { ...SAMPLING, seed: 2 }))).not.toEqual(texts(first));
  });

  it('ends at a stop string, which is not part of the text', async () => {
    const policy = await policyOf({ output: 'replace' });
    const free = await policy.generate(prompts, { ...SAMPLING, maxNewTokens: 20 });
    const letter = free[0][0].text.replaceAll(' ', '').charAt(1);
    const stopped = await policy.generate(prompts, { ...SAMPLING, maxNewTokens: 20, stop: [letter] });
    for (const { text, finish } of stopped.flat()) {
      expect(text).not.toContain(letter);
      expect(['stop', 'length']).toContain(finish);
    }
    expect(stopped.flat().some(({ finish }) => finish === 'stop')).toBe(true);
  });

  it('prompts are cut to their limit, document first', async () => {
    const policy = await policyOf({ maxPromptTokens: 16 });
    const long = { document: { id: 'long', text: 'abcdefgh'.repeat(40) } };
    const [[{ text }]] = await policy.generate([long], { ...SAMPLING, samples: 1 });
    expect(text.startsWith(long.document.text)).toBe(true);
  });
});

describe('log-probabilities', () => {
  it('are those it was sampled with, under both weights before any training', async () => {
    const policy = await policyOf();
    const completions = (await policy.generate(prompts, SAMPLING)).flat();
    for (const weights of ['current', 'reference'] as const) {
      const rows = await policy.logProbs(completions, weights);
      rows.forEach((row, c) => {
        row.forEach((value, t) => {
          expect(value).toBeCloseTo(completions[c].logProbs[t], 4);
        });
      });
    }
    expect(await policy.entropy(completions)).toBeGreaterThan(0);
  });

  it.each([{}, { training: 'full' }, { recomputation: 'all' }])(
    'one pass and many passes teach the same: %j',
    async (settings) => {
      const whole = await policyOf(settings);
      // A few rows a pass.
      const parts = await policyOf({ ...settings, memoryGb: 2e-4 });
      const completions = (await whole.generate(prompts, SAMPLING)).flat();
      const slopes = completions.map(({ tokens }, c) => Float64Array.from(tokens, (_, t) => Math.sin(c + 2 * t) / 20));
      for (const policy of [whole, parts]) {
        await policy.logProbs(completions, 'current');
        await policy.applyGradient(completions, slopes, 0.01);
      }
      const [a, b] = [await whole.logProbs(completions, 'current'), await parts.logProbs(completions, 'current')];
      const before = await whole.logProbs(completions, 'reference');
      a.forEach((row, c) => {
        row.forEach((value, t) => {
          expect(value).toBeCloseTo(b[c][t], 3);
          expect(before[c][t]).toBeCloseTo(completions[c].logProbs[t], 4);
        });
      });
      expect(a).not.toEqual(before);
    },
  );
});

describe('training', () => {
  it.each([
    ['an adapter', { training: 'lora', rank: 8, alpha: 16 }, 0.03],
    ['all weights', { training: 'full' }, 0.01],
  ])('%s learns a toy reward from about .1 to above .9', async (_, settings, rate) => {
    const policy = await policyOf({ ...settings, output: 'replace' });
    const learner = createGradientLearner(policy, OPTIONS);
    const wanted = LETTERS.indexOf('d');
    // Of the letters; the token that ends an answer is none.
    const share = ({ tokens }: Completion): number => {
      const letters = tokens.filter((token) => token < LETTERS.length);
      return letters.filter((token) => token === wanted).length / Math.max(1, letters.length);
    };
    const mean = (answers: Completion[][]): number =>
      answers.flat().reduce((sum, one) => sum + share(one), 0) / answers.flat().length;
    const sampling: Sampling = { samples: 8, temperature: 1, maxNewTokens: 6, seed: 1 };
    const before = mean(await policy.generate(prompts, { ...sampling, samples: 32, seed: 999 }));
    expect(before).toBeLessThan(0.2);
    for (let step = 0; step < 60; step++) {
      const answers = await policy.generate(prompts, { ...sampling, seed: 10 + step });
      await learner.step(grouped(answers, share), rate);
    }
    expect(mean(await policy.generate(prompts, { ...sampling, samples: 32, seed: 999 }))).toBeGreaterThan(0.9);
  });

  it('saved and loaded, it goes on as if it had not stopped', async () => {
    const series = async (stops: boolean): Promise<Float64Array[]> => {
      let policy = await policyOf({ output: 'replace' });
      let learner = createGradientLearner(policy, { ...OPTIONS, beta: 0.1 });
      for (let step = 0; step < 4; step++) {
        if (stops && step === 2) {
          const artefact = memoryArtefact();
          await learner.save(artefact);
          policy = await policyOf({ output: 'replace' });
          learner = createGradientLearner(policy, { ...OPTIONS, beta: 0.1 });
          await learner.load(artefact);
        }
        const answers = await policy.generate(prompts, { ...SAMPLING, seed: step });
        await learner.step(
          grouped(answers, ({ tokens }) => tokens[0] % 3),
          0.01,
        );
      }
      const completions = (await policy.generate(prompts, SAMPLING)).flat();
      return [...(await policy.logProbs(completions, 'current')), ...(await policy.logProbs(completions, 'reference'))];
    };
    expect(await series(true)).toEqual(await series(false));
  });
});
