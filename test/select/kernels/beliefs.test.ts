/** Acquisitions and the membership threshold, against numerical integration and definitions. */
import { describe, expect, it } from 'vitest';
import { type Beliefs, highestUpperBound, mostUndecided, mostValuable } from '../../../select/kernels/acquisitions.ts';
import { chanceAbove, membershipThreshold } from '../../../select/kernels/membership-threshold.ts';
import { createRng, type Rng } from '../../../src/kernels/rng.ts';

function beliefs(rng: Rng): Beliefs {
  const size = 3 + rng.int(12);
  const open = Uint8Array.from({ length: size }, () => (rng.next() < 0.7 ? 1 : 0));
  open[rng.int(size)] = 1;
  return {
    means: Float64Array.from({ length: size }, () => rng.next()),
    variances: Float64Array.from(open, (isOpen) => (isOpen === 1 ? 0.01 + 0.2 * rng.next() : 0)),
    open,
    capacity: 1 + rng.int(size - 1),
  };
}

const density = (x: number, mean: number, deviation: number): number =>
  Math.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * Math.sqrt(2 * Math.PI));

/** Integral over mean +- 9 deviations by the trapezoid rule. */
function expectation(mean: number, deviation: number, of: (x: number) => number): number {
  const steps = 900;
  const width = (18 * deviation) / steps;
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const x = mean - 9 * deviation + i * width;
    sum += (i === 0 || i === steps ? 0.5 : 1) * density(x, mean, deviation) * of(x) * width;
  }
  return sum;
}

const topSum = (values: readonly number[], k: number): number =>
  [...values]
    .sort((a, b) => b - a)
    .slice(0, k)
    .reduce((sum, x) => sum + x, 0);

describe('acquisitions', () => {
  it('the most valuable adds most to the expected sum of the best k', () => {
    const rng = createRng(1);
    for (let round = 0; round < 12; round++) {
      const given = beliefs(rng);
      const means = [...given.means];
      const gain = (d: number): number =>
        expectation(means[d], Math.sqrt(given.variances[d]), (x) =>
          topSum(
            means.map((mean, e) => (e === d ? x : mean)),
            given.capacity,
          ),
        ) - topSum(means, given.capacity);
      const open = means.map((_, d) => d).filter((d) => given.open[d] === 1);
      const most = Math.max(...open.map(gain));
      const pick = mostValuable(given);
      expect(given.open[pick]).toBe(1);
      expect(gain(pick)).toBeGreaterThan(most - 1e-5);
    }
  });

  it('the most undecided has its membership closest to a half', () => {
    const rng = createRng(2);
    for (let round = 0; round < 60; round++) {
      const given = beliefs(rng);
      const order = [...given.means].sort((a, b) => b - a);
      const middle = (order[given.capacity - 1] + order[given.capacity]) / 2;
      const doubt = (d: number): number => {
        const p = chanceAbove(given.means[d], Math.sqrt(given.variances[d]), middle);
        return Math.min(p, 1 - p);
      };
      const open = [...given.means.keys()].filter((d) => given.open[d] === 1);
      expect(doubt(mostUndecided(given))).toBeCloseTo(Math.max(...open.map(doubt)), 12);
    }
  });

  it('the highest bound, and positions where values tie', () => {
    const given = {
      means: Float64Array.of(0.5, 0.4, 0.4, 0.9),
      variances: Float64Array.of(0, 0.04, 0.04, 0),
      open: Uint8Array.of(1, 1, 1, 0),
      capacity: 2,
    };
    expect(highestUpperBound(given, 0)).toBe(0);
    expect(highestUpperBound(given, 1)).toBe(1);
    expect(mostUndecided({ ...given, capacity: 0 })).toBe(1);
    expect(mostValuable({ ...given, capacity: 4 })).toBe(1);
    expect(highestUpperBound({ ...given, open: new Uint8Array(4) }, 1)).toBe(-1);
  });
});

describe('the membership threshold', () => {
  it('is where k are expected above', () => {
    const rng = createRng(3);
    for (let round = 0; round < 40; round++) {
      const size = 2 + rng.int(20);
      const means = Float64Array.from({ length: size }, () => rng.next());
      const deviations = Float64Array.from({ length: size }, () => 0.02 + rng.next());
      const capacity = rng.int(size - 1) + 0.5;
      const t = membershipThreshold(means, deviations, capacity);
      const above = means.reduce((sum, mean, d) => sum + chanceAbove(mean, deviations[d], t), 0);
      expect(above).toBeCloseTo(capacity, 9);
    }
  });
  it('lies between the k-th and the next where everything is known', () => {
    const t = membershipThreshold(Float64Array.of(0.1, 0.9, 0.5, 0.7), new Float64Array(4), 2);
    expect(t).toBeGreaterThanOrEqual(0.5);
    expect(t).toBeLessThanOrEqual(0.7);
  });
  it('a chance is that of the normal tail', () => {
    expect(chanceAbove(0.5, 0.1, 0.4)).toBeCloseTo(0.8413447460685429, 14);
    expect([chanceAbove(1, 0, 1), chanceAbove(1, 0, 0), chanceAbove(0, 0, 1)]).toEqual([0.5, 1, 0]);
  });
});
