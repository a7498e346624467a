import { afterAll, describe, expect, it } from 'vitest';
import { lmPolicySchema } from '../../../../../src/config/specs.ts';
import { createLanguageModel } from '../../../../../src/models/lm/language-model.ts';
import { ModelParts } from '../../../../../src/models/lm/model-parts.ts';
import { createLmPolicy } from '../../../../../src/models/policies/lm/lm-policy.ts';
import { rehearseStep, type StepPlan } from '../../../../../src/models/policies/lm/rehearse.ts';
import { stepMemory } from '../../../../../src/nn/memory.ts';
import { packGroups } from '../../../../../src/nn/pack.ts';
import type { Prompt, Sampling } from '../../../../../src/types.ts';
import { onnxRuntime } from '../../../../support/graph-runtimes.ts';
import { toyModel } from '../../../../support/toy-language-model.ts';

const loaded = await toyModel();
const parts = new ModelParts(onnxRuntime, loaded.config, loaded.weights);
afterAll(() => parts.release());
const prompts: Prompt[] = ['abc', 'fedcbaabcdefgh', 'p'].map((text, i) => ({ document: { id: `d${i}`, text } }));
const SAMPLING: Sampling = { samples: 3, temperature: 1, maxNewTokens: 5, seed: 1 };

describe('a step tried out', () => {
  it.each(['cheap', 'all'] as const)('what is kept is counted to the byte: %s', async (recomputation) => {
    const own = new ModelParts(onnxRuntime, loaded.config, loaded.weights);
    const model = createLanguageModel(own, { recomputation, headRows: 8 });
    const batch = packGroups([
      { prompt: Int32Array.of(1, 2, 3), completions: [Int32Array.of(4, 5), Int32Array.of(6)] },
      { prompt: Int32Array.of(1), completions: [Int32Array.of(4, 5, 6, 7)] },
    ]);
    const { layers } = await model.forward(batch, undefined, true);
    const bytes = layers!.flatMap((kept) => Object.values(kept)).reduce((sum, { byteLength }) => sum + byteLength, 0);
    await own.release();
    const { kept } = stepMemory(loaded.config, batch.layout, { recomputation, headRows: 8, trained: 0 });
    expect(kept).toBe(bytes);
  });

  it('takes the longest documents, and changes nothing', async () => {
    const spec = lmPolicySchema.parse({ driver: 'lm', path: 'toy' });
    const [tried, other] = [createLmPolicy(spec, loaded, onnxRuntime, 7), createLmPolicy(spec, loaded, onnxRuntime, 7)];
    const rehearsal = await tried.rehearse(prompts, 2, SAMPLING);
    // Two prompts of 32 padded tokens, three answers each of 16 padded ones.
    expect(rehearsal).toMatchObject({ passes: 1, promptTokens: 32, rows: 2 * (32 + 3 * 16) });
    expect(rehearsal.peakBytes).toBeGreaterThan(rehearsal.estimatedBytes);
    expect(await tried.generate(prompts, SAMPLING)).toEqual(await other.generate(prompts, SAMPLING));
    await tried.release();
    await other.release();
  });

  it('says what needs how much and what helps when it does not fit', async () => {
    const plan: StepPlan = {
      model: createLanguageModel(parts),
      adapter: undefined,
      trained: 1000,
      recomputation: 'cheap',
      maxRows: 1000,
      promptTokens: ({ document }) => loaded.tokenizer.encode(document.text),
      available: 1e5,
    };
    const asked = { ...SAMPLING, maxNewTokens: 5 };
    await expect(rehearseStep(prompts, asked, plan)).rejects.toMatchObject({
      code: 'ENVIRONMENT',
      message: expect.stringMatching(/240 rows.* needs about .* GB beside the model; 0.000 GB are free/),
      hint: expect.stringContaining('policy.memoryGb'),
    });
    const broken = { ...plan.model, forward: () => Promise.reject(new RangeError('Array buffer allocation failed')) };
    await expect(rehearseStep(prompts, asked, { ...plan, model: broken, available: 1e12 })).rejects.toMatchObject({
      code: 'ENVIRONMENT',
      message: expect.stringContaining('memory ran out'),
    });
  });

  it('knows which documents are cut', async () => {
    const spec = lmPolicySchema.parse({ driver: 'lm', path: 'toy', maxPromptTokens: 16 });
    const policy = createLmPolicy(spec, loaded, onnxRuntime, 7);
    const long: Prompt = { document: { id: 'long', text: 'abcdefgh'.repeat(5) } };
    expect([...prompts, long].map((prompt) => policy.truncates(prompt))).toEqual([false, false, false, true]);
    const [[{ tokens }]] = await policy.generate([long], { ...SAMPLING, samples: 1 });
    expect(tokens.length).toBeGreaterThan(0);
  });
});
