/**
 * Lower Cholesky factor in place of a symmetric positive definite n x n matrix (row-major; the upper half is ignored).
 * false = not positive definite, and the content is then undefined.
 */
export function choleskyFactor(a: Float64Array, n: number): boolean {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = a[i * n + j];
      for (let p = 0; p < j; p++) sum -= a[i * n + p] * a[j * n + p];
      if (i !== j) a[i * n + j] = sum / a[j * n + j];
      else if (sum > 0) a[i * n + i] = Math.sqrt(sum);
      else return false;
    }
  }
  return true;
}

/** Solves L L^T x = b in place of b. */
export function choleskySolve(factor: Float64Array, n: number, b: Float64Array): void {
  for (let i = 0; i < n; i++) {
    let sum = b[i];
    for (let p = 0; p < i; p++) sum -= factor[i * n + p] * b[p];
    b[i] = sum / factor[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = b[i];
    for (let p = i + 1; p < n; p++) sum -= factor[p * n + i] * b[p];
    b[i] = sum / factor[i * n + i];
  }
}
