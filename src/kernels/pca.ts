/** Principal components, exact: the directions in which rows spread most, by the eigenvectors of whichever Gram matrix is smaller. */
import type { Matrix } from '../types.ts';
import { eigenSymmetric } from './eigen.ts';

export interface PrincipalComponents {
  /** rows x components, row-major: where each row lies along each component. */
  readonly scores: Float64Array;
  /** Share of the whole variance along each component, descending; 0 beyond the rank. */
  readonly shares: Float64Array;
}

/** Variances below this share of the largest are rounding, not a direction. */
const TOLERANCE = 1e-12;

/**
 * Centres the columns and projects on the leading `components`. Each component points to where its largest coordinate (of
 * the earliest row among equals) is positive, so that equal inputs give equal pictures. O(n d min(n, d) + min(n, d)^3).
 */
export function principalComponents(matrix: Matrix, components: number): PrincipalComponents {
  const { rows: n, columns: d } = matrix;
  const scores = new Float64Array(n * components);
  const shares = new Float64Array(components);
  if (n === 0 || d === 0) return { scores, shares };
  const x = centred(matrix);
  const side = Math.min(n, d);
  const gram = d <= n ? columnGram(x, n, d) : rowGram(x, n, d);
  let total = 0;
  for (let i = 0; i < side; i++) total += gram[i * side + i];
  const { values, vectors } = eigenSymmetric(gram, side);
  for (let c = 0; c < Math.min(components, side); c++) {
    if (!(values[c] > values[0] * TOLERANCE) || total === 0) break;
    shares[c] = values[c] / total;
    const axis = vectors.subarray(c * side, (c + 1) * side);
    for (let r = 0; r < n; r++) {
      scores[r * components + c] = d <= n ? dot(x, r * d, axis) : axis[r] * Math.sqrt(values[c]);
    }
    pointUp(scores, n, components, c);
  }
  return { scores, shares };
}

function centred({ rows, columns, data }: Matrix): Float64Array {
  const means = new Float64Array(columns);
  for (let r = 0; r < rows; r++) for (let j = 0; j < columns; j++) means[j] += data[r * columns + j];
  const x = new Float64Array(rows * columns);
  for (let r = 0; r < rows; r++) {
    for (let j = 0; j < columns; j++) x[r * columns + j] = data[r * columns + j] - means[j] / rows;
  }
  return x;
}

/** X^T X. */
function columnGram(x: Float64Array, n: number, d: number): Float64Array {
  const gram = new Float64Array(d * d);
  for (let r = 0; r < n; r++) {
    for (let i = 0; i < d; i++) {
      const value = x[r * d + i];
      if (value === 0) continue;
      for (let j = i; j < d; j++) gram[i * d + j] += value * x[r * d + j];
    }
  }
  return mirrored(gram, d);
}

/** X X^T. */
function rowGram(x: Float64Array, n: number, d: number): Float64Array {
  const gram = new Float64Array(n * n);
  for (let r = 0; r < n; r++) {
    for (let s = r; s < n; s++) gram[r * n + s] = dot(x, r * d, x.subarray(s * d, (s + 1) * d));
  }
  return mirrored(gram, n);
}

function mirrored(gram: Float64Array, n: number): Float64Array {
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) gram[i * n + j] = gram[j * n + i];
  return gram;
}

function dot(x: Float64Array, from: number, axis: Float64Array): number {
  let sum = 0;
  for (let j = 0; j < axis.length; j++) sum += x[from + j] * axis[j];
  return sum;
}

function pointUp(scores: Float64Array, n: number, stride: number, c: number): void {
  let largest = 0;
  for (let r = 0; r < n; r++) {
    const value = scores[r * stride + c];
    if (Math.abs(value) > Math.abs(largest)) largest = value;
  }
  if (largest < 0) for (let r = 0; r < n; r++) scores[r * stride + c] = -scores[r * stride + c];
}
