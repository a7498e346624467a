/**
 * Inner product of a stored row with a float64 vector, once for each storage type. The two bodies are the same text on
 * purpose: one function that meets both array types runs four times slower, because the engine then checks the type at
 * every element. Same order of additions as src/kernels/vector.ts, so the values are the same.
 */
export type InnerProduct = (
  data: Float32Array | Float64Array,
  start: number,
  vector: Float64Array,
  at: number,
  length: number,
) => number;

/** The inner product for this storage; choose it once, outside the loop over rows. */
export function innerProductFor(data: Float32Array | Float64Array): InnerProduct {
  return (data instanceof Float32Array ? innerSingle : innerDouble) as InnerProduct;
}

function innerSingle(data: Float32Array, start: number, vector: Float64Array, at: number, length: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let i = 0;
  for (const whole = length & ~3; i < whole; i += 4) {
    s0 += data[start + i] * vector[at + i];
    s1 += data[start + i + 1] * vector[at + i + 1];
    s2 += data[start + i + 2] * vector[at + i + 2];
    s3 += data[start + i + 3] * vector[at + i + 3];
  }
  if (i < length) s0 += data[start + i] * vector[at + i];
  if (i + 1 < length) s1 += data[start + i + 1] * vector[at + i + 1];
  if (i + 2 < length) s2 += data[start + i + 2] * vector[at + i + 2];
  return s0 + s1 + (s2 + s3);
}

function innerDouble(data: Float64Array, start: number, vector: Float64Array, at: number, length: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let i = 0;
  for (const whole = length & ~3; i < whole; i += 4) {
    s0 += data[start + i] * vector[at + i];
    s1 += data[start + i + 1] * vector[at + i + 1];
    s2 += data[start + i + 2] * vector[at + i + 2];
    s3 += data[start + i + 3] * vector[at + i + 3];
  }
  if (i < length) s0 += data[start + i] * vector[at + i];
  if (i + 1 < length) s1 += data[start + i + 1] * vector[at + i + 1];
  if (i + 2 < length) s2 += data[start + i + 2] * vector[at + i + 2];
  return s0 + s1 + (s2 + s3);
}
