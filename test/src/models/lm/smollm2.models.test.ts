/** A real model against PyTorch, Transformers and PEFT: test/golden/smollm2/README.md. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decode } from '../../../../src/models/lm/decoder.ts';
import { createLanguageModel, type LanguageModel } from '../../../../src/models/lm/language-model.ts';
import { type LoadedModel, loadModel } from '../../../../src/models/lm/load-model.ts';
import { type Adapter, gatherRows, ModelParts } from '../../../../src/models/lm/model-parts.ts';
import { createOnnxRuntime } from '../../../../src/models/runtimes/graph-onnxruntime.ts';
import { adamwStart, adamwStep, globalNorm } from '../../../../src/nn/adamw.ts';
import { type LoraConfig, loraParameters } from '../../../../src/nn/lora.ts';
import { LINEARS } from '../../../../src/nn/model-config.ts';
import { type PackedBatch, packGroups, type TokenGroup } from '../../../../src/nn/pack.ts';
import { golden, hasSmollm2, NEEDS_SMOLLM2, SMOLLM2 } from '../../../support/smollm2.ts';

interface GoldenPrompt {
  readonly text: string;
  readonly ids: readonly number[];
  readonly continuation: string;
  readonly continuation_ids: readonly number[];
  readonly last_logits_top20: readonly (readonly [number, number])[];
  readonly last_logits_stats: Readonly<Record<'mean' | 'std_pop' | 'min' | 'max' | 'logsumexp', number>>;
  readonly last_logits_at: Readonly<Record<string, number>>;
  readonly continuation_logprobs: readonly number[];
  readonly greedy16_ids: readonly number[];
}

interface GoldenLora {
  readonly r: number;
  readonly lora_alpha: number;
  readonly layers_to_transform: readonly number[] | null;
  readonly advantages: readonly number[];
  readonly loss: number;
  readonly token_logprobs: readonly (readonly number[])[];
  readonly total_grad_norm: number;
  readonly grads_norm_then_5_samples: Readonly<Record<string, readonly number[]>>;
  readonly 'loss_after_1_2_3_adamw_steps_lr1e-3_wd0.01': readonly number[];
  readonly first4_values?: Readonly<Record<string, readonly number[]>>;
}

describe.skipIf(!hasSmollm2)(`SmolLM2-135M-Instruct${NEEDS_SMOLLM2}`, () => {
  let loaded: LoadedModel;
  let model: LanguageModel;
  const { prompts } = golden<{ prompts: readonly GoldenPrompt[] }>('base.json');

  beforeAll(async () => {
    loaded = await loadModel(SMOLLM2);
    model = createLanguageModel(new ModelParts(await createOnnxRuntime(), loaded.config, loaded.weights));
  }, 300_000);
  afterAll(() => model?.parts.release());

  it('the configuration is that of the model card', () => {
    expect(loaded.config).toMatchObject({
      family: 'llama',
      vocabularySize: 49_152,
      hiddenSize: 576,
      intermediateSize: 1536,
      layers: 30,
      heads: 9,
      keyValueHeads: 3,
      headSize: 64,
      ropeTheta: 100_000,
      normEpsilon: 1e-5,
      tiedHead: true,
      maxPositions: 8192,
    });
  });

  it('texts become the same tokens, and come back', () => {
    for (const { text, ids, continuation, continuation_ids: more } of prompts) {
      expect([...loaded.tokenizer.encode(text)]).toEqual(ids);
      expect([...loaded.tokenizer.encode(continuation)]).toEqual(more);
    }
    expect(loaded.tokenizer.decode(prompts[2].ids)).toBe(prompts[2].text);
    expect([...loaded.tokenizer.endTokens]).toEqual([2]);
  });

  it('the chat template gives the same chat', () => {
    expect(loaded.tokenizer.renderChat([{ role: 'user', content: 'What is 2+3?' }])).toBe(prompts[1].text);
  });

  it('logits of the last position, and log-probabilities of the continuation', async () => {
    for (const prompt of prompts) {
      const batch = packGroups([
        { prompt: Int32Array.from(prompt.ids), completions: [Int32Array.from(prompt.continuation_ids)] },
      ]);
      const tape = await model.forward(batch, undefined, false);
      const logits = await model.parts.logits(gatherRows(tape.hidden, batch.lastPromptRows, 576));
      for (const [id, value] of prompt.last_logits_top20) expect(Math.abs(logits[id] - value)).toBeLessThan(1e-3);
      for (const [id, value] of Object.entries(prompt.last_logits_at)) {
        expect(Math.abs(logits[Number(id)] - value)).toBeLessThan(1e-3);
      }
      const mean = logits.reduce((sum, logit) => sum + logit, 0) / logits.length;
      const deviation = Math.sqrt(logits.reduce((sum, logit) => sum + (logit - mean) ** 2, 0) / logits.length);
      expect(mean).toBeCloseTo(prompt.last_logits_stats.mean, 4);
      expect(deviation).toBeCloseTo(prompt.last_logits_stats.std_pop, 4);
      const { logProbs } = await model.score(tape, 1);
      prompt.continuation_logprobs.forEach((value, t) => {
        expect(Math.abs(logProbs[t] - value)).toBeLessThan(1e-3);
      });
    }
  }, 300_000);

  it('greedy tokens, all prompts in one batch', async () => {
    const requests = prompts.map(({ ids }) => ({ prompt: Int32Array.from(ids), seeds: [1] }));
    const decoded = await decode(model.parts, requests, {
      temperature: 0,
      maxNewTokens: 16,
      endTokens: loaded.tokenizer.endTokens,
    });
    prompts.forEach(({ greedy16_ids: wanted }, p) => {
      expect([...decoded[p][0].tokens]).toEqual(wanted);
    });
  }, 300_000);

  it.each(['lora_small.json', 'lora_full.json'])(
    'loss, gradients and AdamW steps of %s',
    async (name) => {
      const expected = golden<GoldenLora>(name);
      const lora: LoraConfig = {
        rank: expected.r,
        alpha: expected.lora_alpha,
        targets: LINEARS,
        ...(expected.layers_to_transform === null ? {} : { layers: expected.layers_to_transform }),
      };
      const adapter: Adapter = { config: lora, weights: formulaWeights(loaded, lora, name === 'lora_small.json') };
      for (const [key, first] of Object.entries(expected.first4_values ?? {})) {
        expect([...adapter.weights.get(`model.${key}`)!.subarray(0, 4)].map((x) => Math.fround(x))).toEqual(
          first.map((x) => Math.fround(x)),
        );
      }
      const groups: TokenGroup[] = [0, 1].map((i) => ({
        prompt: Int32Array.from(prompts[i].ids),
        completions: [Int32Array.from(prompts[i].continuation_ids)],
      }));
      const batch = packGroups(groups);
      const slopes = slopesOf(batch, groups, expected.advantages);
      const lossOf = (logProbs: Float32Array): number => logProbs.reduce((sum, lp, t) => sum + lp * slopes[t], 0);

      const tape = await model.forward(batch, adapter, true);
      const { logProbs } = await model.score(tape, 1);
      expected.token_logprobs.flat().forEach((value, t) => {
        expect(Math.abs(logProbs[t] - value)).toBeLessThan(1e-3);
      });
      expect(Math.abs(lossOf(logProbs) - expected.loss)).toBeLessThan(1e-5);

      const gradients = new Map<string, Float32Array>();
      await model.backward(tape, slopes, 1, gradients);
      expect(globalNorm(gradients) / expected.total_grad_norm).toBeCloseTo(1, 4);
      expect(gradients.size).toBe(Object.keys(expected.grads_norm_then_5_samples).length);
      for (const [key, [norm, ...samples]] of Object.entries(expected.grads_norm_then_5_samples)) {
        const values = gradients.get(`model.${key}`)!;
        const n = values.length;
        expect(Math.abs(globalNorm(new Map([[key, values]])) - norm) / norm, key).toBeLessThan(1e-3);
        [0, Math.floor(n / 7), Math.floor(n / 3), Math.floor(n / 2), n - 1].forEach((at, i) => {
          // Relative to the typical element of the tensor: single elements may be near zero.
          expect(Math.abs(values[at] - samples[i]), `${key}[${at}]`).toBeLessThan(
            (1e-3 * norm) / Math.sqrt(n) + 1e-3 * Math.abs(samples[i]),
          );
        });
      }

      const optimiser = adamwStart();
      for (const after of expected['loss_after_1_2_3_adamw_steps_lr1e-3_wd0.01']) {
        adamwStep(adapter.weights, gradients, optimiser, 1e-3);
        gradients.clear();
        const next = await model.forward(batch, adapter, true);
        expect(Math.abs(lossOf((await model.score(next, 1)).logProbs) - after)).toBeLessThan(1e-4);
        await model.backward(next, slopes, 1, gradients);
      }
    },
    600_000,
  );
});

/** loss = -sum(advantage * log-probability) / tokens. */
function slopesOf(batch: PackedBatch, groups: readonly TokenGroup[], advantages: readonly number[]): Float32Array {
  const byToken = groups.flatMap(({ completions: [completion] }, g) => Array.from(completion, () => advantages[g]));
  return Float32Array.from(byToken, (advantage) => -advantage / batch.targets.length);
}

/** The hash formula of make_golden.py; `asBfloat16` rounds to bfloat16, as the small adapter was. */
function formulaWeights({ config }: LoadedModel, lora: LoraConfig, asBfloat16: boolean): Map<string, Float32Array> {
  return new Map(
    loraParameters(config, lora).map(({ name, shape }) => {
      let hash = 0x811c9dc5;
      for (const byte of new TextEncoder().encode(`base_model.model.${name}`))
        hash = Math.imul(hash ^ byte, 0x01000193);
      const scale = name.includes('lora_A') ? 0.05 : 0.02;
      const values = Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => {
        let x = (hash + Math.imul(i, 0x9e3779b9)) >>> 0;
        x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
        x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
        x = (x ^ (x >>> 16)) >>> 0;
        return (((x >>> 8) * 2) / 2 ** 24 - 1) * scale;
      });
      if (asBfloat16) {
        const bits = new Uint32Array(values.buffer);
        bits.forEach((word, i) => {
          bits[i] = (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000;
        });
      }
      return [name, values];
    }),
  );
}
