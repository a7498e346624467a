/**
 * Inner products of float32 rows with float64 queries, added up in float64 from the first element to the last. That one
 * order holds in every function here, so a score depends on the two vectors alone, never on blocks or on the company
 * that a query is asked in.
 */

import { BLOCK_QUERIES, BLOCK_ROWS, type SimdBlock, simdBlock } from './simd-scores.ts';

/** Rows that are scored for all queries before going on, so that they stay in the cache. */
const BLOCK = 64;

/** The score of one row with one query. */
export function pairScore(
  rows: Float32Array,
  rowStart: number,
  queries: Float64Array,
  queryStart: number,
  width: number,
): number {
  let sum = 0;
  for (let j = 0; j < width; j++) sum += rows[rowStart + j] * queries[queryStart + j];
  return sum;
}

/**
 * out[q * count + r] = row r times query q, for `count` rows and all queries (row-major, `width` wide). In WebAssembly SIMD
 * where the engine has it, unless told otherwise; the same bits.
 */
export function flatScores(
  rows: Float32Array,
  count: number,
  queries: Float64Array,
  width: number,
  out: Float64Array,
  useSimd = true,
): void {
  if (width === 0) {
    out.fill(0);
    return;
  }
  const queryCount = queries.length / width;
  const simd = useSimd && queryCount > 0 ? simdBlock(width) : undefined;
  if (simd !== undefined) {
    scoreInBlocks(simd, rows, count, queries, queryCount, out);
    return;
  }
  for (let start = 0; start < count; start += BLOCK) {
    const end = Math.min(count, start + BLOCK);
    let q = 0;
    for (; q + 2 <= queryCount; q += 2) scoreTwo(rows, start, end, queries, q, width, out, count);
    if (q < queryCount) scoreSingle(rows, start, end, queries, q, width, out, count);
  }
}

function scoreInBlocks(
  simd: SimdBlock,
  rows: Float32Array,
  count: number,
  queries: Float64Array,
  queryCount: number,
  out: Float64Array,
): void {
  for (let first = 0; first < queryCount; first += BLOCK_QUERIES) {
    const some = Math.min(BLOCK_QUERIES, queryCount - first);
    simd.setQueries(queries, first, some);
    for (let start = 0; start < count; start += BLOCK_ROWS) {
      const here = Math.min(BLOCK_ROWS, count - start);
      const scores = simd.score(rows, start, here);
      for (let q = 0; q < some; q++)
        out.set(scores.subarray(q * BLOCK_ROWS, q * BLOCK_ROWS + here), (first + q) * count + start);
    }
  }
}

/** Four rows by two queries at a time: eight sums in registers, each row element loaded once for both. */
function scoreTwo(
  rows: Float32Array,
  start: number,
  end: number,
  queries: Float64Array,
  query: number,
  width: number,
  out: Float64Array,
  count: number,
): void {
  const p = query * width;
  const first = query * count;
  const second = first + count;
  let r = start;
  for (; r + 4 <= end; r += 4) {
    let a0 = 0;
    let a1 = 0;
    let a2 = 0;
    let a3 = 0;
    let b0 = 0;
    let b1 = 0;
    let b2 = 0;
    let b3 = 0;
    let i0 = r * width;
    let i1 = i0 + width;
    let i2 = i1 + width;
    let i3 = i2 + width;
    for (let j = p, k = p + width, last = p + width; j < last; j++, k++) {
      const x = queries[j];
      const y = queries[k];
      const d0 = rows[i0++];
      const d1 = rows[i1++];
      const d2 = rows[i2++];
      const d3 = rows[i3++];
      a0 += d0 * x;
      a1 += d1 * x;
      a2 += d2 * x;
      a3 += d3 * x;
      b0 += d0 * y;
      b1 += d1 * y;
      b2 += d2 * y;
      b3 += d3 * y;
    }
    out[first + r] = a0;
    out[first + r + 1] = a1;
    out[first + r + 2] = a2;
    out[first + r + 3] = a3;
    out[second + r] = b0;
    out[second + r + 1] = b1;
    out[second + r + 2] = b2;
    out[second + r + 3] = b3;
  }
  for (; r < end; r++) {
    out[first + r] = pairScore(rows, r * width, queries, p, width);
    out[second + r] = pairScore(rows, r * width, queries, p + width, width);
  }
}

function scoreSingle(
  rows: Float32Array,
  start: number,
  end: number,
  queries: Float64Array,
  query: number,
  width: number,
  out: Float64Array,
  count: number,
): void {
  const p = query * width;
  const first = query * count;
  let r = start;
  for (; r + 4 <= end; r += 4) {
    let a0 = 0;
    let a1 = 0;
    let a2 = 0;
    let a3 = 0;
    let i0 = r * width;
    let i1 = i0 + width;
    let i2 = i1 + width;
    let i3 = i2 + width;
    for (let j = p, last = p + width; j < last; j++) {
      const x = queries[j];
      a0 += rows[i0++] * x;
      a1 += rows[i1++] * x;
      a2 += rows[i2++] * x;
      a3 += rows[i3++] * x;
    }
    out[first + r] = a0;
    out[first + r + 1] = a1;
    out[first + r + 2] = a2;
    out[first + r + 3] = a3;
  }
  for (; r < end; r++) out[first + r] = pairScore(rows, r * width, queries, p, width);
}
