/**
 * The threshold t at which the expected number of documents above it is k, for independent normal beliefs:
 * sum_i P(x_i > t) = k, by bisection (the sum falls with t). A deviation of 0 is a step, half at the threshold itself.
 */
import { normalTwoSided } from '../../src/metrics/distributions.ts';

const ROUNDS = 60;
/** Beyond that many deviations nothing is left of a normal tail. */
const FAR = 9;

export function membershipThreshold(means: Float64Array, deviations: Float64Array, capacity: number): number {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let d = 0; d < means.length; d++) {
    low = Math.min(low, means[d] - FAR * deviations[d]);
    high = Math.max(high, means[d] + FAR * deviations[d]);
  }
  for (let round = 0; round < ROUNDS && low < high; round++) {
    const middle = (low + high) / 2;
    let above = 0;
    for (let d = 0; d < means.length; d++) above += chanceAbove(means[d], deviations[d], middle);
    if (above > capacity) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(x > t) for x ~ N(mean, deviation^2). */
export function chanceAbove(mean: number, deviation: number, t: number): number {
  if (deviation === 0) return mean === t ? 0.5 : mean > t ? 1 : 0;
  const z = (mean - t) / deviation;
  const tail = normalTwoSided(Math.abs(z)) / 2;
  return z >= 0 ? 1 - tail : tail;
}
