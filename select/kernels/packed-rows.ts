/**
 * Inner products of a large pool, ten times faster than in float64: rows as 16-bit integers, eight products an instruction.
 *
 * With any centre m, x.z = (x - m).(z - m) + (x.m - m.m/2) + (z.m - m.m/2). The last two are one number a row, in float64.
 * Of x - m, which is short where the pool is alike, each element is kept as a 16-bit integer in the row's own scale. The scale
 * is as large as 16 bits allow and as keeps the sum over any CHUNK elements inside 32 bits (Cauchy-Schwarz: no chunk's norm
 * above 2^15.5), so integer sums are exact in any order and the plain loop gives the bits of the SIMD one.
 *
 * Error of a cosine, from rounding to 16 bits: about 2e-6 |x - m| |z - m| at 1,024 columns. It shrinks with the spread of the
 * pool, as the kernel's width does, so the exponent of the kernel is off by about 1e-6 whatever the pool: a hundredth of
 * the noise on its diagonal.
 */
import type { Matrix } from '../../src/types.ts';
import { CHUNK, createPackedDots, MOST_ROWS, MOST_VECTORS } from './packed-dots.ts';

import { type PoolProducts, PAIR_SIDE as SIDE } from './pool-products.ts';

/** Rows that stay in the cache while every vector meets them. */
const TILE = 64;
/** Rows that the centre is the mean of. */
const CENTRE_ROWS = 256;
const MOST = 32767;
/** Rounding moves a chunk's norm by at most sqrt(CHUNK) / 2 = 4. */
const MOST_CHUNK_NORM = Math.floor(Math.sqrt(2 ** 31 - 1)) - 4;

export interface PackedOptions {
  /** false: the plain loops also where there is SIMD. */
  readonly simd?: boolean;
}

export function packRows(matrix: Matrix, options: PackedOptions = {}): PoolProducts {
  const { rows, columns, data } = matrix;
  const width = Math.ceil(columns / CHUNK) * CHUNK;
  // Behind the pool's rows: one for a vector from outside, then the two sides of a block of pairs.
  const outside = Math.ceil(rows / 4) * 4;
  const gathered = outside + 4;
  const dots = createPackedDots(gathered + 2 * SIDE, width, options.simd);
  /** 1 / scale, and x.m - m.m/2, by row. */
  const unit = new Float64Array(gathered);
  const offset = new Float64Array(gathered);
  const scales = new Float64Array(MOST_ROWS);
  setCentre(matrix, dots.centre);
  let half = 0;
  for (const m of dots.centre) half += (m * m) / 2;

  const pack = (source: Float32Array | Float64Array, count: number, start: number, row: number): void => {
    if (width === columns) dots.source.set(source.subarray(start, start + count * columns));
    else
      for (let r = 0; r < count; r++)
        dots.source.set(source.subarray(start + r * columns, start + (r + 1) * columns), r * width);
    const measured = dots.measure(count);
    for (let r = 0; r < count; r++) {
      const most = measured[3 * r];
      scales[r] = most === 0 ? 1 : Math.min(MOST / most, MOST_CHUNK_NORM / Math.sqrt(measured[3 * r + 1]));
      unit[row + r] = 1 / scales[r];
      offset[row + r] = measured[3 * r + 2] - half;
    }
    dots.quantise(count, scales, row);
  };
  for (let r = 0; r < rows; r += MOST_ROWS) pack(data, Math.min(MOST_ROWS, rows - r), r * columns, r);

  const ofRows = (positions: readonly number[], outs: readonly Float64Array[]): void => {
    for (let done = 0; done < positions.length; done += MOST_VECTORS) {
      const some = positions.slice(done, done + MOST_VECTORS);
      for (let start = 0; start < outside; start += TILE) dots.multiply(start, Math.min(TILE, outside - start), some);
      some.forEach((row, i) => {
        const sums = dots.outs[i];
        const out = outs[done + i];
        const u = unit[row];
        const o = offset[row];
        for (let r = 0; r < rows; r++) out[r] = sums[r] * (unit[r] * u) + (offset[r] + o);
      });
    }
  };

  return {
    ofRows,
    ofVector(vector, out) {
      pack(vector, 1, 0, outside);
      ofRows([outside], [out]);
    },
    together: true,
    between(first, second, out) {
      first.forEach((row, i) => {
        dots.copy(row, gathered + i);
      });
      for (let done = 0; done < SIDE; done += MOST_VECTORS) {
        const some = second.slice(done, done + MOST_VECTORS);
        dots.multiply(gathered, SIDE, some);
        some.forEach((b, j) => {
          for (let i = 0; i < SIDE; i++) {
            const a = first[i];
            out[(done + j) * SIDE + i] = dots.outs[j][gathered + i] * (unit[a] * unit[b]) + (offset[a] + offset[b]);
          }
        });
      }
    },
  };
}

function setCentre({ rows, columns, data }: Matrix, centre: Float64Array): void {
  const count = Math.min(rows, CENTRE_ROWS);
  for (let i = 0; i < count; i++) {
    const start = Math.floor((i * rows) / count) * columns;
    for (let j = 0; j < columns; j++) centre[j] += data[start + j];
  }
  for (let j = 0; j < columns; j++) centre[j] /= count;
}
