import { choleskyFactor, choleskySolve } from './cholesky.ts';

export interface LogisticData {
  /** rows x columns, row-major. */
  readonly x: Float64Array;
  readonly columns: number;
  /** 0 or 1 per row. */
  readonly y: Float64Array;
  /** How many observations a row stands for. */
  readonly weights: Float64Array;
}

/** log(1 + e^-z), the loss of a positive at margin z, without overflow. */
function softplusOfMinus(z: number): number {
  return z > 0 ? Math.log1p(Math.exp(-z)) : -z + Math.log1p(Math.exp(z));
}

export function sigmoid(z: number): number {
  return z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z));
}

/**
 * Weighted ridge logistic regression by Newton steps with halving: minimises sum w loss + ridge/2 |beta|^2, the intercept
 * unpenalised. Answers `columns` coefficients, then the intercept. Convex, so the result does not depend on a start.
 */
export function fitLogistic(data: LogisticData, ridge: number): Float64Array {
  const { columns } = data;
  const size = columns + 1;
  let beta: Float64Array = new Float64Array(size);
  let loss = lossOf(data, beta, ridge);
  for (let step = 0; step < 100; step++) {
    const direction = newtonStep(data, beta, ridge);
    let moved = beta;
    let next = loss;
    for (let share = 1; share > 1e-6; share /= 2) {
      moved = beta.map((value, j) => value - share * direction[j]);
      next = lossOf(data, moved, ridge);
      if (next <= loss) break;
    }
    if (!(next < loss)) break;
    const gain = loss - next;
    beta = moved;
    loss = next;
    if (gain <= 1e-12 * (1 + Math.abs(loss))) break;
  }
  return beta;
}

function lossOf({ x, columns, y, weights }: LogisticData, beta: Float64Array, ridge: number): number {
  let loss = 0;
  for (let row = 0; row < y.length; row++) {
    const z = margin(x, row, columns, beta);
    loss += weights[row] * softplusOfMinus(y[row] > 0 ? z : -z);
  }
  for (let j = 0; j < columns; j++) loss += (ridge / 2) * beta[j] * beta[j];
  return loss;
}

function newtonStep({ x, columns, y, weights }: LogisticData, beta: Float64Array, ridge: number): Float64Array {
  const size = columns + 1;
  const gradient = new Float64Array(size);
  const hessian = new Float64Array(size * size);
  for (let row = 0; row < y.length; row++) {
    const p = sigmoid(margin(x, row, columns, beta));
    const pull = weights[row] * (p - y[row]);
    const bend = weights[row] * p * (1 - p);
    for (let i = 0; i < size; i++) {
      const xi = i < columns ? x[row * columns + i] : 1;
      gradient[i] += pull * xi;
      for (let j = 0; j <= i; j++) hessian[i * size + j] += bend * xi * (j < columns ? x[row * columns + j] : 1);
    }
  }
  for (let j = 0; j < size; j++) {
    if (j < columns) gradient[j] += ridge * beta[j];
    // The intercept gets a trace of it too, so that a separable intercept leaves the matrix invertible.
    hessian[j * size + j] += j < columns ? ridge : 1e-9;
  }
  if (!choleskyFactor(hessian, size)) throw new Error('fitLogistic: the data hold non-finite values');
  choleskySolve(hessian, size, gradient);
  return gradient;
}

function margin(x: Float64Array, row: number, columns: number, beta: Float64Array): number {
  let z = beta[columns];
  for (let j = 0; j < columns; j++) z += beta[j] * x[row * columns + j];
  return z;
}
