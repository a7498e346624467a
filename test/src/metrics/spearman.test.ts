import { expect, it } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import { spearman } from '../../../src/metrics/mod.ts';

it('is 1 for any rising relation and -1 for any falling one', () => {
  const x = [0.1, 0.5, 0.2, 0.9];
  expect(spearman(x, x.map(Math.exp)).rho).toBe(1);
  expect(
    spearman(
      x,
      x.map((v) => -v),
    ).rho,
  ).toBe(-1);
  expect(spearman(x, x).p).toBe(0);
});

it('equals 1 - 6 sum d^2 / (n (n^2 - 1)) without ties, and scipy with them', () => {
  const x = [106, 86, 100, 101, 99, 103, 97, 113, 112, 110];
  const y = [7, 0, 27, 50, 28, 29, 20, 12, 6, 17];
  const { rho, p, n } = spearman(x, y);
  expect(n).toBe(10);
  expect(rho).toBeCloseTo(-29 / 165, 14);
  // The t of this worked example, -.50505 with 8 degrees of freedom.
  expect(p).toBeCloseTo(0.627, 3);
  // scipy.stats.spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]) as its page prints it.
  const tied = spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]);
  expect(tied.rho).toBeCloseTo(0.8207826816681233, 14);
  expect(tied.p).toBeCloseTo(0.08858700531354381, 12);
});

it('is Pearson over ranks counted one by one', () => {
  const rng = createRng(8);
  for (let round = 0; round < 100; round++) {
    const n = 3 + rng.int(20);
    const [x, y] = [0, 1].map(() => Array.from({ length: n }, () => rng.int(8)));
    const rank = (values: number[], v: number) =>
      values.filter((w) => w < v).length + (values.filter((w) => w === v).length + 1) / 2;
    const [a, b] = [x.map((v) => rank(x, v)), y.map((v) => rank(y, v))];
    const mean = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / n;
    const cov = (u: number[], v: number[]) => u.reduce((sum, w, i) => sum + (w - mean(u)) * (v[i] - mean(v)), 0);
    const expected = cov(a, b) / Math.sqrt(cov(a, a) * cov(b, b));
    if (Number.isNaN(expected)) expect(spearman(x, y).rho).toBeNaN();
    else expect(spearman(x, y).rho).toBeCloseTo(expected, 12);
  }
});

it('says nothing where one side is constant or there are too few', () => {
  expect(spearman([1, 1, 1], [1, 2, 3])).toEqual({ rho: Number.NaN, p: Number.NaN, n: 3 });
  expect(spearman([1, 2], [1, 2]).p).toBeNaN();
  expect(spearman([], []).rho).toBeNaN();
});
