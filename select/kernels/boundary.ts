/**
 * BoundaryMORPH Eq. 4: the most contested comparison across the capacity boundary, and the document to score for it.
 *
 * S = the k best by mean (equal means: better first-stage position first). For i in S and j outside it
 *   z_ij = (mu_i - mu_j) / sqrt(sigma_i^2 + sigma_j^2);
 * of all pairs with a member that may still be scored, the one with the smallest z wins. Ties in z: larger denominator, then
 * smaller position j, then larger position i. A pair with denominator 0 is settled: its z is infinite. Of the pair, the
 * member that may be scored is; of two, the one with the larger sigma (tie: better position).
 *
 * The k (N - k) pairs are never listed: a document whose mean is further from the border and whose variance is no larger than
 * another's on its side has a larger z with everybody, so only the front of each side takes part. With covariances that
 * does not hold; there, for each i, the challengers are walked by descending mean, and the walk ends when even the largest
 * variance could not bring z below the best found. Squared gaps are compared, roots are not taken.
 */
import { topPositions } from '../../src/kernels/topk.ts';
import { BINS, type RankedPrefix, rankedPrefix } from './ranked-prefix.ts';

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
  const { means, capacity } = input;
  if (capacity <= 0 || capacity >= means.length) return undefined;
  const ranked = rankedPrefix(means, capacity + 1);
  const contest = input.covariance === undefined ? betweenFronts(input, ranked) : undefined;
  // Among settled pairs positions decide, which a front does not keep.
  return contest !== undefined && contest.gap < Number.POSITIVE_INFINITY ? contest : byWalking(input, ranked);
}

/** The best pair so far, under the order of ties above. */
function createBest(input: BoundaryInput, rule: Rule) {
  let [incumbent, challenger, best, width] = [-1, -1, Number.POSITIVE_INFINITY, -1];
  return {
    /** Further challengers of i, whose differences are at least this, cannot win. */
    beyond: (i: number, difference: number): boolean => rule.bound(i, difference) > best,
    offer(i: number, j: number, difference: number): void {
      const w = rule.width(i, j);
      const gap = rule.gap(difference, w);
      if (gap > best) return;
      const wins = gap < best || w > width || (w === width && (j < challenger || (j === challenger && i > incumbent)));
      if (!wins) return;
      [incumbent, challenger, best, width] = [i, j, gap, w];
    },
    contest: (): Contest | undefined =>
      incumbent < 0
        ? undefined
        : { incumbent, challenger, gap: rule.reported(best), pick: pickOf(input, incumbent, challenger) },
  };
}

function widest({ variances }: BoundaryInput): number {
  let most = 0;
  for (let d = 0; d < variances.length; d++) if (variances[d] > most) most = variances[d];
  return most;
}

function byWalking(input: BoundaryInput, ranked: RankedPrefix): Contest | undefined {
  const { means, open, capacity } = input;
  const best = createBest(input, ruleOf(input, widest(input)));
  // From the boundary upwards: the closest gaps come first and make the bound tight early.
  for (let rank = capacity - 1; rank >= 0; rank--) {
    const i = ranked.at(rank);
    for (let next = capacity; next < means.length; next++) {
      const j = ranked.at(next);
      const difference = means[i] - means[j];
      if (best.beyond(i, difference)) break;
      if (open[i] === 1 || open[j] === 1) best.offer(i, j, difference);
    }
  }
  return best.contest();
}

function betweenFronts(input: BoundaryInput, ranked: RankedPrefix): Contest | undefined {
  const { means, open } = input;
  const best = createBest(input, ruleOf(input, widest(input)));
  const challengers = challengerFronts(input, ranked);
  for (const i of incumbentFronts(input, ranked)) {
    for (const front of open[i] === 1 ? [challengers.open, challengers.closed] : [challengers.open]) {
      for (const j of front) {
        const difference = means[i] - means[j];
        if (best.beyond(i, difference)) break;
        best.offer(i, j, difference);
      }
    }
  }
  return best.contest();
}

