import { describe, expect, it } from 'vitest';
import { learningRateAt } from '../../../train/kernels/schedule.ts';
import { createSpread } from '../../../train/kernels/spread.ts';

describe('learningRateAt', () => {
  const base = { learningRate: 0.1, warmupSteps: 0, steps: 100 } as const;

  it('decays linearly to 0', () => {
    expect(learningRateAt(0, { ...base, schedule: 'linear' })).toBe(0.1);
    expect(learningRateAt(50, { ...base, schedule: 'linear' })).toBeCloseTo(0.05, 12);
    expect(learningRateAt(99, { ...base, schedule: 'linear' })).toBeCloseTo(0.001, 12);
  });

  it('stays constant, or follows half a cosine', () => {
    expect(learningRateAt(73, { ...base, schedule: 'constant' })).toBe(0.1);
    expect(learningRateAt(50, { ...base, schedule: 'cosine' })).toBeCloseTo(0.05, 12);
    expect(learningRateAt(100, { ...base, schedule: 'cosine' })).toBeCloseTo(0, 12);
  });

  it('warms up in equal steps that never stand at 0', () => {
    const warm = { ...base, warmupSteps: 4, schedule: 'constant' } as const;
    expect([0, 1, 2, 3, 4].map((step) => learningRateAt(step, warm))).toEqual(
      [0.02, 0.04, 0.06, 0.08, 0.1].map((value) => expect.closeTo(value, 12)),
    );
  });
});

describe('createSpread', () => {
  it('is the population deviation, without cancellation far from 0', () => {
    const spread = createSpread();
    for (const value of [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]) spread.add(value);
    expect(spread.deviation).toBeCloseTo(Math.sqrt(22.5), 6);
    expect(spread.mean).toBe(1e9 + 10);
    expect(createSpread().deviation).toBe(0);
  });
});
