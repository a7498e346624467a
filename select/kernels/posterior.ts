/**
 * The Gaussian process of BoundaryMORPH 3.1-3.2, conditioned one observation at a time in O(tN), without the N x N matrix.
 *
 * For the observed set A with factor L L^T = K(A,A) + noise I it keeps V = L^-1 K(A, all), one row per observation. The
 * column of V at a document a is exactly L^-1 K(A,a), so appending a needs no separate factor:
 *   l = V[:, a],  lambda^2 = K(a,a) + noise - l.l,  V_new[d] = (K(a,d) - sum_p l_p V_p[d]) / lambda,  var[d] -= V_new[d]^2.
 * With w = L^-1 r and u = L^-1 1 it keeps the running P = V^T w and O = V^T u. Centring the residuals by their mean m
 * then costs nothing: K L^-T L^-1 (r - m) = P - m O. (Z-standardising by s as well would divide before and multiply after;
 * s only returns as the unit of the deviation.)
 */

/** The free observation of the query, as a position. */
export const QUERY = -1;

export interface PosteriorOptions {
  /** Number of documents, N. */
  readonly size: number;
  /** out[d] = K(position, d); position QUERY is the query's row. */
  readonly row: (position: number, out: Float64Array) => void;
  /** K(a,a), QUERY included; 1 everywhere when left out (a linear basis adds to it). */
  readonly diagonal?: (position: number) => number;
  /** Residuals are centred by their mean before conditioning (default). A model with an intercept of its own needs no centring. */
  readonly centred?: boolean;
  /** Added to the diagonal of the observed block. */
  readonly noise?: number;
  /** Used from the start again when the factor breaks down. */
  readonly retryNoise?: number;
}

export interface Posterior {
  /** Observations in, the query included. */
  readonly count: number;
  /** The noise now in use. */
  readonly noise: number;
  /** Takes a position into the observed set. Its residual may come later; means use only those that have come. */
  add(position: number): void;
  /** The residual of the oldest observation without one. */
  settle(residual: number): void;
  /** Forgets all but the first `count` observations. */
  rewind(count: number): void;
  /** m and s of the residuals that have come: mean, and population deviation (1 when there is no spread). */
  residualMoments(): { mean: number; deviation: number };
  /** out = prior + posterior mean of the residual. */
  means(prior: Float64Array, out: Float64Array): void;
  /** Posterior variance in units of the kernel, clipped at 0. */
  variance(position: number): number;
  /** Posterior covariance of two documents, given K(a,b). */
  covariance(a: number, b: number, prior: number): number;
}

/** Below this the new observation is, to working precision, a combination of the earlier ones. */
const BREAKDOWN = 1e-10;

interface Observation {
  readonly position: number;
  residual: number | undefined;
  /** undefined = adds nothing beyond the earlier ones (see `factorise`). */
  row: Float64Array | undefined;
  /** 1 / lambda, and this observation's entries of w and u. */
  scale: number;
  w: number;
  u: number;
}

