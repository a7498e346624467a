import { describe, expect, it } from 'vitest';
import { timesTransposed, transposedTimes } from '../../../src/kernels/matrix.ts';
import { createRng } from '../../../src/kernels/rng.ts';

const random = (length: number, seed: number): Float64Array => {
  const rng = createRng(seed);
  return Float64Array.from({ length }, () => rng.normal());
};

describe('dense products', () => {
  // Around the tile of 4 x 2 and the block of 128 rows.
  for (const [count, width] of [
    [1, 1],
    [3, 5],
    [4, 2],
    [127, 7],
    [129, 9],
    [300, 6],
  ]) {
    it(`X W^T and X^T Y of ${count} x ${width} agree with plain loops`, () => {
      const x = random(count * width, 1);
      const y = random(count * width, 2);
      for (const rows of [1, 2, 3, width]) {
        const w = random(rows * width, 3);
        const product = timesTransposed(x, count, width, w, rows);
        expect(product.length).toBe(count * rows);
        for (let r = 0; r < count; r++) {
          for (let i = 0; i < rows; i++) {
            let sum = 0;
            for (let j = 0; j < width; j++) sum += x[r * width + j] * w[i * width + j];
            expect(product[r * rows + i]).toBeCloseTo(sum, 10);
          }
        }
      }
      for (const other of [x, y]) {
        const product = transposedTimes(x, other, count, width);
        for (let i = 0; i < width; i++) {
          for (let j = 0; j < width; j++) {
            let sum = 0;
            for (let r = 0; r < count; r++) sum += x[r * width + i] * other[r * width + j];
            expect(product[i * width + j]).toBeCloseTo(sum, 10);
          }
        }
      }
    });
  }

  it('takes no rows', () => {
    expect(timesTransposed(new Float64Array(0), 0, 3, random(6, 1), 2).length).toBe(0);
    expect([...transposedTimes(new Float64Array(0), new Float64Array(0), 0, 2)]).toEqual([0, 0, 0, 0]);
  });
});
