import { describe, expect, it } from 'vitest';
import { decayInPlace } from '../../../select/kernels/exponential.ts';
import { createRng } from '../../../src/kernels/rng.ts';

describe('decayInPlace', () => {
  it('is exp(-rate (1 - c)) to an ulp or two, with the bits of the plain loop', () => {
    const rng = createRng(51);
    for (const rate of [0, 1e-9, 0.3, 2.96, 57, 340, 1e4, 1e6]) {
      for (const size of [1, 63, 64, 65, 2047, 2048, 2049, 5001]) {
        const cosines = Float64Array.from({ length: size }, () => (rng.next() < 0.1 ? 1 + 1e-7 : 2 * rng.next() - 1));
        const fast = cosines.slice();
        const plain = cosines.slice();
        decayInPlace(fast, rate);
        decayInPlace(plain, rate, false);
        expect(fast).toEqual(plain);
        let worst = 0;
        for (let d = 0; d < size; d++) {
          const exact = Math.exp(-rate * Math.max(0, 1 - cosines[d]));
          if (exact > 1e-300) worst = Math.max(worst, Math.abs(fast[d] / exact - 1));
          else expect(fast[d]).toBeLessThan(1e-299);
        }
        expect(worst).toBeLessThan(5e-16);
      }
    }
  });

  it('is 1 at a cosine of 1, exactly', () => {
    const values = new Float64Array(100).fill(1);
    decayInPlace(values, 12.3);
    expect(values.every((value) => value === 1)).toBe(true);
  });
});
