/** Decoding in few bits, against the plain decoder on what the bits stand for: what is left is x in eight bits. */
import { afterAll, describe, expect, it } from 'vitest';
import { decode } from '../../../../src/models/lm/decoder.ts';
import { BLOCK_FORMATS } from '../../../../src/models/lm/gguf-blocks.ts';
import { type Adapter, ModelParts } from '../../../../src/models/lm/model-parts.ts';
import { createQuantisedEngine } from '../../../../src/models/lm/quantised-engine.ts';
import { fromBlocks } from '../../../../src/models/lm/stored-bits.ts';
import { initialLora } from '../../../../src/nn/lora.ts';
import { LINEARS, layerPrefix, linearShape, type ModelConfig } from '../../../../src/nn/model-config.ts';
import { dequantise, quantise, stack } from '../../../../src/nn/n-bits.ts';
import { largestDifference, onnxRuntime } from '../../../support/graph-runtimes.ts';
import { plainLogProbs } from '../../../support/plain-transformer.ts';
import { randomTokens, randomWeights, TINY_MODELS } from '../../../support/tiny-models.ts';

const WIDE = { vocabularySize: 50, hiddenSize: 64, intermediateSize: 96, heads: 4, keyValueHeads: 2, headSize: 16 };
const CONFIGS: Record<string, ModelConfig> = Object.fromEntries(
  Object.entries(TINY_MODELS).map(([name, config]) => [name, { ...config, ...WIDE }]),
);
const LORA = { rank: 2, alpha: 4, targets: LINEARS };

/** The weights as they are after rounding, as the engine rounds them. */
function rounded(
  config: ModelConfig,
  weights: ReadonlyMap<string, Float32Array>,
  bits: 4 | 8,
): Map<string, Float32Array> {
  const out = new Map(weights);
  for (let layer = 0; layer < config.layers; layer++) {
    for (const linear of LINEARS) {
      const name = `${layerPrefix(layer)}${linear}.weight`;
      out.set(name, dequantise(quantise(weights.get(name)!, linearShape(config, linear)[1], bits)));
    }
  }
  return out;
}

describe('bits', () => {
  it('rounding is off by half a step at most, and rounding again by nothing', () => {
    const values = Float32Array.from({ length: 4 * 64 }, (_, i) => Math.sin(i * i) * (1 + (i % 7)));
    for (const bits of [4, 8] as const) {
      const once = quantise(values, 64, bits);
      const back = dequantise(once);
      values.forEach((value, i) => {
        expect(Math.abs(value - back[i])).toBeLessThan(0.5001 * once.scales[i >> 5] + 1e-6);
      });
      const twice = dequantise(quantise(back, 64, bits));
      expect(largestDifference(twice, back)).toBeLessThan(1e-5);
    }
    expect([...dequantise(quantise(new Float32Array(32), 32, 8))]).toEqual([...new Float32Array(32)]);
    expect([...dequantise(quantise(new Float32Array(32).fill(0.5), 32, 4))]).toEqual([
      ...new Float32Array(32).fill(0.5),
    ]);
  });

  it('rows below each other', () => {
    const [a, b] = [1, 2].map((seed) => Float32Array.from({ length: 96 }, (_, i) => Math.cos(seed * i)));
    const stacked = stack([quantise(a, 32, 4), quantise(b, 32, 4)]);
    expect([...dequantise(stacked)]).toEqual([...dequantise(quantise(a, 32, 4)), ...dequantise(quantise(b, 32, 4))]);
  });

  it.each(['Q4_0', 'Q4_1', 'Q8_0'] as const)('%s of a GGUF file stands for the same numbers', (format) => {
    const block = Object.values(BLOCK_FORMATS).find(({ name }) => name === format)!;
    const source = Uint8Array.from({ length: 6 * block.bytes }, (_, i) => (i * 37 + (i >> 3)) & 255);
    // Scales and offsets that are finite: the second byte of a half holds its exponent.
    for (let at = 0; at < source.length; at += block.bytes) {
      source[at + 1] = 0x2c;
      if (format === 'Q4_1') source[at + 3] = 0xb0;
    }
    const wanted = new Float32Array(6 * 32);
    block.dequantise(source, wanted);
    const bits = fromBlocks(source, 64, format);
    expect([bits.rows, bits.columns]).toEqual([3, 64]);
    expect(largestDifference(dequantise(bits), wanted)).toBeLessThan(1e-5);
  });
});

describe.each(Object.entries(CONFIGS))('%s', (_, config) => {
  const random = randomWeights(config, 5);
  const adapter: Adapter = { config: LORA, weights: initialLora(config, LORA, 3) };
  for (const values of adapter.weights.values()) values.set(values.map((__, i) => 0.2 * Math.sin(3 * i + 1)));
  // Weights that have few bits already, so that rounding them changes nothing.
  const models = (['int8', 'q4'] as const).map((precision) => {
    const weights = rounded(config, random, precision === 'q4' ? 4 : 8);
    const parts = new ModelParts(onnxRuntime, config, weights);
    return { weights, parts, engine: createQuantisedEngine({ path: 'tiny', config, weights }, onnxRuntime, precision) };
  });
  const [int8, q4] = models;
  afterAll(async () => {
    for (const { parts, engine } of models) {
      await engine.release();
      await parts.release();
    }
  });

  it.each([
    ['int8', int8, undefined],
    ['q4', q4, undefined],
    ['q4 with an adapter', q4, adapter],
  ])('log-probabilities in %s', async (__, { weights, parts, engine }, given) => {
    const requests = [5, 9].map((length, r) => ({ prompt: randomTokens(config, length, r), seeds: [r, r + 5, r + 9] }));
    const options = { temperature: 0.8, maxNewTokens: 10, endTokens: new Set<number>() };
    const decoded = await decode(parts, requests, options, given, engine);
    requests.forEach(({ prompt }, r) => {
      for (const { tokens, logProbs } of decoded[r]) {
        const wanted = plainLogProbs(config, weights, prompt, tokens, 0.8, given);
        // Of models this narrow one block's rounding shows; a wrong angle or a lost offset is off by whole units.
        expect(largestDifference(logProbs, wanted)).toBeLessThan(0.2);
      }
    });
  });

  it('a row does not depend on others, also when rows end and leave', async () => {
    const requests = [3, 12, 7].map((length, r) => ({ prompt: randomTokens(config, length, r), seeds: [r, r + 5] }));
    const options = { temperature: 1, maxNewTokens: 24, endTokens: new Set([1, 2, 3, 4, 5]) };
    const together = await decode(int8.parts, requests, options, undefined, int8.engine);
    expect(new Set(together.flat().map(({ tokens }) => tokens.length)).size).toBeGreaterThan(2);
    for (const [r, one] of requests.entries()) {
      const [alone] = await decode(int8.parts, [one], options, undefined, int8.engine);
      expect(alone.map(({ tokens }) => tokens)).toEqual(together[r].map(({ tokens }) => tokens));
    }
  });
});

describe('what cannot be', () => {
  it('widths that are no blocks', async () => {
    const config = TINY_MODELS['llama, tied head'];
    const weights = randomWeights(config, 1);
    const engine = createQuantisedEngine({ path: 'tiny', config, weights }, onnxRuntime, 'int8');
    const request = { prompt: Int32Array.of(1), seeds: [1] };
    const parts = new ModelParts(onnxRuntime, config, weights);
    const options = { temperature: 1, maxNewTokens: 2, endTokens: new Set<number>() };
    await expect(decode(parts, [request], options, undefined, engine)).rejects.toThrow(/multiples of 32/);
    await parts.release();
  });
});
