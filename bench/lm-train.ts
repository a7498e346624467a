/**
 * One GRPO update of SmolLM2-135M with an adapter of rank 8: 4 groups of 8 completions of 64 tokens after prompts of 256;
 * log-probabilities, backward pass, clipping, AdamW. Sampling is lm-decode. The first update compiles the graphs and is not
 * counted. Beside it, where DOCOPT_PEER_PYTHON names a Python that has them: torch, transformers and peft, every completion with
 * its prompt (with bf16 autocast too when DOCOPT_PEER holds bf16). DOCOPT_BENCH_GROUPS: groups, default 4.
 */
import { createLanguageModel, HEAD_ROWS } from '../src/models/lm/language-model.ts';
import { ModelParts } from '../src/models/lm/model-parts.ts';
import { createOnnxRuntime } from '../src/models/runtimes/graph-onnxruntime.ts';
import { adamwStart, adamwStep, clipGradients } from '../src/nn/adamw.ts';
import { rowsOf } from '../src/nn/attention.ts';
import { DEFAULT_LORA, initialLora } from '../src/nn/lora.ts';
import { stepMemory } from '../src/nn/memory.ts';
import { packGroups } from '../src/nn/pack.ts';
import { benchModel, randomTokens, type Spent, timed } from './language-model.ts';
import { languageModelPeer } from './peer.ts';
import type { BenchResult } from './types.ts';

const GROUPS = Number(process.env.DOCOPT_BENCH_GROUPS ?? 4);
const SAMPLES = 8;
const PROMPT = 256;
const COMPLETION = 64;

export async function run(): Promise<BenchResult> {
  const loaded = await benchModel();
  const { config, weights } = loaded;
  const model = createLanguageModel(new ModelParts(await createOnnxRuntime(), config, weights));
  const adapter = { config: DEFAULT_LORA, weights: initialLora(config, DEFAULT_LORA, 1) };
  const optimiser = adamwStart();
  const batch = packGroups(
    Array.from({ length: GROUPS }, (_, g) => ({
      prompt: randomTokens(PROMPT, config.vocabularySize, g),
      completions: Array.from({ length: SAMPLES }, (_, s) =>
        randomTokens(COMPLETION, config.vocabularySize, 99 * g + s),
      ),
    })),
  );
  const slopes = Float32Array.from(batch.targets, (_, t) => Math.sin(t) / batch.targets.length);
  const update = async (): Promise<Record<string, Spent>> => {
    const gradients = new Map<string, Float32Array>();
    const forward = await timed(() => model.forward(batch, adapter, true));
    const score = await timed(() => model.score(forward.result, 1));
    const backward = await timed(() => model.backward(forward.result, slopes, 1, gradients));
    const optimise = await timed(async () => {
      clipGradients(gradients, 1);
      adamwStep(adapter.weights, gradients, optimiser, 1e-4);
    });
    return { forward: forward.spent, score: score.spent, backward: backward.spent, optimise: optimise.spent };
  };
  await update();
  const { result: parts, spent } = await timed(update);
  await model.parts.release();
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const peer = await languageModelPeer('train', loaded, GROUPS, 0);
  const trained = [...adapter.weights.values()].reduce((sum, { length }) => sum + length, 0);
  const memory = stepMemory(config, batch.layout, { recomputation: 'cheap', headRows: HEAD_ROWS, trained });
  const sequenceTokens = GROUPS * SAMPLES * (PROMPT + COMPLETION);
  return {
    name: 'lm-train',
    figures: {
      // As a trainer counts that reads every completion with its prompt: what a user compares by.
      tokensPerSecond: sequenceTokens / spent.seconds,
      updateSeconds: spent.seconds,
      updateCpuSeconds: spent.cpuSeconds,
      peakBytes,
      // Of the step, and the weights: to be held against the peak.
      estimatedBytes: memory.kept + memory.passing + memory.optimiser + 4 * modelSize(weights),
      peer,
      rows: rowsOf(batch.layout),
      sequenceTokens,
      parts: Object.fromEntries(
        Object.entries(parts).map(([name, { cpuSeconds }]) => [name, Number(cpuSeconds.toFixed(2))]),
      ),
    },
    ratio:
      typeof peer === 'string'
        ? {}
        : Object.fromEntries(
            Object.entries(peer).flatMap(([name, theirs]) => [
              [name, theirs.seconds / spent.seconds],
              [`${name}Cpu`, theirs.cpuSeconds / spent.cpuSeconds],
            ]),
          ),
  };
}

function modelSize(weights: ReadonlyMap<string, Float32Array>): number {
  return [...weights.values()].reduce((sum, { length }) => sum + length, 0);
}
