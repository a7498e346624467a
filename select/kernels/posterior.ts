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

import { createRowStore } from './row-store.ts';

/** The free observation of the query, as a position. */
export const QUERY = -1;

export interface PosteriorOptions {
  /** Number of documents, N. */
  readonly size: number;
  /** out[d] = K(position, d); position QUERY is the query's row. */
  readonly row: (position: number, out: Float64Array) => void;
  /** The same for several documents, where that costs much less than one after the other. */
  readonly rows?: (positions: readonly number[], outs: readonly Float64Array[]) => void;
  /** K(a,a), QUERY included; 1 everywhere when left out (a linear basis adds to it). */
  readonly diagonal?: (position: number) => number;
  /** Residuals are centred by their mean before conditioning (default). A model with an intercept of its own needs no centring. */
  readonly centred?: boolean;
  /** Added to the diagonal of the observed block. */
  readonly noise?: number;
  /** Used from the start again when the factor breaks down. */
  readonly retryNoise?: number;
  /** false: plain loops also where there is SIMD; same bits. */
  readonly simd?: boolean;
}

export interface Posterior {
  /** Observations in, the query included. */
  readonly count: number;
  /** The noise now in use. */
  readonly noise: number;
  /** Takes a position into the observed set. Its residual may come later; means use only those that have come. */
  add(position: number, likely?: Likely): void;
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
  /** out[d] = variance(d). */
  variances(out: Float64Array): void;
  /** Posterior covariance of two documents, given K(a,b). */
  covariance(a: number, b: number, prior: number): number;
}

/**
 * Positions that may well be added later, likeliest first. Asked for where a row has to be computed anyway: theirs come in
 * the same pass over the pool and over V, and wait. No result depends on it.
 */
export type Likely = (count: number) => readonly number[];

/** Rows that are prepared beside one that is needed. More cost computing time where the guess is wrong. */
const AHEAD = 3;
/** Rows that wait; the oldest goes first. */
const MOST_WAITING = 48;

/** Below this the new observation is, to working precision, a combination of the earlier ones. */
const BREAKDOWN = 1e-10;

interface Observation {
  readonly position: number;
  residual: number | undefined;
  /** Of its row of V; undefined = it adds nothing beyond the earlier ones (see `factorise`). */
  slot: number | undefined;
  /** 1 / lambda, and this observation's entries of w and u. */
  scale: number;
  w: number;
  u: number;
}

