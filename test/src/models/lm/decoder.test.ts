import { describe, expect, it } from 'vitest';
import { type DecodeOptions, type DecodeRequest, decode } from '../../../../src/models/lm/decoder.ts';
import { type Adapter, ModelParts } from '../../../../src/models/lm/model-parts.ts';
import { initialLora } from '../../../../src/nn/lora.ts';
import { LINEARS } from '../../../../src/nn/model-config.ts';
import { largestDifference, onnxRuntime } from '../../../support/graph-runtimes.ts';
import { plainLogits, plainLogProbs } from '../../../support/plain-transformer.ts';
import { randomTokens, randomWeights, TINY_MODELS } from '../../../support/tiny-models.ts';

const config = TINY_MODELS['llama, tied head'];
const weights = randomWeights(config, 5);
const parts = new ModelParts(onnxRuntime, config, weights);
const LORA = { rank: 2, alpha: 4, targets: LINEARS };
const adapter: Adapter = { config: LORA, weights: initialLora(config, LORA, 3) };
for (const values of adapter.weights.values()) values.set(values.map((_, i) => 0.3 * Math.sin(3 * i + 1)));

const options = (given: Partial<DecodeOptions> = {}): DecodeOptions => ({
  temperature: 1,
  maxNewTokens: 12,
  endTokens: new Set<number>(),
  ...given,
});
const request = (length: number, seed: number, seeds: number[]): DecodeRequest => ({
  prompt: randomTokens(config, length, seed),
  seeds,
});

describe('decode', () => {
  it.each([
    ['without an adapter', undefined],
    ['with an adapter', adapter],
  ])('greedy is the argmax of the plain decoder %s, beyond the first size of the cache', async (_, given) => {
    const requests = [request(5, 1, [0, 0]), request(9, 2, [0, 0])];
    const decoded = await decode(parts, requests, options({ temperature: 0, maxNewTokens: 37 }), given);
    requests.forEach(({ prompt }, r) => {
      const wanted: number[] = [];
      while (wanted.length < 37) {
        const logits = plainLogits(config, weights, [...prompt, ...wanted], given).at(-1)!;
        wanted.push(logits.indexOf(Math.max(...logits)));
      }
      for (const { tokens, finish } of decoded[r]) {
        expect([...tokens]).toEqual(wanted);
        expect(finish).toBe('length');
      }
    });
  });

  it('log-probabilities are those of the plain decoder at the temperature', async () => {
    const requests = [request(4, 3, [1, 2, 3]), request(7, 4, [4, 5, 6])];
    const decoded = await decode(parts, requests, options({ temperature: 0.7, topK: 5 }));
    requests.forEach(({ prompt }, r) => {
      for (const { tokens, logProbs, drawnLogProbs } of decoded[r]) {
        expect(largestDifference(logProbs, plainLogProbs(config, weights, prompt, tokens, 0.7))).toBeLessThan(2e-6);
        expect(drawnLogProbs.every((value, t) => value >= logProbs[t] && value <= 0)).toBe(true);
      }
    });
  });

  it('a completion depends on its seed alone, not on its batch', async () => {
    const requests = [request(5, 1, [1, 2]), request(9, 2, [3, 4]), request(20, 3, [5, 6])];
    const together = await decode(parts, requests, options({ temperature: 0.8, topP: 0.9 }));
    const again = await decode(parts, requests, options({ temperature: 0.8, topP: 0.9 }));
    expect(again).toEqual(together);
    expect(new Set(together.flat().map(({ tokens }) => tokens.join())).size).toBe(6);
    for (const [r, one] of requests.entries()) {
      const [alone] = await decode(parts, [one], options({ temperature: 0.8, topP: 0.9 }));
      alone.forEach(({ tokens, logProbs }, i) => {
        // Other shapes, other rounding: the text is the same, its log-probabilities are within it.
        expect(tokens).toEqual(together[r][i].tokens);
        expect(largestDifference(logProbs, together[r][i].logProbs)).toBeLessThan(1e-5);
      });
    }
  });

  it('ends at an end token or where it is told to, while others go on', async () => {
    const requests = Array.from({ length: 5 }, (_, r) => request(3 + r, r, [r]));
    const free = await decode(parts, requests, options({ maxNewTokens: 30 }));
    // A token that some completions meet early and others late or never.
    const end = free[0][0].tokens[2];
    const ended = await decode(parts, requests, options({ maxNewTokens: 30, endTokens: new Set([end]) }));
    ended.forEach(([{ tokens, finish }], r) => {
      const whole = [...free[r][0].tokens];
      const at = whole.indexOf(end);
      expect(finish).toBe(at < 0 ? 'length' : 'stop');
      expect([...tokens]).toEqual(at < 0 ? whole : whole.slice(0, at + 1));
    });
    const stopped = await decode(
      parts,
      requests,
      options({ stops: (tokens) => (tokens.length === 4 ? 'stop' : undefined) }),
    );
    expect(stopped.every(([{ tokens, finish }]) => tokens.length === 4 && finish === 'stop')).toBe(true);
  });

  it('nothing asked, nothing answered', async () => {
    expect(await decode(parts, [], options())).toEqual([]);
  });
});
