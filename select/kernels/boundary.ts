/**
 * BoundaryMORPH Eq. 4: the most contested comparison across the capacity boundary, and the document to score for it.
 *
 * S = the k best by mean (equal means: better first-stage position first). For i in S and j outside it
 *   z_ij = (mu_i - mu_j) / sqrt(sigma_i^2 + sigma_j^2);
 * of all pairs with a member that may still be scored, the one with the smallest z wins. Ties in z: larger denominator, then
 * smaller position j, then larger position i. A pair with denominator 0 is settled: its z is infinite. Of the pair, the
 * member that may be scored is; of two, the one with the larger sigma (tie: better position).
 *
 * The k (N - k) pairs are never listed: for each i the challengers are walked by descending mean, and the walk ends
 * when even the largest variance could not bring z below the best found. Squared gaps are compared, roots are not taken.
 */
import { topPositions } from '../../src/kernels/topk.ts';

export interface Contest {
  readonly incumbent: number;
  readonly challenger: number;
  /** Smaller = more contested: z, or the additive gap. Infinity when both members are certain. */
  readonly gap: number;
  /** The member to score. */
  readonly pick: number;
}

export interface BoundaryInput {
  /** The estimate by position; the score itself where there is one. */
  readonly means: Float64Array;
  /** In one common unit; 0 where scored. */
  readonly variances: Float64Array;
  /** 1 where a document may still be scored. */
  readonly open: Uint8Array;
  readonly capacity: number;
  /**
   * standardised: z above. additive: (mu_i - mu_j) - (sigma_i + sigma_j), the confidence-bound gap of active set ordering;
   * variances must then be in the unit of the means.
   */
  readonly gap?: 'standardised' | 'additive';
  /** Posterior covariance of two documents: the denominator becomes sigma_i^2 + sigma_j^2 - 2 cov_ij. */
  readonly covariance?: (i: number, j: number) => number;
}

/** undefined when no pair has a member that may be scored. */
export function mostContested(input: BoundaryInput): Contest | undefined {
  const { means, variances, open, capacity } = input;
  const size = means.length;
  if (capacity <= 0 || capacity >= size) return undefined;
  const places = positions(size);
  let widest = 0;
  for (let d = 0; d < size; d++) if (variances[d] > widest) widest = variances[d];
  const rule = ruleOf(input, widest);

  let reach = 64;
  let ranked = topPositions(means, size, capacity + reach, places);
  let incumbent = -1;
  let challenger = -1;
  let best = Number.POSITIVE_INFINITY;
  let width = -1;

  // From the boundary upwards: the closest gaps come first and make the bound tight early.
  for (let rank = capacity - 1; rank >= 0; rank--) {
    const i = ranked[rank];
    for (let next = capacity; next < size; next++) {
      if (next === ranked.length) {
        reach *= 4;
        ranked = topPositions(means, size, capacity + reach, places);
      }
      const j = ranked[next];
      const difference = means[i] - means[j];
      if (rule.bound(i, difference) > best) break;
      if (open[i] === 0 && open[j] === 0) continue;
      const w = rule.width(i, j);
      const gap = rule.gap(difference, w);
      if (gap > best) continue;
      const wins = gap < best || w > width || (w === width && (j < challenger || (j === challenger && i > incumbent)));
      if (!wins) continue;
      best = gap;
      width = w;
      incumbent = i;
      challenger = j;
    }
  }
  if (incumbent < 0) return undefined;
  return { incumbent, challenger, gap: rule.reported(best), pick: pickOf(input, incumbent, challenger) };
}

/**
 * Open documents by how close they are to the border, in deviations: whom Eq. 4 is likely to choose in the coming steps.
 * Each is held against the last inside or the first outside.
 */
export function nearBoundary({ means, variances, open, capacity }: BoundaryInput, count: number): number[] {
  const size = means.length;
  if (capacity <= 0 || capacity >= size) return [];
  // Scored documents gather at the border; look past them.
  let scored = 0;
  for (let d = 0; d < size; d++) scored += 1 - open[d];
  const ranked = topPositions(means, size, capacity + scored + 4 * count, positions(size));
  const near: { readonly position: number; readonly gap: number }[] = [];
  ranked.forEach((position, rank) => {
    if (open[position] === 0) return;
    const other = ranked[rank < capacity ? capacity : capacity - 1];
    const difference = means[position] - means[other];
    const width = variances[position] + variances[other];
    near.push({ position, gap: width > 0 ? (difference * difference) / width : Number.POSITIVE_INFINITY });
  });
  near.sort((a, b) => (a.gap === b.gap ? a.position - b.position : a.gap - b.gap));
  return near.slice(0, count).map(({ position }) => position);
}

/** Where no pair is left: the open document with the largest variance, better position first; -1 when none is open. */
export function mostUncertain(variances: Float64Array, open: Uint8Array): number {
  let best = -1;
  for (let d = 0; d < open.length; d++) {
    if (open[d] === 1 && (best < 0 || variances[d] > variances[best])) best = d;
  }
  return best;
}

function pickOf({ variances, open }: BoundaryInput, i: number, j: number): number {
  if (open[i] === 0) return j;
  if (open[j] === 0) return i;
  if (variances[i] !== variances[j]) return variances[i] > variances[j] ? i : j;
  return Math.min(i, j);
}

interface Rule {
  /** What ties in the gap prefer the larger of. */
  width(i: number, j: number): number;
  gap(difference: number, width: number): number;
  /** No challenger of i with at least this difference has a smaller gap. Rounds like `gap`, so pruning loses nothing. */
  bound(i: number, difference: number): number;
  reported(gap: number): number;
}

function ruleOf({ variances, gap, covariance }: BoundaryInput, widest: number): Rule {
  if (gap === 'additive') {
    const deviation = Float64Array.from(variances, Math.sqrt);
    const most = Math.sqrt(widest);
    return {
      width: (i, j) => deviation[i] + deviation[j],
      gap: (difference, width) => difference - width,
      bound: (i, difference) => difference - (deviation[i] + most),
      reported: (value) => value,
    };
  }
  const squared = (difference: number, width: number): number =>
    width > 0 ? (difference * difference) / width : Number.POSITIVE_INFINITY;
  if (covariance === undefined) {
    return {
      width: (i, j) => variances[i] + variances[j],
      gap: squared,
      bound: (i, difference) => squared(difference, variances[i] + widest),
      reported: Math.sqrt,
    };
  }
  // sigma_i^2 + sigma_j^2 - 2 cov <= (sigma_i + sigma_j)^2 by Cauchy-Schwarz; a hair more for its rounding.
  const most = Math.sqrt(widest);
  return {
    width: (i, j) => Math.max(0, variances[i] + variances[j] - 2 * covariance(i, j)),
    gap: squared,
    bound: (i, difference) => squared(difference, (Math.sqrt(variances[i]) + most) ** 2 * (1 + 1e-9)),
    reported: Math.sqrt,
  };
}

let counted = new Int32Array(0);

/** 0, 1, 2, ...: the tie-breaker of topPositions is the first-stage position itself. */
function positions(size: number): Int32Array {
  if (counted.length < size) counted = Int32Array.from({ length: size }, (_, d) => d);
  return counted;
}
