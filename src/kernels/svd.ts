import { eigenSymmetric } from './eigen.ts';
import { timesTransposed, transposedTimes } from './matrix.ts';
import { createRng } from './rng.ts';

/** Compressed sparse rows: row r holds indices[offsets[r] .. offsets[r+1]) with the values beside them. */
export interface SparseMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly offsets: Float64Array;
  readonly indices: Int32Array;
  readonly values: Float32Array | Float64Array;
}

export interface RightSingular {
  /** May be below the asked rank when the matrix has fewer directions. */
  readonly rank: number;
  /** Descending, all positive. */
  readonly values: Float64Array;
  /** columns x rank, row-major: row t is where column t of the matrix lies in the reduced space. */
  readonly vectors: Float64Array;
}

export interface SvdOptions {
  readonly rank: number;
  readonly seed: number;
  /** Directions carried beyond the rank, dropped at the end. Default 40. */
  readonly oversampling?: number;
  /** Power iterations after the first pass. Default 3. */
  readonly iterations?: number;
}

/** Squared singular values below this share of the largest are noise of the arithmetic, not directions of the data. */
const RANK_TOLERANCE = 1e-10;
/** The same for the Gram matrix of a basis still to be made orthonormal, whose eigenvalues are spread far wider. */
const BASIS_TOLERANCE = 1e-13;

/**
 * The leading right singular vectors of a sparse matrix A by randomised subspace iteration (Halko, Martinsson, Tropp
 * 2011, algorithm 4.4, on A^T A). The dense work is kept on the shorter side of the matrix and the longer side only
 * streams by, so memory is a few (shorter side) x (rank + oversampling) matrices. Same seed, same bits.
 */
export function truncatedSvd(a: SparseMatrix, options: SvdOptions): RightSingular {
  if (a.columns <= a.rows) return singularOfColumns(a, options);
  const left = singularOfColumns(transpose(a), options);
  // From the left singular vectors U to the right ones: V = A^T U / values.
  const { rank, values } = left;
  const scaled = new Float64Array(left.vectors.length);
  for (let i = 0; i < scaled.length; i++) scaled[i] = left.vectors[i] / values[i % rank];
  const vectors = new Float64Array(a.columns * rank);
  for (let r = 0; r < a.rows; r++) {
    for (let n = a.offsets[r]; n < a.offsets[r + 1]; n++) {
      const weight = a.values[n];
      const out = a.indices[n] * rank;
      const from = r * rank;
      for (let j = 0; j < rank; j++) vectors[out + j] += weight * scaled[from + j];
    }
  }
  return { rank, values, vectors };
}

function singularOfColumns(a: SparseMatrix, options: SvdOptions): RightSingular {
  const { rank, seed, oversampling = 40, iterations = 3 } = options;
  const rng = createRng(seed);
  let axes = Math.min(rank + oversampling, a.rows, a.columns);
  let basis: Float64Array = new Float64Array(a.columns * axes);
  for (let i = 0; i < basis.length; i++) basis[i] = rng.normal();
  for (let i = 0; i <= iterations && axes > 0; i++) {
    ({ basis, axes } = orthonormalise(normalTimes(a, basis, axes), a.columns, axes));
  }

  // Rayleigh-Ritz: the small matrix Q^T (A^T A) Q holds the squared singular values seen from this basis.
  const small = symmetrise(transposedTimes(basis, normalTimes(a, basis, axes), a.columns, axes), axes);
  const { values, vectors } = eigenSymmetric(small, axes);
  let kept = 0;
  while (kept < Math.min(rank, axes) && values[kept] > values[0] * RANK_TOLERANCE) kept++;
  return {
    rank: kept,
    values: values.slice(0, kept).map(Math.sqrt),
    vectors: timesTransposed(basis, a.columns, axes, vectors.subarray(0, kept * axes), kept),
  };
}

/** A^T (A X) for X of columns x width, one pass over the rows of A. */
function normalTimes(a: SparseMatrix, x: Float64Array, width: number): Float64Array {
  const { offsets, indices, values } = a;
  const out = new Float64Array(a.columns * width);
  const image = new Float64Array(width);
  for (let r = 0; r < a.rows; r++) {
    const end = offsets[r + 1];
    image.fill(0);
    let n = offsets[r];
    // Two columns at a time: half the loads and stores of the image.
    for (; n + 1 < end; n += 2) {
      const v = values[n];
      const w = values[n + 1];
      let p = indices[n] * width;
      let q = indices[n + 1] * width;
      for (let j = 0; j < width; j++) image[j] += v * x[p++] + w * x[q++];
    }
    if (n < end) {
      const v = values[n];
      let p = indices[n] * width;
      for (let j = 0; j < width; j++) image[j] += v * x[p++];
    }
    for (n = offsets[r]; n < end; n++) {
      const v = values[n];
      let p = indices[n] * width;
      for (let j = 0; j < width; j++) out[p++] += v * image[j];
    }
  }
  return out;
}

/**
 * An orthonormal basis of the columns of X through the eigenvectors of its Gram matrix, columns first scaled to unit
 * length. Unlike Gram-Schmidt it needs no pivoting when columns depend on each other: those directions have no eigenvalue.
 */
function orthonormalise(x: Float64Array, count: number, width: number): { basis: Float64Array; axes: number } {
  const products = transposedTimes(x, x, count, width);
  const scale = Float64Array.from({ length: width }, (_, i) => {
    const square = products[i * width + i];
    return square > 0 ? 1 / Math.sqrt(square) : 0;
  });
  for (let i = 0; i < width; i++) for (let j = 0; j < width; j++) products[i * width + j] *= scale[i] * scale[j];
  const { values, vectors } = eigenSymmetric(products, width);

  let axes = 0;
  while (axes < width && values[axes] > values[0] * BASIS_TOLERANCE) axes++;
  for (let i = 0; i < axes; i++) {
    const shrink = 1 / Math.sqrt(values[i]);
    for (let j = 0; j < width; j++) vectors[i * width + j] *= shrink * scale[j];
  }
  return { basis: timesTransposed(x, count, width, vectors.subarray(0, axes * width), axes), axes };
}

function symmetrise(a: Float64Array, n: number): Float64Array {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      const mean = (a[i * n + j] + a[j * n + i]) / 2;
      a[i * n + j] = mean;
      a[j * n + i] = mean;
    }
  }
  return a;
}

function transpose(a: SparseMatrix): SparseMatrix {
  const offsets = new Float64Array(a.columns + 1);
  for (const column of a.indices) offsets[column + 1]++;
  for (let c = 0; c < a.columns; c++) offsets[c + 1] += offsets[c];
  const next = offsets.slice();
  const indices = new Int32Array(a.indices.length);
  const values = new Float64Array(a.indices.length);
  for (let r = 0; r < a.rows; r++) {
    for (let n = a.offsets[r]; n < a.offsets[r + 1]; n++) {
      const slot = next[a.indices[n]]++;
      indices[slot] = r;
      values[slot] = a.values[n];
    }
  }
  return { rows: a.columns, columns: a.rows, offsets, indices, values };
}
