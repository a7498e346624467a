/** Rankings of one pool, as 0-based ranks by position, and what is made of them. */

/** Rank of each position by its score: score descending, equal ones by position. */
export function ranksOf(scores: ArrayLike<number>): Int32Array {
  const order = Int32Array.from({ length: scores.length }, (_, position) => position);
  order.sort((a, b) => scores[b] - scores[a] || a - b);
  return invert(order);
}

/** ranks[order[r]] = r; of ranks it gives back the order. */
export function invert(order: ArrayLike<number>): Int32Array {
  const ranks = new Int32Array(order.length);
  for (let r = 0; r < order.length; r++) ranks[order[r]] = r;
  return ranks;
}

/** The constant of reciprocal-rank fusion (Cormack et al. 2009). */
export const RRF = 60;

/** Ranks by reciprocal-rank fusion: sum of 1 / (60 + rank), ranks counted from 1; equal sums by position. */
export function fuseRanks(rankings: readonly Int32Array[], size: number): Int32Array {
  const scores = new Float64Array(size);
  for (const ranks of rankings) for (let d = 0; d < size; d++) scores[d] += 1 / (RRF + 1 + ranks[d]);
  return ranksOf(scores);
}

/** g = 1 - ln(1 + rank) / ln N: 1 at the head, 0 at the tail; 1 when N = 1. */
export function logRankFeature(ranks: Int32Array): Float64Array {
  const scale = Math.log(ranks.length);
  return Float64Array.from(ranks, (rank) => (rank === 0 ? 1 : 1 - Math.log(1 + rank) / scale));
}
