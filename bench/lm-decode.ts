/**
 * Sampling from SmolLM2-135M: one completion, and 4 prompts of 256 tokens with 8 completions each, in single precision and in the
 * file's own bits (with an adapter of rank 8, as in training). Beside it, where DOCOPT_PEER_PYTHON names a Python that has them:
 * transformers' generate in single precision and llama.cpp on the same file. DOCOPT_BENCH_TOKENS: steps measured, default 24.
 */
import type { DecodeEngine } from '../src/models/lm/decode-batch.ts';
import { type DecodeRequest, decode } from '../src/models/lm/decoder.ts';
import { type Adapter, ModelParts } from '../src/models/lm/model-parts.ts';
import { createQuantisedEngine } from '../src/models/lm/quantised-engine.ts';
import { createOnnxRuntime } from '../src/models/runtimes/graph-onnxruntime.ts';
import { DEFAULT_LORA, initialLora } from '../src/nn/lora.ts';
import { benchModel, randomTokens, type Spent, timed } from './language-model.ts';
import { languageModelPeer } from './peer.ts';
import type { BenchResult } from './types.ts';

const NEW_TOKENS = Number(process.env.DOCOPT_BENCH_TOKENS ?? 24);
const GROUPS = 4;
const SAMPLES = 8;

export async function run(): Promise<BenchResult> {
  const loaded = await benchModel();
  const { config, weights } = loaded;
  const runtime = await createOnnxRuntime();
  const parts = new ModelParts(runtime, config, weights);
  const adapter: Adapter = { config: DEFAULT_LORA, weights: initialLora(config, DEFAULT_LORA, 1) };
  const q4 = createQuantisedEngine(loaded, runtime, 'q4');
  const requests = (prompts: number, samples: number): DecodeRequest[] =>
    Array.from({ length: prompts }, (_, p) => ({
      prompt: randomTokens(256, config.vocabularySize, p),
      seeds: Array.from({ length: samples }, (_, s) => 10 * p + s),
    }));
  /** One step: what more tokens take longer than one, shared out. */
  const step = async (prompts: number, samples: number, engine?: DecodeEngine, own?: Adapter): Promise<Spent> => {
    const decodeFor = (maxNewTokens: number): Promise<{ spent: Spent }> => {
      const options = { temperature: 1, topK: 20, maxNewTokens, endTokens: new Set<number>() };
      return timed(() => decode(parts, requests(prompts, samples), options, own, engine));
    };
    await decodeFor(2);
    const [one, all] = [await decodeFor(1), await decodeFor(1 + NEW_TOKENS)];
    return {
      seconds: (all.spent.seconds - one.spent.seconds) / NEW_TOKENS,
      cpuSeconds: (all.spent.cpuSeconds - one.spent.cpuSeconds) / NEW_TOKENS,
    };
  };
  const rows = GROUPS * SAMPLES;
  const steps: Record<string, Spent> = {
    B1: await step(1, 1),
    [`B${rows}`]: await step(GROUPS, SAMPLES),
    q4B1: await step(1, 1, q4),
    q4AdapterB1: await step(1, 1, q4, adapter),
    [`q4AdapterB${rows}`]: await step(GROUPS, SAMPLES, q4, adapter),
  };
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  await q4.release();
  await parts.release();
  const peer = await languageModelPeer('decode', loaded, GROUPS, NEW_TOKENS);
  const rate = (name: string, kind: keyof Spent): number => (name.endsWith(`B${rows}`) ? rows : 1) / steps[name][kind];
  return {
    name: 'lm-decode',
    figures: {
      ...Object.fromEntries(
        Object.keys(steps).flatMap((name) => [
          [`tokensPerSecond${name.charAt(0).toUpperCase()}${name.slice(1)}`, rate(name, 'seconds')],
          [`tokensPerCpuSecond${name.charAt(0).toUpperCase()}${name.slice(1)}`, rate(name, 'cpuSeconds')],
        ]),
      ),
      peakBytes,
      peer,
    },
    ratio: typeof peer === 'string' ? {} : ratios(peer, steps, rows),
  };
}

/** How many times as fast as the peer: by the clock, and by processor seconds. */
function ratios(
  peer: Readonly<Record<string, Spent>>,
  steps: Readonly<Record<string, Spent>>,
  rows: number,
): Record<string, number> {
  const pairs: Readonly<Record<string, readonly [theirs: string, ours: string]>> = {
    huggingFaceB1: ['huggingFaceStepB1', 'B1'],
    [`huggingFaceB${rows}`]: [`huggingFaceStepB${rows}`, `B${rows}`],
    llamaCppB1: ['llamaCppStepB1', 'q4B1'],
  };
  return Object.fromEntries(
    Object.entries(pairs)
      .filter(([, [theirs]]) => peer[theirs] !== undefined)
      .flatMap(([name, [theirs, ours]]) => [
        [name, peer[theirs].seconds / steps[ours].seconds],
        [`${name}Cpu`, peer[theirs].cpuSeconds / steps[ours].cpuSeconds],
      ]),
  );
}
