/**
 * The slow oracle of `morph-hybrid`: regression and process kept apart as in Rasmussen and Williams 2.7. Generalised least
 * squares for the coefficients, a dense process for what they leave, fresh factors at every step. Shares no code with select/.
 */
export interface HybridOracleInput {
  /** K of the process alone (no basis), documents 0..n-1 and the query as n; undefined query = not observed. */
  readonly kernel: readonly (readonly number[])[];
  readonly hasQuery: boolean;
  /** features[d] of every document; the query's are all 1. */
  readonly features: readonly (readonly number[])[];
  readonly weights: readonly number[];
  readonly coefficientVariance: number;
  readonly noise: number;
  readonly scores: readonly (number | null)[];
  readonly asked: readonly number[];
}

/** Means before scores take their place, and variances in units of the process. */
export function hybridPosterior(input: HybridOracleInput): { means: number[]; variances: number[] } {
  const { kernel, features, weights, noise, scores } = input;
  const n = features.length;
  const observed = [...(input.hasQuery ? [n] : []), ...input.asked.filter((d) => scores[d] !== null)];
  const basisOf = (p: number): number[] => [1, ...(p === n ? weights.map(() => 1) : features[p])];
  const y = observed.map((p) => (p === n ? 1 : scores[p]!));
  const prior = [0, ...weights];
  const width = prior.length;
  const inverse = invert(observed.map((a, r) => observed.map((b, c) => kernel[a][b] + (r === c ? noise : 0))));
  const H = observed.map(basisOf);
  // beta ~ N(prior, v I): precision = I / v + H' A H, mean solves precision beta = prior / v + H' A y.
  const precision = prior.map((_, i) =>
    prior.map((__, j) => (i === j ? 1 / input.coefficientVariance : 0) + quadratic(H, inverse, i, j)),
  );
  const right = prior.map((b, i) => b / input.coefficientVariance + bilinear(H, inverse, i, y));
  const covariance = invert(precision);
  const beta = covariance.map((row) => row.reduce((sum, x, j) => sum + x * right[j], 0));
  const rest = y.map((value, r) => value - H[r].reduce((sum, h, i) => sum + h * beta[i], 0));
  const alpha = inverse.map((row) => row.reduce((sum, x, c) => sum + x * rest[c], 0));
  const means: number[] = [];
  const variances: number[] = [];
  for (let d = 0; d < n; d++) {
    const k = observed.map((p) => kernel[d][p]);
    const h = basisOf(d);
    const solved = inverse.map((row) => row.reduce((sum, x, c) => sum + x * k[c], 0));
    means.push(h.reduce((sum, x, i) => sum + x * beta[i], 0) + k.reduce((sum, x, r) => sum + x * alpha[r], 0));
    const R = h.map((x, i) => x - observed.reduce((sum, _, r) => sum + H[r][i] * solved[r], 0));
    let variance = kernel[d][d] - k.reduce((sum, x, r) => sum + x * solved[r], 0);
    for (let i = 0; i < width; i++) for (let j = 0; j < width; j++) variance += R[i] * covariance[i][j] * R[j];
    variances.push(variance);
  }
  return { means, variances };
}

function quadratic(H: readonly number[][], inverse: readonly number[][], i: number, j: number): number {
  let sum = 0;
  for (let r = 0; r < H.length; r++) for (let c = 0; c < H.length; c++) sum += H[r][i] * inverse[r][c] * H[c][j];
  return sum;
}

function bilinear(H: readonly number[][], inverse: readonly number[][], i: number, y: readonly number[]): number {
  let sum = 0;
  for (let r = 0; r < H.length; r++) for (let c = 0; c < H.length; c++) sum += H[r][i] * inverse[r][c] * y[c];
  return sum;
}

/** Gauss-Jordan with partial pivoting. */
function invert(matrix: readonly (readonly number[])[]): number[][] {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let p = 0; p < n; p++) {
    let pivot = p;
    for (let r = p + 1; r < n; r++) if (Math.abs(rows[r][p]) > Math.abs(rows[pivot][p])) pivot = r;
    [rows[p], rows[pivot]] = [rows[pivot], rows[p]];
    const scale = rows[p][p];
    for (let c = 0; c < 2 * n; c++) rows[p][c] /= scale;
    for (let r = 0; r < n; r++) {
      const factor = rows[r][p];
      if (r === p || factor === 0) continue;
      for (let c = 0; c < 2 * n; c++) rows[r][c] -= factor * rows[p][c];
    }
  }
  return rows.map((row) => row.slice(n));
}
