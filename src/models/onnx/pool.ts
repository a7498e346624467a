import type { OnnxTensor } from '../runtimes/onnxruntime.ts';
import type { Pooling } from './sentence-folder.ts';

/**
 * One vector of a sequence from the states of its tokens: their mean, the first's, or the last's. `row` is its place in a
 * batch x tokens x width tensor, `length` its tokens; what is behind them is padding. Sums are in float64.
 */
export function poolRow(states: OnnxTensor, row: number, length: number, pooling: Pooling): Float64Array {
  const [, tokens, width] = states.dims;
  const data = states.data as Float32Array;
  const start = row * tokens * width;
  const at = pooling === 'last' ? start + (length - 1) * width : start;
  const out = new Float64Array(width);
  const count = pooling === 'mean' ? length : 1;
  for (let t = 0; t < count; t++) {
    for (let j = 0, from = at + t * width; j < width; j++) out[j] += data[from + j];
  }
  if (count > 1) for (let j = 0; j < width; j++) out[j] /= count;
  return out;
}

/** Writes the vector at length 1 into `out` from `at`; false when it has no direction or is not finite. */
export function writeUnit(vector: Float64Array, out: Float32Array, at: number): boolean {
  let square = 0;
  for (const value of vector) square += value * value;
  const norm = Math.sqrt(square);
  if (!(norm > 0 && Number.isFinite(norm))) return false;
  for (let j = 0; j < vector.length; j++) out[at + j] = vector[j] / norm;
  return true;
}
