import { expect, it } from 'vitest';
import { ascending, quantile } from '../../../select/kernels/quantile.ts';

it('interpolates between neighbours', () => {
  const values = ascending([4, 1, 3, 2]);
  expect([...values]).toEqual([1, 2, 3, 4]);
  expect([0, 0.25, 0.5, 1].map((share) => quantile(values, share))).toEqual([1, 1.75, 2.5, 4]);
  expect(quantile([7], 0.3)).toBe(7);
  expect(quantile([], 0.5)).toBeNaN();
});
