/** How sure is a mean? Intervals by drawing the queries again. */
import { createRng, deriveSeed } from '../kernels/rng.ts';

export interface Resampling {
  /** Number of random draws. */
  readonly resamples: number;
  readonly seed: number;
}

/**
 * Percentile bootstrap interval of the mean difference: queries drawn with replacement, `resamples` times; the two
 * quantiles by linear interpolation. [NaN, NaN] without queries.
 */
export function bootstrapInterval(
  differences: ArrayLike<number>,
  { resamples, seed, level }: Resampling & { readonly level: number },
): [number, number] {
  const n = differences.length;
  if (n === 0) return [Number.NaN, Number.NaN];
  const rng = createRng(deriveSeed(seed, 'bootstrap'));
  const means = new Float64Array(resamples);
  for (let r = 0; r < resamples; r++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += differences[rng.int(n)];
    means[r] = sum / n;
  }
  means.sort();
  return [quantile(means, (1 - level) / 2), quantile(means, (1 + level) / 2)];
}

function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}
