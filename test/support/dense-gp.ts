/**
 * The slow oracle of BoundaryMORPH: the whole kernel matrix, a fresh Cholesky factor at every step, every pair of Eq. 4
 * looked at. Shares no code with select/.
 */
export interface OracleInput {
  readonly vectors: readonly (readonly number[])[];
  readonly query?: readonly number[];
  readonly scores: readonly (number | null)[];
  readonly budget: number;
  readonly capacity: number;
  readonly queryResidual?: number;
  readonly kernel?: 'vmf' | 'rbf' | 'matern52';
  readonly gap?: 'standardised' | 'additive';
  readonly pairCovariance?: boolean;
  /** cosine(a, b) of two positions, -1 = the query; from the vectors when left out. */
  readonly cosine?: (a: number, b: number) => number;
  /** From the vectors when left out. */
  readonly median?: number;
}

export interface OracleStep {
  readonly mean: number;
  readonly deviation: number;
  /** Posterior means before scores take their place. */
  readonly posterior: number[];
  readonly mu: number[];
  readonly sigma: number[];
  /** Every admissible pair. */
  readonly pairs: { i: number; j: number; z: number; width: number }[];
  readonly pair?: { i: number; j: number; z: number; width: number };
  readonly pick: number;
}

export function cosineTable(vectors: readonly (readonly number[])[]): number[][] {
  return vectors.map((a) => vectors.map((b) => a.reduce((sum, x, i) => sum + x * b[i], 0)));
}

const medians = new WeakMap<object, number>();

export function oracleMedian(vectors: readonly (readonly number[])[]): number {
  const known = medians.get(vectors);
  if (known !== undefined) return known;
  const median = sortedMedian(vectors);
  medians.set(vectors, median);
  return median;
}

function sortedMedian(vectors: readonly (readonly number[])[]): number {
  const table = cosineTable(vectors);
  const all: number[] = [];
  for (let i = 0; i < vectors.length; i++) for (let j = i + 1; j < vectors.length; j++) all.push(table[i][j]);
  if (all.length === 0) return Number.NaN;
  all.sort((a, b) => a - b);
  const half = all.length / 2;
  return all.length % 2 === 1 ? all[Math.floor(half)] : (all[half - 1] + all[half]) / 2;
}

export function oracleKernel(name: 'vmf' | 'rbf' | 'matern52', median: number): (cosine: number) => number {
  const spread = 1 - median;
  const usable = spread > 1e-12;
  if (name === 'vmf') {
    const kappa = usable ? Math.log(2) / spread : 1;
    return (c) => Math.exp(kappa * (Math.min(1, c) - 1));
  }
  const length = Math.sqrt(usable ? spread : 1);
  if (name === 'rbf') return (c) => Math.exp(-(1 - Math.min(1, c)) / length ** 2);
  return (c) => {
    const r = Math.sqrt(2 * (1 - Math.min(1, c))) / length;
    return (1 + Math.sqrt(5) * r + (5 * r * r) / 3) * Math.exp(-Math.sqrt(5) * r);
  };
}

