/** Whole tiny models of every family: both executors against a decoder written out in double precision. */
import { describe, expect, it } from 'vitest';
import { createLanguageModel } from '../../../../src/models/lm/language-model.ts';
import { type Adapter, ModelParts } from '../../../../src/models/lm/model-parts.ts';
import { initialLora, type LoraConfig } from '../../../../src/nn/lora.ts';
import { LINEARS, type ModelConfig } from '../../../../src/nn/model-config.ts';
import { packGroups, paddingShare, type TokenGroup } from '../../../../src/nn/pack.ts';
import { largestDifference, onnxRuntime, tfjsRuntime } from '../../../support/graph-runtimes.ts';
import { type PlainAdapter, plainLogProbs } from '../../../support/plain-transformer.ts';
import { randomTokens, randomWeights, TINY_MODELS } from '../../../support/tiny-models.ts';

const LORA: LoraConfig = { rank: 2, alpha: 4, targets: LINEARS };

/** Two prompts of different lengths; completions of different lengths, one of them empty. */
function groupsOf(config: ModelConfig): TokenGroup[] {
  const completions = (lengths: number[], seed: number): Int32Array[] =>
    lengths.map((length, i) => randomTokens(config, length, seed + i));
  return [
    { prompt: randomTokens(config, 5, 1), completions: completions([3, 1, 0], 10) },
    { prompt: randomTokens(config, 2, 2), completions: completions([2, 4], 20) },
  ];
}

function adapterOf(config: ModelConfig, lora: LoraConfig): Adapter {
  // B is drawn too: at its start of zero half of the gradients vanish.
  const weights = initialLora(config, lora, 3);
  for (const [name, values] of weights) {
    if (name.endsWith('lora_B.weight')) values.set(Float32Array.from(values, (_, i) => 0.3 * Math.sin(5 * i + 1)));
  }
  return { config: lora, weights };
}

const TEMPERATURE = 0.7;
const slopesOf = (count: number): Float32Array => Float32Array.from({ length: count }, (_, i) => Math.cos(2 * i));

function plainScores(
  config: ModelConfig,
  weights: ReadonlyMap<string, ArrayLike<number>>,
  adapter?: PlainAdapter,
): number[] {
  return groupsOf(config).flatMap(({ prompt, completions }) =>
    completions.flatMap((completion) => plainLogProbs(config, weights, prompt, completion, TEMPERATURE, adapter)),
  );
}

describe.each(Object.entries(TINY_MODELS))('%s', (_, config) => {
  const weights = randomWeights(config, 5);
  const groups = groupsOf(config);
  const adapter = adapterOf(config, LORA);

  it.each([
    ['without an adapter', undefined],
    ['with an adapter', adapter],
  ])('log-probabilities %s are those of the plain decoder', async (_, given) => {
    const batch = packGroups(groups, { promptMultiple: 4, lengthMultiple: 3 });
    expect(paddingShare(batch, groups)).toBeGreaterThan(0.3);
    for (const runtime of [onnxRuntime, tfjsRuntime]) {
      const model = createLanguageModel(new ModelParts(runtime, config, weights), { headRows: 4 });
      const { logProbs } = await model.score(await model.forward(batch, given, false), TEMPERATURE);
      expect(largestDifference(logProbs, plainScores(config, weights, given)), runtime.id).toBeLessThan(2e-6);
      await model.parts.release();
    }
  });

  it.each([
    ['all weights', undefined],
    ['an adapter', adapter],
  ])('gradients of %s are the finite differences of the plain decoder, whatever is recomputed', async (_, given) => {
    const batch = packGroups(groups, { promptMultiple: 4 });
    const slopes = slopesOf(batch.targets.length);
    const trained = given?.weights ?? weights;
    const results: Map<string, Float32Array>[] = [];
    for (const [runtime, recomputation] of [
      [onnxRuntime, 'cheap'],
      [onnxRuntime, 'all'],
      [tfjsRuntime, 'all'],
    ] as const) {
      const model = createLanguageModel(new ModelParts(runtime, config, weights), { headRows: 4, recomputation });
      const gradients = new Map<string, Float32Array>();
      await model.backward(await model.forward(batch, given, true), slopes, TEMPERATURE, gradients);
      results.push(gradients);
      await model.parts.release();
    }
    expect([...results[0].keys()].sort()).toEqual([...trained.keys()].sort());
    for (const [name, values] of trained) {
      for (const other of results.slice(1)) {
        expect(largestDifference(results[0].get(name)!, other.get(name)!), name).toBeLessThan(1e-4);
      }
      // A few elements of each tensor: the plain decoder is slow.
      for (const i of [0, Math.floor(values.length / 3), values.length - 1]) {
        const loss = (by: number): number => {
          const moved = Float64Array.from(values);
          moved[i] += by;
          const changed = new Map<string, ArrayLike<number>>(trained).set(name, moved);
          const scores = given
            ? plainScores(config, weights, { ...given, weights: changed })
            : plainScores(config, changed);
          return scores.reduce((sum, score, t) => sum + score * slopes[t], 0);
        };
        expect(results[0].get(name)![i], `${name}[${i}]`).toBeCloseTo((loss(1e-4) - loss(-1e-4)) / 2e-4, 4);
      }
    }
  });
});

describe('adapters', () => {
  const config = TINY_MODELS['llama, tied head'];
  const weights = randomWeights(config, 5);

  it('on some layers and maps only', async () => {
    const lora: LoraConfig = { rank: 2, alpha: 2, targets: ['self_attn.v_proj', 'mlp.up_proj'], layers: [1] };
    const adapter = adapterOf(config, lora);
    const batch = packGroups(groupsOf(config));
    const model = createLanguageModel(new ModelParts(onnxRuntime, config, weights));
    const tape = await model.forward(batch, adapter, true);
    const { logProbs } = await model.score(tape, TEMPERATURE);
    expect(largestDifference(logProbs, plainScores(config, weights, adapter))).toBeLessThan(2e-6);
    const gradients = new Map<string, Float32Array>();
    await model.backward(tape, slopesOf(batch.targets.length), TEMPERATURE, gradients);
    expect([...gradients.keys()].sort()).toEqual([...adapter.weights.keys()].sort());
    expect([...gradients.values()].every((values) => values.some((value) => value !== 0))).toBe(true);
    await model.parts.release();
  });

  it('fresh ones change nothing', async () => {
    const adapter: Adapter = { config: LORA, weights: initialLora(config, LORA, 1) };
    const batch = packGroups(groupsOf(config));
    const model = createLanguageModel(new ModelParts(onnxRuntime, config, weights));
    const [plain, adapted] = [
      await model.score(await model.forward(batch, undefined, false), 1),
      await model.score(await model.forward(batch, adapter, false), 1),
    ];
    expect(adapted.logProbs).toEqual(plain.logProbs);
    expect(adapted.entropy).toEqual(plain.entropy);
    await model.parts.release();
  });

  it('weights that do not fit are refused by name', () => {
    const missing = new Map(weights);
    missing.delete('model.layers.1.mlp.up_proj.weight');
    expect(() => new ModelParts(onnxRuntime, config, missing)).toThrow(
      /model\.layers\.1\.mlp\.up_proj\.weight.*missing/,
    );
  });
});
