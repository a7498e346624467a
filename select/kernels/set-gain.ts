/**
 * nCG@k and CE-nCG@k (BoundaryMORPH 4.2): what the k documents chosen are worth, over the most that any k documents of
 * the pool could be. Blind to the order inside the k. Gains are 0/1 judgements for nCG, reranker scores for CE-nCG.
 */
export interface GainScale {
  /** `order`: pool positions, best first. 0 where nothing in the pool has a gain, and for k = 0. */
  at(order: ArrayLike<number>, k: number): number;
  /** The most that k documents of the pool are worth together. */
  ideal(k: number): number;
}

/** `gains` by pool position; NaN (a call that failed) and negative values gain nothing. O(N log N) once, then O(k). */
export function createGainScale(gains: Float64Array): GainScale {
  const sorted = gains.filter((gain) => gain > 0).sort();
  const best = new Float64Array(sorted.length + 1);
  for (let i = 0; i < sorted.length; i++) best[i + 1] = best[i] + sorted[sorted.length - 1 - i];
  const ideal = (k: number): number => best[Math.min(k, sorted.length)];
  return {
    ideal,
    at(order, k) {
      const most = ideal(k);
      if (most === 0) return 0;
      // Added largest first, as the ideal is: a perfect set is worth exactly 1, whatever order it comes in.
      const chosen = new Float64Array(Math.min(k, order.length));
      for (let i = 0; i < chosen.length; i++) chosen[i] = gains[order[i]];
      chosen.sort();
      let sum = 0;
      // NaN sorts last and counts nothing, as what is not above 0.
      for (let i = chosen.length - 1; i >= 0; i--) if (chosen[i] > 0) sum += chosen[i];
      return sum / most;
    },
  };
}
