/**
 * Inner product with one fixed order of additions: element i goes to partial sum i mod 4, and the four are added at the
 * end. Products of two float32 are exact in float64, only the additions round.
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
