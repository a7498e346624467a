import { expect, it } from 'vitest';
import { adjustedRandIndex } from '../../../select/kernels/adjusted-rand.ts';
import { createRng } from '../../../src/kernels/rng.ts';

/** Over all pairs of items: together in both, in one, in none. */
function slow(a: readonly number[], b: readonly number[]): number {
  let both = 0;
  let inA = 0;
  let inB = 0;
  let pairs = 0;
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < i; j++) {
      pairs++;
      if (a[i] === a[j]) inA++;
      if (b[i] === b[j]) inB++;
      if (a[i] === a[j] && b[i] === b[j]) both++;
    }
  }
  const expected = pairs === 0 ? 0 : (inA * inB) / pairs;
  const most = (inA + inB) / 2;
  return most === expected ? 1 : (both - expected) / (most - expected);
}

it('is 1 for the same partition under any names', () => {
  expect(adjustedRandIndex([0, 0, 1, 1], ['x', 'x', 'y', 'y'])).toBe(1);
  expect(adjustedRandIndex([0, 0, 0], [1, 1, 1])).toBe(1);
  expect(adjustedRandIndex([0, 1, 2], [5, 6, 7])).toBe(1);
  expect(adjustedRandIndex([], [])).toBe(1);
});

it('has the values of the textbook example', () => {
  // Documented by scikit-learn for these labels: 0.57 and -0.5.
  expect(adjustedRandIndex([0, 0, 1, 2], [0, 0, 1, 1])).toBeCloseTo(4 / 7, 14);
  expect(adjustedRandIndex([0, 0, 1, 1], [0, 1, 0, 1])).toBeCloseTo(-0.5, 14);
  expect(adjustedRandIndex([0, 0, 0, 0], [0, 1, 2, 3])).toBe(0);
});

it('equals counting all pairs', () => {
  const rng = createRng(3);
  for (let round = 0; round < 200; round++) {
    const size = rng.int(17);
    const [a, b] = [0, 1].map(() => Array.from({ length: size }, () => rng.int(1 + (round % 4))));
    expect(adjustedRandIndex(a, b)).toBeCloseTo(slow(a, b), 12);
  }
});
