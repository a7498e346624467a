import { describe, expect, it } from 'vitest';
import { groupAdvantages, hasSpread } from '../../../train/kernels/advantages.ts';

describe('groupAdvantages', () => {
  it('has the golden numbers', () => {
    const { advantages } = groupAdvantages([Float64Array.of(0, 0.2, 0.2, 0.6)], 'group');
    const golden = [-0.9930046877, -0.1986009375, -0.1986009375, 1.3902065628];
    golden.forEach((value, i) => {
      expect(Math.abs(advantages[0][i] - value)).toBeLessThan(1e-8);
    });
  });

  it('gives groups without spread exact zeros, even where their mean does not come out exactly', () => {
    const flat = new Float64Array(3).fill(0.1);
    expect((0.1 + 0.1 + 0.1) / 3).not.toBe(0.1);
    const { advantages, zeroSpread, rewardStd } = groupAdvantages([flat, Float64Array.of(1, 0)], 'group');
    expect([...advantages[0]]).toEqual([0, 0, 0]);
    expect(zeroSpread).toBe(0.5);
    expect(rewardStd).toBeCloseTo(Math.SQRT1_2 / 2, 12);
  });

  it('scales by the group, by the batch, or not at all', () => {
    const groups = [Float64Array.of(0, 1), Float64Array.of(2, 6)];
    expect([...groupAdvantages(groups, 'none').advantages[1]]).toEqual([-2, 2]);
    const batchStd = Math.sqrt((2.25 ** 2 + 1.25 ** 2 + 0.25 ** 2 + 3.75 ** 2) / 3);
    const batch = groupAdvantages(groups, 'batch').advantages;
    expect(batch[0][1]).toBeCloseTo(0.5 / (batchStd + 1e-4), 12);
    expect(batch[1][0]).toBeCloseTo(-2 / (batchStd + 1e-4), 12);
    const group = groupAdvantages(groups, 'group').advantages;
    expect(group[1][1]).toBeCloseTo(2 / (Math.sqrt(8) + 1e-4), 12);
  });

  it('reports the mean reward over samples and copes with groups of one and none', () => {
    const result = groupAdvantages([Float64Array.of(1), Float64Array.of(0, 0, 3)], 'group');
    expect(result.reward).toBe(1);
    expect([...result.advantages[0]]).toEqual([0]);
    expect(groupAdvantages([], 'group')).toMatchObject({ zeroSpread: 0, reward: 0, rewardStd: 0 });
  });

  it('sums to zero within a group', () => {
    const { advantages } = groupAdvantages([Float64Array.of(0.3, -0.7, 0.11, 0.9)], 'group');
    expect(Math.abs(advantages[0].reduce((a, b) => a + b))).toBeLessThan(1e-12);
    expect(hasSpread(Float64Array.of(1, 1, 1))).toBe(false);
  });
});
