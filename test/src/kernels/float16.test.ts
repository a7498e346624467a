import { describe, expect, it } from 'vitest';
import { floatToHalf, halfToFloat } from '../../../src/kernels/float16.ts';
import { createRng } from '../../../src/kernels/rng.ts';

describe('half precision', () => {
  it('comes back from every half to the same half', () => {
    for (let half = 0; half < 0x10000; half++) {
      const value = halfToFloat(half);
      if (Number.isNaN(value)) expect((half & 0x7fff) > 0x7c00).toBe(true);
      else if (floatToHalf(value) !== half) expect(half).toBe(floatToHalf(value));
    }
  });

  it('rounds to the nearest half, ties to the even one', () => {
    const rng = createRng(1);
    // All halves of one sign ascend with their number, so the neighbours of a value are found by bisection.
    const nearest = (value: number): number => {
      let low = 0;
      let high = 0x7bff;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (halfToFloat(middle) <= value) low = middle;
        else high = middle;
      }
      const down = value - halfToFloat(low);
      const up = halfToFloat(high) - value;
      return down < up ? low : up < down ? high : low % 2 === 0 ? low : high;
    };
    const values = Array.from({ length: 20_000 }, () => Math.fround(rng.next() * 2 ** (rng.int(40) - 25)));
    for (let half = 0; half < 0x7bff; half += 7) values.push((halfToFloat(half) + halfToFloat(half + 1)) / 2);
    for (const value of values) {
      if (value > 65504) continue;
      expect(floatToHalf(value)).toBe(nearest(value));
      expect(floatToHalf(-value)).toBe(nearest(value) | 0x8000);
    }
  });

  it('keeps what is not finite, and what is too large becomes so', () => {
    expect(halfToFloat(floatToHalf(Number.NaN))).toBeNaN();
    expect(halfToFloat(floatToHalf(Number.NEGATIVE_INFINITY))).toBe(Number.NEGATIVE_INFINITY);
    expect(halfToFloat(floatToHalf(65519.9))).toBe(65504);
    expect(halfToFloat(floatToHalf(65520))).toBe(Number.POSITIVE_INFINITY);
  });
});
