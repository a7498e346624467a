/** Dense float64 products, row-major. Everything goes through one kernel, out += A B^T, that works on 4 x 2 tiles held in registers. */

/** Rows per block of the transposed products, so that a block stays in the cache. */
const BLOCK = 128;

/** X W^T for X of count x width and W of `rows` x width (the rows of W are the new axes): count x rows. */
export function timesTransposed(
  x: Float64Array,
  count: number,
  width: number,
  w: Float64Array,
  rows: number,
): Float64Array {
  const out = new Float64Array(count * rows);
  for (let start = 0; start < count; start += BLOCK) {
    const end = Math.min(count, start + BLOCK);
    addTimesTransposed(x.subarray(start * width, end * width), w, width, out.subarray(start * rows, end * rows));
  }
  return out;
}

/** X^T Y (width x width) for X and Y of count x width. */
export function transposedTimes(x: Float64Array, y: Float64Array, count: number, width: number): Float64Array {
  const out = new Float64Array(width * width);
  const symmetric = x === y;
  for (let start = 0; start < count; start += BLOCK) {
    const end = Math.min(count, start + BLOCK);
    const xBlock = transposed(x, start, end, width);
    addTimesTransposed(xBlock, symmetric ? xBlock : transposed(y, start, end, width), end - start, out, symmetric);
  }
  if (symmetric) for (let i = 0; i < width; i++) for (let j = 0; j < i; j++) out[i * width + j] = out[j * width + i];
  return out;
}

/** Rows start..end of X (width wide) as width x (end - start). */
function transposed(x: Float64Array, start: number, end: number, width: number): Float64Array {
  const count = end - start;
  const out = new Float64Array(width * count);
  for (let r = 0; r < count; r++) {
    const from = (start + r) * width;
    for (let j = 0; j < width; j++) out[j * count + r] = x[from + j];
  }
  return out;
}

/** out += A B^T for A and B with rows of `width`; `upper` leaves out what lies wholly below the diagonal. */
function addTimesTransposed(a: Float64Array, b: Float64Array, width: number, out: Float64Array, upper = false): void {
  const rows = a.length / width;
  const columns = b.length / width;
  let i = 0;
  for (; i + 4 <= rows; i += 4) {
    let j = upper ? i : 0;
    for (; j + 2 <= columns; j += 2) addTile(a, i * width, b, j * width, width, out, i * columns + j, columns);
    for (; j < columns; j++) {
      for (let r = i; r < i + 4; r++) addOne(a, r * width, b, j * width, width, out, r * columns + j);
    }
  }
  for (; i < rows; i++) {
    for (let j = upper ? i : 0; j < columns; j++) addOne(a, i * width, b, j * width, width, out, i * columns + j);
  }
}

function addTile(
  a: Float64Array,
  aStart: number,
  b: Float64Array,
  bStart: number,
  width: number,
  out: Float64Array,
  outStart: number,
  columns: number,
): void {
  let s00 = 0;
  let s01 = 0;
  let s10 = 0;
  let s11 = 0;
  let s20 = 0;
  let s21 = 0;
  let s30 = 0;
  let s31 = 0;
  let a1 = aStart + width;
  let a2 = a1 + width;
  let a3 = a2 + width;
  let b1 = bStart + width;
  for (let p = 0; p < width; p++) {
    const x = b[bStart++];
    const y = b[b1++];
    const r0 = a[aStart++];
    const r1 = a[a1++];
    const r2 = a[a2++];
    const r3 = a[a3++];
    s00 += r0 * x;
    s01 += r0 * y;
    s10 += r1 * x;
    s11 += r1 * y;
    s20 += r2 * x;
    s21 += r2 * y;
    s30 += r3 * x;
    s31 += r3 * y;
  }
  out[outStart] += s00;
  out[outStart + 1] += s01;
  out[outStart + columns] += s10;
  out[outStart + columns + 1] += s11;
  out[outStart + 2 * columns] += s20;
  out[outStart + 2 * columns + 1] += s21;
  out[outStart + 3 * columns] += s30;
  out[outStart + 3 * columns + 1] += s31;
}

function addOne(
  a: Float64Array,
  aStart: number,
  b: Float64Array,
  bStart: number,
  width: number,
  out: Float64Array,
  at: number,
): void {
  let sum = 0;
  for (let p = 0; p < width; p++) sum += a[aStart + p] * b[bStart + p];
  out[at] += sum;
}
