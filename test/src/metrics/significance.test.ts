import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import { bootstrapInterval } from '../../../src/metrics/bootstrap.ts';
import { logGamma, normalTwoSided, studentTwoSided } from '../../../src/metrics/distributions.ts';
import {
  benjaminiHochberg,
  pairedT,
  pairedTest,
  randomisation,
  tally,
  wilcoxon,
} from '../../../src/metrics/significance.ts';

interface Case {
  differences: number[];
  t: number;
  tP: number;
  wilcoxon: number;
  wilcoxonP: number;
  wilcoxonExact: boolean;
  randomisationP: number | null;
  interval: [number, number];
}
const golden = JSON.parse(readFileSync(new URL('../../golden/scipy/significance.json', import.meta.url), 'utf8')) as {
  student: [number, number, number][];
  normal: [number, number][];
  logGamma: [number, number][];
  falseDiscovery: [number, number][];
  cases: Record<string, Case>;
};
const close = (actual: number, expected: number, relative: number) =>
  expect(Math.abs(actual - expected), `${actual} against ${expected}`).toBeLessThanOrEqual(
    relative * Math.abs(expected),
  );

describe('tails, against scipy', () => {
  it.each(golden.student)('Student t = %f with %i degrees of freedom', (t, df, p) => {
    close(studentTwoSided(t, df), p, 1e-10);
    close(studentTwoSided(-t, df), p, 1e-10);
  });
  it.each(golden.normal)('normal z = %f', (z, p) => close(normalTwoSided(z), p, 1e-12));
  it.each(golden.logGamma)('ln Gamma(%f)', (x, value) => {
    expect(Math.abs(logGamma(x) - value)).toBeLessThanOrEqual(1e-14 * Math.max(10, Math.abs(value)));
  });
  it('limits', () => {
    expect(studentTwoSided(Number.POSITIVE_INFINITY, 3)).toBe(0);
    expect(normalTwoSided(Number.POSITIVE_INFINITY)).toBe(0);
  });
});

describe('paired tests, against scipy', () => {
  const cases = Object.entries(golden.cases);
  it.each(cases)('t: %s', (_, { differences, t, tP }) => {
    const result = pairedT(differences);
    close(result.statistic, t, 1e-11);
    close(result.p, tP, 1e-10);
  });
  it.each(cases)('Wilcoxon: %s', (_, { differences, wilcoxon: statistic, wilcoxonP, wilcoxonExact }) => {
    const result = wilcoxon(differences);
    expect(result.exact).toBe(wilcoxonExact);
    expect(result.statistic).toBe(statistic);
    close(result.p, wilcoxonP, 1e-11);
  });
  it.each(cases.filter(([, c]) => c.randomisationP !== null))('randomisation, exact: %s', (_, c) => {
    const result = randomisation(c.differences, { resamples: 100, seed: 1 });
    expect(result.exact).toBe(true);
    close(result.p, c.randomisationP!, 1e-12);
  });
  it.each(cases)('bootstrap interval: %s', (_, { differences, interval }) => {
    const [low, high] = bootstrapInterval(differences, { resamples: 20_000, seed: 3, level: 0.95 });
    // Two Monte Carlo quantiles: they agree within a small part of the interval's own width.
    const slack = 0.03 * (interval[1] - interval[0]);
    expect(Math.abs(low - interval[0])).toBeLessThanOrEqual(slack);
    expect(Math.abs(high - interval[1])).toBeLessThanOrEqual(slack);
  });
  it('false discovery control', () => {
    const adjusted = benjaminiHochberg(golden.falseDiscovery.map(([p]) => p));
    for (const [i, [, q]] of golden.falseDiscovery.entries()) close(adjusted[i], q, 1e-14);
    expect(benjaminiHochberg([])).toEqual([]);
  });
});

describe('randomisation', () => {
  const random = (n: number, shift: number, seed: number) => {
    const rng = createRng(seed);
    return Float64Array.from({ length: n }, () => shift + 0.1 * rng.normal());
  };
  it('Monte Carlo comes near the exact p', () => {
    const twenty = random(20, 0.03, 4);
    const exact = randomisation(twenty, { resamples: 1, seed: 1 });
    // One more tiny difference crosses the border to sampling and hardly moves p.
    const sampled = randomisation([...twenty, 1e-9], { resamples: 50_000, seed: 1 });
    expect([exact.exact, sampled.exact]).toEqual([true, false]);
    expect(Math.abs(sampled.p - exact.p)).toBeLessThan(4 * Math.sqrt((exact.p * (1 - exact.p)) / 50_000));
  });
  it('same seed, same p; another seed, another', () => {
    const d = random(60, 0.01, 9);
    const p = (seed: number) => randomisation(d, { resamples: 2000, seed }).p;
    expect(p(1)).toBe(p(1));
    expect(p(1)).not.toBe(p(2));
  });
  it('is never 0 when sampled: (0 + 1) / (resamples + 1)', () => {
    expect(randomisation(new Float64Array(50).fill(1), { resamples: 999, seed: 1 }).p).toBe(1 / 1000);
  });
  it('all of one sign: 2 of 2^n patterns', () => {
    expect(randomisation([0.1, 0.2, 0.3, 0, 0.4], { resamples: 1, seed: 1 }).p).toBe(2 / 16);
  });
  it('p is uniform under the null: its share below .1 is about .1', () => {
    let below = 0;
    for (let seed = 0; seed < 400; seed++)
      if (randomisation(random(15, 0, seed), { resamples: 1, seed }).p <= 0.1) below++;
    expect(below).toBeGreaterThan(20);
    expect(below).toBeLessThan(60);
  });
});

describe('nothing to test', () => {
  it.each(['t', 'wilcoxon', 'randomisation'] as const)('%s gives p = 1', (name) => {
    for (const differences of [[], [0], [0, 0, 0], [1e-16, -1e-16, 0]]) {
      expect(pairedTest(name, differences, { resamples: 100, seed: 1 }).p).toBe(1);
    }
  });
  it('one query that differs proves nothing', () => {
    expect(pairedT([0.5]).p).toBe(1);
    expect(wilcoxon([0.5]).p).toBe(1);
    expect(randomisation([0.5], { resamples: 100, seed: 1 }).p).toBe(1);
  });
  it('a constant difference: t is infinite', () => {
    expect(pairedT([0.5, 0.5, 0.5])).toEqual({ p: 0, statistic: Number.POSITIVE_INFINITY, exact: true });
  });
  it('intervals', () => {
    expect(bootstrapInterval([0.5, 0.5], { resamples: 100, seed: 1, level: 0.95 })).toEqual([0.5, 0.5]);
    expect(bootstrapInterval([], { resamples: 100, seed: 1, level: 0.95 })).toEqual([Number.NaN, Number.NaN]);
  });
  it('rounding is neither won nor lost', () => {
    expect(tally([0.1, -0.2, 0, 1e-16, -1e-16])).toEqual({ wins: 1, losses: 1, ties: 3 });
    expect(wilcoxon([0.3 - 0.2, 0.1, -0.1]).exact).toBe(false);
  });
});
