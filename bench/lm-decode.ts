/** Sampling from SmolLM2-135M in single precision: one completion, and 4 prompts of 256 tokens with 8 completions each. */
import { type DecodeRequest, decode } from '../src/models/lm/decoder.ts';
import { ModelParts } from '../src/models/lm/model-parts.ts';
import { createOnnxRuntime } from '../src/models/runtimes/graph-onnxruntime.ts';
import { benchModel, randomTokens, type Spent, timed } from './language-model.ts';
import type { BenchResult } from './types.ts';

const NEW_TOKENS = 24;

export async function run(): Promise<BenchResult> {
  const { config, weights } = await benchModel();
  const parts = new ModelParts(await createOnnxRuntime(), config, weights);
  const requests = (prompts: number, samples: number): DecodeRequest[] =>
    Array.from({ length: prompts }, (_, p) => ({
      prompt: randomTokens(256, config.vocabularySize, p),
      seeds: Array.from({ length: samples }, (_, s) => 10 * p + s),
    }));
  /** Steps alone: what more tokens take longer than one. */
  const steps = async (prompts: number, samples: number): Promise<Spent> => {
    const decodeFor = (maxNewTokens: number): Promise<{ spent: Spent }> =>
      timed(() =>
        decode(parts, requests(prompts, samples), { temperature: 1, topK: 20, maxNewTokens, endTokens: new Set() }),
      );
    await decodeFor(2);
    const [one, all] = [await decodeFor(1), await decodeFor(1 + NEW_TOKENS)];
    return {
      seconds: all.spent.seconds - one.spent.seconds,
      cpuSeconds: all.spent.cpuSeconds - one.spent.cpuSeconds,
    };
  };
  const single = await steps(1, 1);
  const batch = await steps(4, 8);
  await parts.release();
  return {
    name: 'lm-decode',
    figures: {
      tokensPerSecondB1: NEW_TOKENS / single.seconds,
      tokensPerSecondB32: (32 * NEW_TOKENS) / batch.seconds,
      tokensPerCpuSecondB1: NEW_TOKENS / single.cpuSeconds,
      tokensPerCpuSecondB32: (32 * NEW_TOKENS) / batch.cpuSeconds,
      peakBytes: process.resourceUsage().maxRSS * 1024,
    },
    ratio: {},
  };
}
