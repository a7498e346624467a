import { describe, expect, it } from 'vitest';
import { createRng } from '../../../../src/kernels/rng.ts';
import { sampleToken, type TokenSampling } from '../../../../src/models/lm/sample-token.ts';

const NOTHING = { all: new Set<number>(), generated: new Set<number>() };

function drawnLogits(size: number, seed: number): Float32Array {
  const rng = createRng(seed);
  return Float32Array.from({ length: size }, () => 2 * rng.normal());
}

/** The distribution by full sorting, as Transformers' processors give it. */
function distribution(logits: Float32Array, { temperature, topK, topP }: TokenSampling): Map<number, number> {
  let order = [...logits.keys()].sort((a, b) => logits[b] - logits[a] || a - b);
  if (topK) order = order.slice(0, topK);
  const weigh = (ids: number[]): number[] => {
    const weights = ids.map((i) => Math.exp((logits[i] - logits[ids[0]]) / temperature));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / total);
  };
  if (topP !== undefined) {
    const shares = weigh(order);
    let mass = 0;
    let count = 0;
    while (count < order.length && (count === 0 || mass < topP)) mass += shares[count++];
    order = order.slice(0, count);
  }
  const shares = weigh(order);
  return new Map(order.map((id, i) => [id, shares[i]]));
}

describe('sampleToken', () => {
  it.each([
    { temperature: 1 },
    { temperature: 0.3 },
    { temperature: 0.7, topK: 5 },
    { temperature: 0.7, topP: 0.8 },
    { temperature: 1.3, topK: 20, topP: 0.5 },
    { temperature: 1, topP: 1e-9 },
    { temperature: 1, topK: 1000 },
  ])('draws from the sorted distribution: %j', (options) => {
    for (let seed = 0; seed < 3; seed++) {
      const logits = drawnLogits(60, seed);
      const wanted = distribution(logits, options);
      const counts = new Map<number, number>();
      const draws = 1000;
      let worst = 0;
      for (let i = 0; i < draws; i++) {
        const { token, drawnLogProb } = sampleToken(logits, options, (i + 0.5) / draws, NOTHING);
        worst = Math.max(worst, Math.abs(drawnLogProb - Math.log(wanted.get(token)!)));
        counts.set(token, (counts.get(token) ?? 0) + 1);
      }
      expect(worst).toBeLessThan(1e-9);
      // Evenly spaced draws hit every token within one of its share.
      for (const [token, share] of wanted)
        expect(Math.abs((counts.get(token) ?? 0) - share * draws)).toBeLessThan(1.01);
    }
  });

  it('the log-probability is of the whole vocabulary at the temperature, whatever was cut', () => {
    const logits = drawnLogits(40, 9);
    const whole = distribution(logits, { temperature: 0.7 });
    const { token, logProb } = sampleToken(logits, { temperature: 0.7, topK: 3, repetitionPenalty: 2 }, 0.4, {
      all: new Set([1, 2]),
      generated: new Set([2]),
    });
    expect(logProb).toBeCloseTo(Math.log(whole.get(token)!), 9);
  });

  it('greedy takes the largest, the lowest id among equals', () => {
    const logits = Float32Array.of(1, 3, 3, 2);
    expect(sampleToken(logits, { temperature: 0 }, 0.99, NOTHING).token).toBe(1);
    expect(sampleToken(logits, { temperature: 0, topK: 1, topP: 0.1 }, 0.99, NOTHING).drawnLogProb).toBe(0);
  });

  it('penalties move tokens that were seen', () => {
    const logits = Float32Array.of(2, 1.9, -1, -1.1);
    const seen = { all: new Set([0, 2]), generated: new Set([0]) };
    expect(sampleToken(logits, { temperature: 0, repetitionPenalty: 1.2 }, 0, seen).token).toBe(1);
    expect(sampleToken(logits, { temperature: 0, presencePenalty: 0.5 }, 0, seen).token).toBe(1);
    expect(logits[0]).toBe(2);
  });

  it('draws at both ends of the interval', () => {
    const logits = Float32Array.of(0, 0, Number.NEGATIVE_INFINITY);
    expect(sampleToken(logits, { temperature: 1 }, 0, NOTHING).token).toBe(0);
    expect(sampleToken(logits, { temperature: 1 }, 1 - 2 ** -53, NOTHING).token).toBe(1);
  });
});