/** From the border inwards, those that are less certain than all before them: of the open ones, and of the others. */
function incumbentFronts({ variances, open, capacity }: BoundaryInput, ranked: RankedPrefix): number[] {
  const front: number[] = [];
  const reached = [-1, -1];
  for (let rank = capacity - 1; rank >= 0; rank--) {
    const i = ranked.at(rank);
    if (variances[i] <= reached[open[i]]) continue;
    reached[open[i]] = variances[i];
    front.push(i);
  }
  return front;
}

/** The same from the border outwards. */
function challengerFronts(
  { means, variances, open, capacity }: BoundaryInput,
  ranked: RankedPrefix,
): { readonly open: readonly number[]; readonly closed: readonly number[] } {
  const size = means.length;
  const { bins } = ranked;
  const last = ranked.at(capacity - 1);
  const firstBin = bins[last];
  const outside = (d: number): boolean => means[d] < means[last] || (means[d] === means[last] && d > last);
  // The largest variance of the open ones in each bin, then in all bins before it.
  const before = new Float64Array(BINS).fill(-1);
  for (let d = 0; d < size; d++) {
    if (open[d] === 1 && variances[d] > before[bins[d]] && (bins[d] > firstBin || outside(d)))
      before[bins[d]] = variances[d];
  }
  let most = -1;
  for (let bin = 0; bin < BINS; bin++) {
    const own = before[bin];
    before[bin] = most;
    if (own > most) most = own;
  }
  const uncertain: number[] = [];
  // Of those without a variance only the closest can matter.
  let certain = -1;
  const candidates: number[] = [];
  for (let d = 0; d < size; d++) {
    if (bins[d] < firstBin) continue;
    if (open[d] === 1) {
      if (variances[d] > before[bins[d]] && outside(d)) candidates.push(d);
    } else if (outside(d)) {
      if (variances[d] > 0) uncertain.push(d);
      else if (certain < 0 || means[d] > means[certain]) certain = d;
    }
  }
  const rising = (positions: number[]): number[] => {
    let reached = -1;
    return positions
      .sort((a, b) => means[b] - means[a] || a - b)
      .filter((d) => {
        const rises = variances[d] > reached;
        if (rises) reached = variances[d];
        return rises;
      });
  };
  return { open: rising(candidates), closed: rising(certain < 0 ? uncertain : [...uncertain, certain]) };
}

/**
 * Open documents by how close they are to the border, in deviations: whom Eq. 4 is likely to choose in the coming steps.
 * Each is held against the last inside or the first outside.
 */
export function nearBoundary({ means, variances, open, capacity }: BoundaryInput, count: number): number[] {
  const size = means.length;
  if (capacity <= 0 || capacity >= size) return [];
  const ranked = rankedPrefix(means, capacity + 1);
  const lastInside = ranked.at(capacity - 1);
  const firstOutside = ranked.at(capacity);
  const closeness = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
  for (let d = 0; d < size; d++) {
    if (open[d] === 0) continue;
    const inside = means[d] > means[lastInside] || (means[d] === means[lastInside] && d <= lastInside);
    const other = inside ? firstOutside : lastInside;
    const difference = means[d] - means[other];
    const width = variances[d] + variances[other];
    if (width > 0) closeness[d] = -(difference * difference) / width;
  }
  return Array.from(topPositions(closeness, size, count, positions(size)));
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

function ruleOf({ variances, gap, covariance }: BoundaryInput, largest: number): Rule {
  if (gap === 'additive') {
    const deviation = Float64Array.from(variances, Math.sqrt);
    const most = Math.sqrt(largest);
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
      bound: (i, difference) => squared(difference, variances[i] + largest),
      reported: Math.sqrt,
    };
  }
  // sigma_i^2 + sigma_j^2 - 2 cov <= (sigma_i + sigma_j)^2 by Cauchy-Schwarz; a hair more for its rounding.
  const most = Math.sqrt(largest);
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
