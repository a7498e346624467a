import { describe, expect, it } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import { areaUnderCurve } from '../../../src/kernels/stats.ts';

describe('areaUnderCurve', () => {
  it('equals the count over all pairs, ties and all', () => {
    const rng = createRng(1);
    for (let round = 0; round < 100; round++) {
      const n = 2 + rng.int(20);
      const scores = Float64Array.from({ length: n }, () => rng.int(6));
      const labels = Float64Array.from({ length: n }, (_, i) => (i === 0 ? 1 : i === 1 ? 0 : rng.int(2)));
      let won = 0;
      let pairs = 0;
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          if (labels[i] !== 1 || labels[j] !== 0) continue;
          pairs++;
          won += scores[i] > scores[j] ? 1 : scores[i] === scores[j] ? 0.5 : 0;
        }
      }
      expect(areaUnderCurve(scores, labels)).toBeCloseTo(won / pairs, 12);
    }
  });

  it('is NaN without positives or without negatives', () => {
    expect(areaUnderCurve(Float64Array.of(1, 2), Float64Array.of(0, 0))).toBeNaN();
    expect(areaUnderCurve(Float64Array.of(1, 2), Float64Array.of(1, 1))).toBeNaN();
  });
});
