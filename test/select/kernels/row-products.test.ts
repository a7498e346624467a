import { describe, expect, it } from 'vitest';
import { createRowProducts, plainRowProducts } from '../../../select/kernels/row-products.ts';
import { createSimdRows } from '../../../select/kernels/simd-rows.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { dot } from '../../../src/kernels/vector.ts';

describe('row products', () => {
  it('are the bits of the plain loop, whatever the number of rows and columns', () => {
    const rng = createRng(9);
    expect(createSimdRows(4, 4)).toBeDefined();
    for (let round = 0; round < 120; round++) {
      const rows = 1 + rng.int(23);
      const columns = 1 + rng.int(round % 10 === 0 ? 300 : 19);
      const data = Float32Array.from({ length: rows * columns }, () => rng.normal() * 10 ** (rng.int(9) - 4));
      const vector = Float64Array.from({ length: columns }, () => rng.normal());
      const fast = new Float64Array(rows);
      const slow = new Float64Array(rows);
      const products = createRowProducts({ rows, columns, data });
      plainRowProducts({ rows, columns, data })(vector, slow);
      products(vector, fast);
      expect(fast).toEqual(slow);
      for (let r = 0; r < rows; r++) expect(slow[r]).toBe(dot(data, r * columns, vector, 0, columns));
      // The second vector must not meet what the first left behind.
      const other = vector.map((x) => -2 * x);
      products(other, fast);
      plainRowProducts({ rows, columns, data })(other, slow);
      expect(fast).toEqual(slow);
    }
  });

  it('start at any row, and leave the earlier ones alone', () => {
    const rng = createRng(10);
    const [rows, columns] = [11, 6];
    const vector = Float64Array.from({ length: columns }, () => rng.normal());
    const values = Array.from({ length: rows * columns }, () => rng.normal());
    for (const data of [Float32Array.from(values), Float64Array.from(values)]) {
      for (let from = 0; from <= rows; from++) {
        const out = new Float64Array(rows).fill(-9);
        createRowProducts({ rows, columns, data })(vector, out, from);
        for (let r = 0; r < rows; r++) {
          expect(out[r]).toBe(r < from ? -9 : dot(data, r * columns, vector, 0, columns));
        }
      }
    }
  });

  it('take float64 rows as they are', () => {
    const data = Float64Array.of(1 / 3, 2, 3, 4, 5, 1 / 7);
    const out = new Float64Array(2);
    createRowProducts({ rows: 2, columns: 3, data })(Float64Array.of(1, 1, 1), out);
    expect(out[0]).toBe(dot(data, 0, Float64Array.of(1, 1, 1), 0, 3));
  });

  it('are nothing for no rows', () => {
    expect(createSimdRows(0, 4)).toBeUndefined();
    createRowProducts({ rows: 0, columns: 3, data: new Float32Array(0) })(new Float64Array(3), new Float64Array(0));
  });
});
