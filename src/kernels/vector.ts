/**
 * Inner products with one fixed order of additions: element i goes to partial sum i mod 4, and the four are added at the
 * end. Every kernel here follows it, so a score never depends on batch sizes or blocking, only on the two vectors.
 * Products of two float32 are exact in float64, only the additions round.
 */
export function dot(
  a: Float32Array | Float64Array,
  aStart: number,
  b: Float32Array | Float64Array,
  bStart: number,
  length: number,
): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  const whole = length & ~3;
  let i = 0;
  for (; i < whole; i += 4) {
    s0 += a[aStart + i] * b[bStart + i];
    s1 += a[aStart + i + 1] * b[bStart + i + 1];
    s2 += a[aStart + i + 2] * b[bStart + i + 2];
    s3 += a[aStart + i + 3] * b[bStart + i + 3];
  }
  if (i < length) s0 += a[aStart + i] * b[bStart + i];
  if (i + 1 < length) s1 += a[aStart + i + 1] * b[bStart + i + 1];
  if (i + 2 < length) s2 += a[aStart + i + 2] * b[bStart + i + 2];
  return s0 + s1 + (s2 + s3);
}

/** out[r] = row r of `rows` (count x width, row-major) times `vector`. */
export function timesVector(
  rows: Float32Array,
  count: number,
  width: number,
  vector: Float64Array,
  out: Float64Array,
): void {
  for (let r = 0; r < count; r++) out[r] = dot(rows, r * width, vector, 0, width);
}

/** Scales every row to length 1 in place; a row of zeros stays. Answers the number of zero rows. */
export function normaliseRows(data: Float32Array | Float64Array, width: number): number {
  let zeros = 0;
  for (let start = 0; start < data.length; start += width) {
    const norm = Math.sqrt(dot(data, start, data, start, width));
    if (norm === 0) {
      zeros++;
      continue;
    }
    for (let i = start; i < start + width; i++) data[i] /= norm;
  }
  return zeros;
}
