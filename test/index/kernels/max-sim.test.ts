import { describe, expect, it } from 'vitest';
import { maxSim, maxSimScores } from '../../../index/kernels/max-sim.ts';
import { createRng } from '../../../src/kernels/rng.ts';

describe('maxSim', () => {
  it('is by hand what it says', () => {
    const query = Float64Array.of(1, 0, 0, 1);
    const tokens = Float32Array.of(0.5, 2, -1, 0.25, 3, -4);
    expect(maxSim(query, tokens, 0, 3, 2)).toBe(3 + 2);
    expect(maxSim(query, tokens, 1, 2, 2)).toBe(-1 + 0.25);
    expect(maxSim(query, tokens, 1, 1, 2)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('is in blocks what it is in plain loops, to the last bit', () => {
    const rng = createRng(4);
    for (let round = 0; round < 60; round++) {
      const width = 1 + rng.int(40);
      const lengths = Array.from({ length: 1 + rng.int(30) }, () => (rng.int(6) === 0 ? 0 : rng.int(50)));
      const bounds = Int32Array.from({ length: lengths.length + 1 }, (_, d) =>
        lengths.slice(0, d).reduce((sum, length) => sum + length, 0),
      );
      const tokens = Float32Array.from({ length: bounds[lengths.length] * width }, () => rng.normal());
      const query = Float64Array.from({ length: (1 + rng.int(9)) * width }, () => rng.normal());
      const out = new Float64Array(lengths.length);
      maxSimScores(query, tokens, bounds, width, out);
      lengths.forEach((_, d) => {
        expect(out[d]).toBe(maxSim(query, tokens, bounds[d], bounds[d + 1], width));
      });
    }
  });
});
