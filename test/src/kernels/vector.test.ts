import { describe, expect, it } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import { dot, normaliseRows, timesVector } from '../../../src/kernels/vector.ts';

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

  it('timesVector gives the bits of dot, row by row', () => {
    const rng = createRng(2);
    for (const width of [1, 3, 8, 201]) {
      const rows = Float32Array.from({ length: 7 * width }, () => rng.normal());
      const vector = Float64Array.from({ length: width }, () => Math.fround(rng.normal()));
      const out = new Float64Array(7);
      timesVector(rows, 7, width, vector, out);
      for (let r = 0; r < 7; r++) expect(out[r]).toBe(dot(rows, r * width, vector, 0, width));
    }
  });

  it('normaliseRows makes unit rows and leaves zero rows alone', () => {
    const data = Float32Array.of(3, 4, 0, 0, 0, -2);
    expect(normaliseRows(data, 2)).toBe(1);
    expect([...data]).toEqual([Math.fround(0.6), Math.fround(0.8), 0, 0, 0, -1]);
  });
});
