import { describe, expect, it } from 'vitest';
import { packRows } from '../../../select/kernels/packed-rows.ts';
import { PAIR_SIDE } from '../../../select/kernels/pool-products.ts';
import { createRng, type Rng } from '../../../src/kernels/rng.ts';
import { dot } from '../../../src/kernels/vector.ts';
import type { Matrix } from '../../../src/types.ts';
import { randomVectors, SHAPES, unit } from '../../support/pools.ts';

function single(vectors: readonly (readonly number[])[], columns: number): Matrix {
  return { rows: vectors.length, columns, data: Float32Array.from(vectors.flat()) };
}

function exact({ columns, data }: Matrix, a: number, b: number): number {
  return dot(data, a * columns, data, b * columns, columns);
}

function everyRow(matrix: Matrix, simd: boolean): Float64Array[] {
  const positions = Array.from({ length: matrix.rows }, (_, r) => r);
  const outs = positions.map(() => new Float64Array(matrix.rows));
  packRows(matrix, { simd }).ofRows(positions, outs);
  return outs;
}

function randomMatrix(rng: Rng, rows: number, columns: number): Matrix {
  const vectors = randomVectors(rng, rows, columns, SHAPES[rng.int(SHAPES.length)]);
  return single(vectors, columns);
}

describe('packed rows', () => {
  it('give the bits of the plain loops, whatever the shape', () => {
    const rng = createRng(31);
    for (let round = 0; round < 60; round++) {
      const matrix = randomMatrix(rng, 1 + rng.int(40), 2 + rng.int(round % 6 === 0 ? 300 : 70));
      expect(everyRow(matrix, true)).toEqual(everyRow(matrix, false));
    }
  });

  it('are close to the exact products, and their own transpose', () => {
    const rng = createRng(32);
    for (let round = 0; round < 60; round++) {
      const matrix = randomMatrix(rng, 2 + rng.int(30), 2 + rng.int(200));
      const rows = everyRow(matrix, true);
      for (let a = 0; a < matrix.rows; a++) {
        for (let b = 0; b < matrix.rows; b++) {
          // Half a step of 16 bits for each element of each side.
          expect(Math.abs(rows[a][b] - exact(matrix, a, b))).toBeLessThan((2 * Math.SQRT2) / 32767);
          expect(rows[a][b]).toBe(rows[b][a]);
        }
      }
    }
  });

  it('lose less the more alike the pool is', () => {
    const rng = createRng(33);
    const columns = 384;
    const centre = Array.from({ length: columns }, () => rng.normal());
    for (const spread of [1, 1e-1, 1e-2, 1e-3]) {
      const vectors = Array.from({ length: 50 }, () => unit(centre.map((x) => x + spread * rng.normal())));
      const matrix = single(vectors, columns);
      const rows = everyRow(matrix, true);
      let error = 0;
      let distance = 0;
      for (let a = 0; a < 50; a++) {
        for (let b = 0; b < a; b++) {
          error = Math.max(error, Math.abs(rows[a][b] - exact(matrix, a, b)));
          distance += (1 - exact(matrix, a, b)) / 1225;
        }
      }
      // Float32 itself keeps about 1e-8 of a cosine.
      expect(error).toBeLessThan(2e-5 * distance + 1e-8);
    }
  });

  it('hold the largest sums that can be: all weight in one column, in one chunk, or with one sign', () => {
    const columns = 256;
    const spike = Array.from({ length: columns }, (_, j) => (j === 70 ? 1 : 0));
    const chunk = unit(Array.from({ length: columns }, (_, j) => (j >= 64 && j < 128 ? 1 : 0)));
    const flat = unit(new Array<number>(columns).fill(1));
    const vectors = [spike, chunk, flat].flatMap((v) => [v, v.map((x) => -x), v, v.map((x) => -x)]);
    const matrix = single(vectors, columns);
    const rows = everyRow(matrix, true);
    expect(rows).toEqual(everyRow(matrix, false));
    for (let a = 0; a < matrix.rows; a++) {
      for (let b = 0; b < matrix.rows; b++) expect(Math.abs(rows[a][b] - exact(matrix, a, b))).toBeLessThan(1e-4);
    }
  });

  it('take a vector from outside, in either storage, and rows that are zeros or all alike', () => {
    const rng = createRng(34);
    const columns = 70;
    const matrix = single(randomVectors(rng, 9, columns, 'zeros'), columns);
    const vector = Float64Array.from(unit(Array.from({ length: columns }, () => rng.normal())));
    const out = new Float64Array(9);
    const again = new Float64Array(9);
    const packed = packRows(matrix);
    packed.ofVector(vector, out);
    packed.ofVector(Float32Array.from(vector), again);
    expect(again).toEqual(out);
    for (let r = 0; r < 9; r++)
      expect(Math.abs(out[r] - dot(matrix.data, r * columns, vector, 0, columns))).toBeLessThan(1e-5);
    const alike = single(randomVectors(rng, 12, 64, 'identical'), 64);
    for (const row of everyRow(alike, true)) for (const cosine of row) expect(cosine).toBeCloseTo(1, 6);
  });

  it('answer a block of pairs as the rows do', () => {
    const rng = createRng(35);
    const matrix = randomMatrix(rng, 50, 100);
    const rows = everyRow(matrix, true);
    const first = Array.from({ length: PAIR_SIDE }, () => rng.int(50));
    const second = Array.from({ length: PAIR_SIDE }, () => rng.int(50));
    for (const simd of [true, false]) {
      const out = new Float64Array(PAIR_SIDE * PAIR_SIDE);
      packRows(matrix, { simd }).between(first, second, out);
      for (let i = 0; i < PAIR_SIDE; i++)
        for (let j = 0; j < PAIR_SIDE; j++) expect(out[j * PAIR_SIDE + i]).toBe(rows[first[i]][second[j]]);
    }
  });
});