/** One state: the posterior given these scored positions, and the pair that Eq. 4 chooses. */
export function oracleStep(input: OracleInput, asked: readonly number[]): OracleStep {
  const { vectors, query, scores, capacity } = input;
  const n = vectors.length;
  const prior = vectors.map((_, position) => (n === 1 ? 1 : (n - 1 - position) / (n - 1)));
  const kernel = oracleKernel(input.kernel ?? 'vmf', input.median ?? oracleMedian(vectors));
  const scored = asked.filter((position) => scores[position] !== null);
  const anchors = query === undefined ? [] : [query];
  const points = [...anchors, ...scored.map((position) => vectors[position])];
  const owners = [...anchors.map(() => -1), ...scored];
  const residuals = [...anchors.map(() => input.queryResidual ?? 0), ...scored.map((d) => scores[d]! - prior[d])];

  const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const k = (p: number, a: readonly number[], q: number, b: readonly number[]) =>
    p === q && p >= -1 ? 1 : kernel(input.cosine === undefined || q < -1 ? dot(a, b) : input.cosine(p, q));
  const block = points.map((a, r) =>
    points.map((b, c) => (r === c ? 1 + 1e-4 : k(owners[r], a, owners[c] === owners[r] ? -2 : owners[c], b))),
  );
  const mean = residuals.length === 0 ? 0 : residuals.reduce((a, b) => a + b, 0) / residuals.length;
  const raw = Math.sqrt(residuals.reduce((a, b) => a + (b - mean) ** 2, 0) / Math.max(1, residuals.length));
  const deviation = raw < 1e-12 ? 1 : raw;
  const standardised = residuals.map((r) => (r - mean) / deviation);
  const factor = cholesky(block);
  const alpha = solve(factor, standardised);

  const posterior: number[] = [];
  const unitVariance: number[] = [];
  const across: number[][] = [];
  for (let d = 0; d < n; d++) {
    const toDoc = points.map((a, p) => k(owners[p], a, d, vectors[d]));
    across.push(toDoc);
    posterior.push(prior[d] + mean + deviation * toDoc.reduce((sum, x, p) => sum + x * alpha[p], 0));
    const v = solve(factor, toDoc);
    unitVariance.push(Math.max(0, 1 - toDoc.reduce((sum, x, p) => sum + x * v[p], 0)));
  }
  const isScored = (d: number) => scored.includes(d);
  const mu = posterior.map((value, d) => (isScored(d) ? scores[d]! : value));
  const sigma = unitVariance.map((value, d) => (isScored(d) ? 0 : deviation * Math.sqrt(value)));

  const covariance = (i: number, j: number): number => {
    if (isScored(i) || isScored(j)) return 0;
    const v = solve(factor, across[j]);
    const value = kernel(dot(vectors[i], vectors[j])) - across[i].reduce((sum, x, p) => sum + x * v[p], 0);
    return deviation * deviation * value;
  };

  const order = [...mu.keys()].sort((a, b) => mu[b] - mu[a] || a - b);
  const inside = order.slice(0, capacity);
  const outside = order.slice(capacity);
  const open = (d: number) => !asked.includes(d);
  const pairs: { i: number; j: number; z: number; width: number }[] = [];
  for (const i of inside) {
    for (const j of outside) {
      if (!open(i) && !open(j)) continue;
      const difference = mu[i] - mu[j];
      if (input.gap === 'additive') {
        const width = sigma[i] + sigma[j];
        pairs.push({ i, j, z: difference - width, width });
        continue;
      }
      const extra = input.pairCovariance === true ? 2 * covariance(i, j) : 0;
      const width = Math.sqrt(Math.max(0, sigma[i] ** 2 + sigma[j] ** 2 - extra));
      pairs.push({ i, j, z: width > 0 ? difference / width : Number.POSITIVE_INFINITY, width });
    }
  }
  pairs.sort((a, b) => (a.z === b.z ? b.width - a.width || a.j - b.j || b.i - a.i : a.z - b.z));
  const pair = pairs[0];
  let pick = -1;
  if (pair !== undefined) {
    const members = [pair.i, pair.j].filter(open);
    members.sort((a, b) => sigma[b] - sigma[a] || a - b);
    pick = members[0];
  } else {
    for (let d = 0; d < n; d++) if (open(d) && (pick < 0 || sigma[d] > sigma[pick])) pick = d;
  }
  return { mean, deviation, posterior, mu, sigma, pairs, pair, pick };
}

function cholesky(matrix: readonly (readonly number[])[]): number[][] {
  const n = matrix.length;
  const factor = matrix.map(() => new Array<number>(n).fill(0));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i][j];
      for (let p = 0; p < j; p++) sum -= factor[i][p] * factor[j][p];
      if (i === j && sum <= 0) throw new Error('oracle: not positive definite');
      factor[i][j] = i === j ? Math.sqrt(sum) : sum / factor[j][j];
    }
  }
  return factor;
}

function solve(factor: readonly (readonly number[])[], b: readonly number[]): number[] {
  const x = [...b];
  for (let i = 0; i < x.length; i++) {
    for (let p = 0; p < i; p++) x[i] -= factor[i][p] * x[p];
    x[i] /= factor[i][i];
  }
  for (let i = x.length - 1; i >= 0; i--) {
    for (let p = i + 1; p < x.length; p++) x[i] -= factor[p][i] * x[p];
    x[i] /= factor[i][i];
  }
  return x;
}
