/**
 * min |y - a - X w|^2 with w >= 0 and a free, for a handful of columns: the least-squares fit of every subset of columns,
 * the best of those without a negative weight. The solution is the free fit of its own support.
 */
import { choleskyFactor, choleskySolve } from '../../src/kernels/cholesky.ts';

/** Columns beyond this many would make too many subsets. */
const MOST_COLUMNS = 10;

export function nonNegativeLeastSquares(columns: readonly Float64Array[], y: Float64Array): Float64Array {
  const count = columns.length;
  if (count > MOST_COLUMNS) throw new RangeError(`at most ${MOST_COLUMNS} columns, not ${count}`);
  // A free intercept is the same as centred columns.
  const x = columns.map(centred);
  const target = centred(y);
  const gram = x.map((a) => x.map((b) => inner(a, b)));
  const right = x.map((a) => inner(a, target));
  let best = new Float64Array(count);
  let gain = 0;
  for (let subset = 1; subset < 1 << count; subset++) {
    const chosen = Array.from({ length: count }, (_, i) => i).filter((i) => (subset >> i) & 1);
    const n = chosen.length;
    const a = Float64Array.from({ length: n * n }, (_, i) => gram[chosen[Math.floor(i / n)]][chosen[i % n]]);
    // A hair on the diagonal, so that equal columns share their weight instead of dividing by rounding.
    for (let p = 0; p < n; p++) a[p * n + p] *= 1 + 1e-9;
    const w = Float64Array.from(chosen, (i) => right[i]);
    if (!choleskyFactor(a, n)) continue;
    choleskySolve(a, n, w);
    if (w.some((value) => !(value >= 0))) continue;
    // Explained sum of squares of a free fit: w . X'y.
    const explained = chosen.reduce((sum, i, p) => sum + w[p] * right[i], 0);
    if (explained <= gain) continue;
    gain = explained;
    best = new Float64Array(count);
    chosen.forEach((i, p) => {
      best[i] = w[p];
    });
  }
  return best;
}

function centred(values: Float64Array): Float64Array {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

function inner(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
