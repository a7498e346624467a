/** Rank correlation of two figures over the same queries. */
import { studentTwoSided } from './distributions.ts';

export interface Correlation {
  /** Spearman's rho: Pearson's correlation of the ranks, equal values sharing the mean of theirs. NaN where one is constant. */
  readonly rho: number;
  /** Two-sided, by Student's t with n - 2 degrees of freedom. NaN for fewer than 3 pairs or without a rho. */
  readonly p: number;
  readonly n: number;
}

export function spearman(x: ArrayLike<number>, y: ArrayLike<number>): Correlation {
  const n = x.length;
  const [a, b] = [meanRanks(x), meanRanks(y)];
  const centre = (n + 1) / 2;
  let xy = 0;
  let xx = 0;
  let yy = 0;
  for (let i = 0; i < n; i++) {
    xy += (a[i] - centre) * (b[i] - centre);
    xx += (a[i] - centre) ** 2;
    yy += (b[i] - centre) ** 2;
  }
  if (xx === 0 || yy === 0) return { rho: Number.NaN, p: Number.NaN, n };
  const rho = Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)));
  const p = n < 3 ? Number.NaN : studentTwoSided(rho * Math.sqrt((n - 2) / ((1 - rho) * (1 + rho))), n - 2);
  return { rho, p, n };
}

/** Ranks 1..n, ascending; equal values share the mean of theirs. */
function meanRanks(values: ArrayLike<number>): Float64Array {
  const order = Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b]);
  const ranks = new Float64Array(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && values[order[end]] === values[order[start]]) end++;
    for (let i = start; i < end; i++) ranks[order[i]] = (start + 1 + end) / 2;
    start = end;
  }
  return ranks;
}