export function createPosterior(options: PosteriorOptions): Posterior {
  const { size } = options;
  const diagonal = options.diagonal ?? (() => 1);
  const centred = options.centred ?? true;
  const priorVariance = Float64Array.from({ length: size }, (_, d) => diagonal(d));
  const retryNoise = options.retryNoise ?? 1e-2;
  let noise = options.noise ?? 1e-4;
  const store = createRowStore(size, options.simd);
  let observations: Observation[] = [];
  /** Slots of the rows of V, in order. */
  let factor: number[] = [];
  /** Rows of likely positions: the kernel's, less the terms of the first `through` rows of V. */
  const waiting = new Map<number, { readonly slot: number; readonly through: number }>();
  let settled = 0;
  const variance = priorVariance.slice();
  const weighted = new Float64Array(size); // P
  const ones = new Float64Array(size); // O

  const column = (position: number): Float64Array => Float64Array.from(factor, (slot) => store.rows[slot][position]);

  /** A slot with K(position, d) - sum_p l_p V_p[d]. */
  const reducedRow = (position: number, l: Float64Array, likely: Likely | undefined): number => {
    const ready = waiting.get(position);
    if (ready !== undefined) {
      waiting.delete(position);
      store.subtract([ready.slot], factor, [l], ready.through);
      return ready.slot;
    }
    const known = (other: number): boolean => waiting.has(other) || observations.some((o) => o.position === other);
    const ahead = options.rows === undefined || likely === undefined ? [] : likely(AHEAD + waiting.size);
    const others = ahead.filter((other) => other !== position && !known(other)).slice(0, AHEAD);
    const positions = [position, ...others];
    const targets = positions.map(store.take);
    const outs = targets.map((slot) => store.rows[slot]);
    if (others.length === 0) options.row(position, outs[0]);
    else options.rows!(positions, outs);
    store.subtract(targets, factor, [l, ...others.map(column)], 0);
    others.forEach((other, i) => {
      waiting.set(other, { slot: targets[i + 1], through: factor.length });
    });
    for (const [oldest, { slot }] of waiting) {
      if (waiting.size <= MOST_WAITING) break;
      store.free(slot);
      waiting.delete(oldest);
    }
    return targets[0];
  };

  /** Gives the observation its row of V; false when lambda^2 breaks down. */
  const factorise = (observation: Observation, likely?: Likely): boolean => {
    const l = column(observation.position);
    let rest = diagonal(observation.position) + noise;
    // u: forward substitution of the vector of ones by the same l and lambda.
    let u = 1;
    let p = 0;
    for (const earlier of observations) {
      if (earlier.slot === undefined) continue;
      rest -= l[p] * l[p];
      u -= l[p] * earlier.u;
      p++;
    }
    if (!(rest > BREAKDOWN)) return false;
    observation.slot = reducedRow(observation.position, l, likely);
    const scale = 1 / Math.sqrt(rest);
    const fresh = store.rows[observation.slot];
    for (let d = 0; d < size; d++) {
      const v = fresh[d] * scale;
      fresh[d] = v;
      variance[d] -= v * v;
    }
    observation.scale = scale;
    observation.u = u * scale;
    factor.push(observation.slot);
    return true;
  };

  /** Back to the first `count` observations, and to nothing known of their sums. */
  const forget = (count: number): void => {
    for (const { slot } of observations.slice(count)) if (slot !== undefined) store.free(slot);
    observations = observations.slice(0, count);
    factor = observations.flatMap(({ slot }) => slot ?? []);
    for (const [position, { slot, through }] of waiting) {
      if (through <= factor.length) continue;
      store.free(slot);
      waiting.delete(position);
    }
    variance.set(priorVariance);
    weighted.fill(0);
    ones.fill(0);
    settled = 0;
  };

  /** Everything again with the larger noise, before one more observation is tried. */
  const restart = (): void => {
    noise = retryNoise;
    const old = observations;
    forget(0);
    for (const { position } of old) append(position);
    for (const { residual } of old) if (residual !== undefined) settle(residual);
  };

  const append = (position: number, likely?: Likely): void => {
    if (position === QUERY && observations.length > 0)
      throw new RangeError('the query is observed first or not at all');
    const observation: Observation = { position, residual: undefined, slot: undefined, scale: 0, w: 0, u: 0 };
    if (!factorise(observation, likely) && noise < retryNoise) {
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
    const { slot, position, scale, u } = observation;
    if (slot !== undefined) {
      let rest = residual;
      for (let p = 0; p < settled; p++) {
        const { slot: earlier, w } = observations[p];
        if (earlier !== undefined) rest -= store.rows[earlier][position] * w;
      }
      const w = rest * scale;
      observation.w = w;
      const fresh = store.rows[slot];
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
    forget(count);
    // In the order of their arrival, so that the sums are those of a run that never went further.
    for (const { slot, residual, w, u } of observations) {
      if (residual !== undefined) settled++;
      if (slot === undefined) continue;
      const fresh = store.rows[slot];
      for (let d = 0; d < size; d++) {
        const v = fresh[d];
        variance[d] -= v * v;
        if (residual === undefined) continue;
        weighted[d] += w * v;
        ones[d] += u * v;
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
    variances(out) {
      for (let d = 0; d < size; d++) out[d] = Math.max(0, variance[d]);
    },
    covariance(a, b, prior) {
      let value = prior;
      for (const slot of factor) value -= store.rows[slot][a] * store.rows[slot][b];
      return value;
    },
  };
}
