import { describe, expect, it } from 'vitest';
import { createGainScale } from '../../../select/kernels/set-gain.ts';
import { createRng, shuffle } from '../../../src/kernels/rng.ts';
import { evaluate, parseMeasures } from '../../../src/metrics/mod.ts';

const gainOf = (gain: number): number => (Number.isNaN(gain) ? 0 : gain);

describe('nCG and CE-nCG', () => {
  it('is the share of the best k documents of the pool', () => {
    const scale = createGainScale(Float64Array.from([0.9, 0.2, Number.NaN, 0.6]));
    expect(scale.ideal(2)).toBe(1.5);
    expect(scale.at([1, 2, 0, 3], 2)).toBeCloseTo(0.2 / 1.5, 15);
    expect(scale.at([3, 0, 1, 2], 2)).toBe(1);
    expect(scale.at([3, 0, 1, 2], 9)).toBe(1);
    expect(scale.at([3, 0, 1, 2], 0)).toBe(0);
    expect(createGainScale(new Float64Array(3)).at([0, 1, 2], 2)).toBe(0);
    expect(createGainScale(new Float64Array(0)).at([], 2)).toBe(0);
  });

  it('equals an exhaustive search for the best set', () => {
    const rng = createRng(4);
    for (let round = 0; round < 100; round++) {
      const size = 1 + rng.int(9);
      const gains = Float64Array.from({ length: size }, () => (rng.next() < 0.2 ? Number.NaN : rng.next()));
      const k = 1 + rng.int(size + 2);
      let most = 0;
      for (let set = 0; set < 2 ** size; set++) {
        const inside = [...gains.keys()].filter((i) => (set >> i) & 1);
        if (inside.length > k) continue;
        most = Math.max(
          most,
          inside.reduce((sum, i) => sum + gainOf(gains[i]), 0),
        );
      }
      const order = shuffle([...gains.keys()], rng);
      const got = order.slice(0, k).reduce((sum, i) => sum + gainOf(gains[i]), 0);
      expect(createGainScale(gains).ideal(k)).toBeCloseTo(most, 12);
      expect(createGainScale(gains).at(order, k)).toBeCloseTo(most === 0 ? 0 : got / most, 12);
    }
  });

  it('agrees with nCG@k of docopt eval where the pool holds every relevant document', () => {
    const rng = createRng(9);
    const measures = parseMeasures(['nCG@3', 'nCG@8']);
    for (let round = 0; round < 50; round++) {
      const size = 4 + rng.int(12);
      const gains = Float64Array.from({ length: size }, () => (rng.next() < 0.4 ? 1 : 0));
      const order = shuffle([...gains.keys()], rng);
      const ids = order.map((i) => `d${i}`);
      const run = new Map([['q', { ids, scores: Float64Array.from(ids, (_, rank) => -rank) }]]);
      const qrels = new Map([['q', new Map([...gains].map((gain, i) => [`d${i}`, gain]))]]);
      const { perQuery } = evaluate(run, qrels, measures);
      const scale = createGainScale(gains);
      for (const { name, cutoff } of measures) expect(scale.at(order, cutoff!)).toBeCloseTo(perQuery[name].q, 14);
    }
  });
});
