/** Eigenpairs of a symmetric matrix, largest first: `vectors` holds one unit eigenvector per row. */
export interface Eigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array;
}

/**
 * All eigenpairs of a symmetric n x n matrix (row-major): Householder reflections to a tridiagonal matrix, then implicit
 * QL with Wilkinson shifts. O(n^3), accurate to about 1e-15 of the largest eigenvalue.
 */
export function eigenSymmetric(matrix: Float64Array, n: number): Eigen {
  const { diagonal, beside, vectors } = tridiagonalise(matrix.slice(), n);
  diagonalise(diagonal, beside, vectors, n);
  return sortDescending(diagonal, vectors, n);
}

interface Tridiagonal {
  diagonal: Float64Array;
  /** beside[i] couples i and i + 1. */
  beside: Float64Array;
  /** Rows: the basis in which the matrix is tridiagonal. */
  vectors: Float64Array;
}

function tridiagonalise(a: Float64Array, n: number): Tridiagonal {
  const vectors = new Float64Array(n * n);
  for (let i = 0; i < n; i++) vectors[i * n + i] = 1;
  const v = new Float64Array(n);
  const w = new Float64Array(n);

  for (let k = 0; k + 2 < n; k++) {
    // v = the unit normal of the mirror that maps column k below the diagonal onto its first axis.
    let tail = 0;
    for (let i = k + 2; i < n; i++) tail += a[i * n + k] * a[i * n + k];
    if (tail === 0) continue;
    const head = a[(k + 1) * n + k];
    const length = Math.sqrt(head * head + tail);
    v.fill(0);
    v[k + 1] = head + (head < 0 ? -length : length);
    for (let i = k + 2; i < n; i++) v[i] = a[i * n + k];
    const scale = 1 / Math.sqrt(v[k + 1] * v[k + 1] + tail);
    for (let i = k + 1; i < n; i++) v[i] *= scale;

    // H A H = A - 2 v w^T - 2 w v^T with w = A v - (v^T A v) v.
    let vAv = 0;
    for (let i = k; i < n; i++) {
      let sum = 0;
      for (let j = k + 1; j < n; j++) sum += a[i * n + j] * v[j];
      w[i] = sum;
      vAv += sum * v[i];
    }
    for (let i = k + 1; i < n; i++) w[i] -= vAv * v[i];
    for (let i = k; i < n; i++) {
      for (let j = k; j < n; j++) a[i * n + j] -= 2 * (v[i] * w[j] + w[i] * v[j]);
    }

    // The basis turns with it: row p of H times the rows so far.
    w.fill(0);
    for (let i = k + 1; i < n; i++) for (let j = 0; j < n; j++) w[j] += v[i] * vectors[i * n + j];
    for (let i = k + 1; i < n; i++) for (let j = 0; j < n; j++) vectors[i * n + j] -= 2 * v[i] * w[j];
  }

  const diagonal = new Float64Array(n);
  const beside = new Float64Array(n);
  for (let i = 0; i < n; i++) diagonal[i] = a[i * n + i];
  for (let i = 0; i + 1 < n; i++) beside[i] = a[(i + 1) * n + i];
  return { diagonal, beside, vectors };
}

function diagonalise(d: Float64Array, e: Float64Array, vectors: Float64Array, n: number): void {
  let size = 0;
  for (let i = 0; i < n; i++) size = Math.max(size, Math.abs(d[i]) + Math.abs(e[i]));
  if (!Number.isFinite(size)) throw new Error('eigenSymmetric: the matrix holds non-finite values');
  const tiny = size * Number.EPSILON;

  for (let low = 0; low < n; low++) {
    for (let sweep = 0; ; sweep++) {
      let high = low;
      while (high + 1 < n && Math.abs(e[high]) > tiny) high++;
      if (high === low) break;
      if (sweep === 80) throw new Error('eigenSymmetric did not converge');

      const gap = (d[low + 1] - d[low]) / (2 * e[low]);
      let g = d[high] - d[low] + e[low] / (gap + (gap < 0 ? -1 : 1) * Math.sqrt(gap * gap + 1));
      let sine = 1;
      let cosine = 1;
      let carried = 0;
      let i = high - 1;
      for (; i >= low; i--) {
        const f = sine * e[i];
        const b = cosine * e[i];
        const r = Math.sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r === 0) {
          d[i + 1] -= carried;
          e[high] = 0;
          break;
        }
        sine = f / r;
        cosine = g / r;
        g = d[i + 1] - carried;
        const t = (d[i] - g) * sine + 2 * cosine * b;
        carried = sine * t;
        d[i + 1] = g + carried;
        g = cosine * t - b;
        for (let j = 0, p = i * n, q = p + n; j < n; j++, p++, q++) {
          const lower = vectors[p];
          const upper = vectors[q];
          vectors[q] = sine * lower + cosine * upper;
          vectors[p] = cosine * lower - sine * upper;
        }
      }
      if (i >= low) continue;
      d[low] -= carried;
      e[low] = g;
      e[high] = 0;
    }
  }
}

function sortDescending(d: Float64Array, vectors: Float64Array, n: number): Eigen {
  const order = Array.from(d, (_, i) => i).sort((a, b) => d[b] - d[a] || a - b);
  const values = new Float64Array(n);
  const sorted = new Float64Array(n * n);
  order.forEach((from, to) => {
    values[to] = d[from];
    sorted.set(vectors.subarray(from * n, (from + 1) * n), to * n);
  });
  return { values, vectors: sorted };
}
