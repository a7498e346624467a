import { describe, expect, it } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import { dot } from '../../../src/kernels/vector.ts';

describe('vector kernels', () => {
  it('dot agrees with a plain sum for every length', () => {
    const rng = createRng(1);
    for (let length = 0; length < 20; length++) {
      const a = Float64Array.from({ length: length + 3 }, () => rng.normal());
      const b = Float64Array.from({ length: length + 5 }, () => rng.normal());
      let sum = 0;
      for (let i = 0; i < length; i++) sum += a[3 + i] * b[5 + i];
      expect(dot(a, 3, b, 5, length)).toBeCloseTo(sum, 12);
    }
  });
});
