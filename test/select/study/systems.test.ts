import { describe, expect, it } from 'vitest';
import { SELECTORS } from '../../../select/mod.ts';
import { play } from '../../../select/study/play.ts';
import { CAPACITY_BLIND, parseSystem, SWEEPS } from '../../../select/study/systems.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { studyQuery } from '../../support/study-group.ts';

const options = { seed: 1, sweep: true };

describe('parseSystem', () => {
  it('reads a name and its settings, and does not sweep what is written out', () => {
    const system = parseSystem('boundary-morph:kernel=rbf,batch=4', options);
    expect([system.name, system.driver, system.candidates.length]).toEqual([
      'boundary-morph:kernel=rbf,batch=4',
      'boundary-morph',
      1,
    ]);
    expect(() => parseSystem('boundary-morf', options)).toThrow(/did you mean.*boundary-morph/i);
    expect(() => parseSystem('boundary-morph:batch=0', options)).toThrow(/batch/);
    expect(() => parseSystem('boundary-morph:kernl=rbf', options)).toThrow(/unknown setting 'kernl'/);
    expect(() => parseSystem('boundary-morph:kernel=round', options)).toThrow(/kernel/);
  });

  it('tries every combination of a grid, in one order', () => {
    for (const driver of Object.keys(SWEEPS).filter((name) => SELECTORS.some((one) => one === name))) {
      const { candidates } = parseSystem(driver, options);
      const sizes = Object.values(SWEEPS[driver]).map((values) => values.length);
      expect(candidates).toHaveLength(sizes.reduce((product, n) => product * n, 1));
      expect(new Set(candidates.map(({ settings }) => JSON.stringify(settings))).size).toBe(candidates.length);
      expect(parseSystem(driver, { ...options, sweep: false }).candidates).toHaveLength(1);
    }
    expect(parseSystem('bagel:beta0=1', options).candidates).toHaveLength(1);
    expect(parseSystem('bagel:prior=fusion', options).candidates).toHaveLength(4);
    expect(parseSystem('rgs:degree=10', options).candidates).toHaveLength(12);
  });
});

describe('what is said of selectors that do not look at k', () => {
  const known = CAPACITY_BLIND.filter((name) => SELECTORS.some((one) => one === name));
  it.each(known)('%s chooses and orders the same for every k', async (name) => {
    const rng = createRng(3);
    const { candidates } = parseSystem(name, { seed: 1, sweep: false });
    for (let round = 0; round < 5; round++) {
      const at = studyQuery('q', 30, rng);
      const orders = await Promise.all([1, 7, 30].map((k) => play(at, candidates[0].selector, 8, k)));
      for (const { order, scored } of orders) expect([order, scored]).toEqual([orders[0].order, orders[0].scored]);
    }
  });
});