export function createPosterior(options: PosteriorOptions): Posterior {
  const { size, row: kernelRow } = options;
  const diagonal = options.diagonal ?? (() => 1);
  const centred = options.centred ?? true;
  const priorVariance = Float64Array.from({ length: size }, (_, d) => diagonal(d));
  const retryNoise = options.retryNoise ?? 1e-2;
  let noise = options.noise ?? 1e-4;
  let observations: Observation[] = [];
  let settled = 0;
  const variance = priorVariance.slice();
  const weighted = new Float64Array(size); // P
  const ones = new Float64Array(size); // O

  /** Gives the observation its row of V; false when lambda^2 breaks down. */
  const factorise = (observation: Observation): boolean => {
    const earlier = observations.filter((other) => other.row !== undefined);
    const rows = earlier.map((other) => other.row!);
    const l = Float64Array.from(rows, (row) => row[observation.position]);
    let rest = diagonal(observation.position) + noise;
    // u: forward substitution of the vector of ones by the same l and lambda.
    let u = 1;
    for (let p = 0; p < l.length; p++) {
      rest -= l[p] * l[p];
      u -= l[p] * earlier[p].u;
    }
    if (!(rest > BREAKDOWN)) return false;
    const fresh = new Float64Array(size);
    kernelRow(observation.position, fresh);
    subtractRows(fresh, rows, l);
    const scale = 1 / Math.sqrt(rest);
    for (let d = 0; d < size; d++) {
      const v = fresh[d] * scale;
      fresh[d] = v;
      variance[d] -= v * v;
    }
    observation.row = fresh;
    observation.scale = scale;
    observation.u = u * scale;
    return true;
  };

  /** Everything again with the larger noise, before one more observation is tried. */
  const restart = (): void => {
    noise = retryNoise;
    variance.set(priorVariance);
    weighted.fill(0);
    ones.fill(0);
    const old = observations;
    observations = [];
    settled = 0;
    for (const { position } of old) append(position);
    for (const { residual } of old) if (residual !== undefined) settle(residual);
  };

  const append = (position: number): void => {
    if (position === QUERY && observations.length > 0)
      throw new RangeError('the query is observed first or not at all');
    const observation: Observation = { position, residual: undefined, row: undefined, scale: 0, w: 0, u: 0 };
    if (!factorise(observation) && noise < retryNoise) {
      restart();
      // When even the larger noise leaves lambda^2 at 0, the pseudo-inverse of the singular block has no direction for
      // this observation beyond the earlier ones; the row stays out, the residual still counts in m and s.
      factorise(observation);
    }
    observations.push(observation);
  };

  const settle = (residual: number): void => {
    const observation = observations[settled];
    observation.residual = residual;
    const { row: fresh, position, scale, u } = observation;
    if (fresh !== undefined) {
      let rest = residual;
      for (let p = 0; p < settled; p++) {
        const { row, w } = observations[p];
        if (row !== undefined) rest -= row[position] * w;
      }
      const w = rest * scale;
      observation.w = w;
      for (let d = 0; d < size; d++) {
        const v = fresh[d];
        weighted[d] += w * v;
        ones[d] += u * v;
      }
    }
    settled++;
  };

  const rewind = (count: number): void => {
    if (count >= observations.length) return;
    observations = observations.slice(0, count);
    variance.set(priorVariance);
    weighted.fill(0);
    ones.fill(0);
    // In the order of their arrival, so that the sums are those of a run that never went further.
    settled = 0;
    for (const observation of observations) {
      const fresh = observation.row;
      const known = observation.residual !== undefined;
      if (known) settled++;
      if (fresh === undefined) continue;
      for (let d = 0; d < size; d++) {
        const v = fresh[d];
        variance[d] -= v * v;
        if (!known) continue;
        weighted[d] += observation.w * v;
        ones[d] += observation.u * v;
      }
    }
  };

  const residualMoments = (): { mean: number; deviation: number } => {
    if (settled === 0) return { mean: 0, deviation: 1 };
    let sum = 0;
    for (let p = 0; p < settled; p++) sum += observations[p].residual!;
    const mean = sum / settled;
    let squares = 0;
    for (let p = 0; p < settled; p++) squares += (observations[p].residual! - mean) ** 2;
    const deviation = Math.sqrt(squares / settled);
    // Equal residuals leave a deviation of rounding size, not always exactly 0.
    return { mean, deviation: deviation < 1e-12 ? 1 : deviation };
  };

  return {
    get count() {
      return observations.length;
    },
    get noise() {
      return noise;
    },
    add: append,
    settle,
    rewind,
    residualMoments,
    means(prior, out) {
      const mean = centred ? residualMoments().mean : 0;
      // Equal residuals leave nothing once they are centred; rounding must not put documents in an order of its own.
      if (centred && observations.slice(0, settled).every(({ residual }) => residual === observations[0].residual)) {
        for (let d = 0; d < size; d++) out[d] = prior[d] + mean;
        return;
      }
      for (let d = 0; d < size; d++) out[d] = prior[d] + mean + weighted[d] - mean * ones[d];
    },
    variance: (position) => Math.max(0, variance[position]),
    covariance(a, b, prior) {
      let value = prior;
      for (const { row } of observations) if (row !== undefined) value -= row[a] * row[b];
      return value;
    },
  };
}

/** out -= sum_p l[p] rows[p], four rows a pass: one load and store of `out` for four products. */
function subtractRows(out: Float64Array, rows: readonly Float64Array[], l: Float64Array): void {
  const size = out.length;
  let p = 0;
  for (; p + 4 <= rows.length; p += 4) {
    const [a, b, c, e] = [rows[p], rows[p + 1], rows[p + 2], rows[p + 3]];
    const [la, lb, lc, le] = [l[p], l[p + 1], l[p + 2], l[p + 3]];
    for (let d = 0; d < size; d++) out[d] -= la * a[d] + lb * b[d] + (lc * c[d] + le * e[d]);
  }
  for (; p < rows.length; p++) {
    const a = rows[p];
    const la = l[p];
    for (let d = 0; d < size; d++) out[d] -= la * a[d];
  }
}
