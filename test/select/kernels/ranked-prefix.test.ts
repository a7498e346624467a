import { describe, expect, it } from 'vitest';
import { rankedPrefix } from '../../../select/kernels/ranked-prefix.ts';
import { createRng } from '../../../src/kernels/rng.ts';

describe('rankedPrefix', () => {
  it('is the whole sort, as far as somebody looks, in any order of looking', () => {
    const rng = createRng(5);
    for (let round = 0; round < 300; round++) {
      const size = 1 + rng.int(round % 20 === 0 ? 3000 : 40);
      // Coarse values tie, tiny spreads fall into one bin, huge ones overflow the scale.
      const unit = [1, 1e-320, 1e300, 0][round % 4];
      const grid = round % 3 === 0 ? 4 : 1e9;
      const values = Float64Array.from({ length: size }, () => (rng.int(grid) / grid - 0.5) * unit);
      const sorted = [...values.keys()].sort((a, b) => values[b] - values[a] || a - b);
      const ranked = rankedPrefix(values, rng.int(size + 5));
      for (let look = 0; look < 20; look++) {
        const rank = rng.int(size);
        expect(ranked.at(rank)).toBe(sorted[rank]);
      }
      for (let d = 0; d < size; d++) expect(ranked.at(d)).toBe(sorted[d]);
      for (let d = 1; d < size; d++) expect(ranked.bins[sorted[d]]).toBeGreaterThanOrEqual(ranked.bins[sorted[d - 1]]);
    }
  });
});
