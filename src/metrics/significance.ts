/**
 * Is the difference between two systems more than chance? Paired tests on per-query differences (system minus
 * baseline), two-sided. Every query stands once: figures of overlapping query sets must not be put into one test.
 */
import { createRng, deriveSeed } from '../kernels/rng.ts';
import type { Resampling } from './bootstrap.ts';
import { normalTwoSided, studentTwoSided } from './distributions.ts';

export { bootstrapInterval, type Resampling } from './bootstrap.ts';

export type TestName = 'randomisation' | 't' | 'wilcoxon';

export interface TestResult {
  /** Two-sided. 1 when there is nothing to test (no queries, one query for t, no differences). */
  readonly p: number;
  /** Mean difference (randomisation), t, or the smaller rank sum (wilcoxon). */
  readonly statistic: number;
  /** Whether p comes from the complete null distribution. */
  readonly exact: boolean;
}

/** Differences smaller than this are rounding, not wins: two sums of the same discounts in another order. */
const ROUNDING = 1e-12;

/** Student's paired t-test: mean / (sample deviation / sqrt n) against t with n - 1 degrees of freedom. */
export function pairedT(differences: ArrayLike<number>): TestResult {
  const n = differences.length;
  if (n < 2) return { p: 1, statistic: 0, exact: true };
  const mean = meanOf(differences);
  let squares = 0;
  for (let i = 0; i < n; i++) squares += (differences[i] - mean) ** 2;
  const error = Math.sqrt(squares / (n - 1) / n);
  if (error <= ROUNDING) {
    const same = Math.abs(mean) <= ROUNDING;
    return { p: same ? 1 : 0, statistic: same ? 0 : Math.sign(mean) * Infinity, exact: true };
  }
  return { p: studentTwoSided(mean / error, n - 1), statistic: mean / error, exact: true };
}

/** Up to this many differing queries (2^20 sign patterns) the randomisation test counts them all. */
const EXACT_RANDOMISATION = 20;

/**
 * Fisher's paired randomisation test: were the systems' names exchanged query by query at random, how often would the
 * mean difference be as large? All sign patterns when at most 20 queries differ; else `resamples` seeded draws and
 * p = (as large + 1) / (draws + 1), which is never 0.
 */
export function randomisation(differences: ArrayLike<number>, { resamples, seed }: Resampling): TestResult {
  const statistic = meanOf(differences);
  const moved = Float64Array.from(differences).filter((d) => Math.abs(d) > ROUNDING);
  if (moved.length === 0) return { p: 1, statistic, exact: true };
  let observed = 0;
  let size = 0;
  for (const d of moved) {
    observed += d;
    size += Math.abs(d);
  }
  // Sums of the same numbers in another order must count as equal.
  const reached = Math.abs(observed) - size * 1e-13;
  if (moved.length <= EXACT_RANDOMISATION) {
    return { p: shareOfPatterns(moved, reached), statistic, exact: true };
  }
  const rng = createRng(deriveSeed(seed, 'randomisation'));
  let asLarge = 0;
  for (let r = 0; r < resamples; r++) {
    let sum = 0;
    let signs = 0;
    for (let i = 0; i < moved.length; i++) {
      if ((i & 31) === 0) signs = rng.int(4294967296);
      sum += moved[i] * ((signs & 1) * 2 - 1); // without a branch that would be guessed wrong half the time
      signs >>>= 1;
    }
    if (Math.abs(sum) >= reached) asLarge++;
  }
  return { p: (asLarge + 1) / (resamples + 1), statistic, exact: false };
}

/** Share of the 2^n sign patterns whose sum reaches `reached`: every sum of one half with every sum of the other. */
function shareOfPatterns(values: Float64Array, reached: number): number {
  const half = values.length >> 1;
  const left = signedSums(values.subarray(0, half));
  const right = signedSums(values.subarray(half));
  let count = 0;
  for (const a of left) for (const b of right) if (Math.abs(a + b) >= reached) count++;
  return count / (left.length * right.length);
}

function signedSums(values: Float64Array): Float64Array {
  const sums = new Float64Array(2 ** values.length);
  for (let pattern = 0; pattern < sums.length; pattern++) {
    for (let i = 0; i < values.length; i++) sums[pattern] += (pattern >> i) & 1 ? values[i] : -values[i];
  }
  return sums;
}

/** Up to this many differing queries, all of different size, Wilcoxon's null distribution is counted out. */
const EXACT_WILCOXON = 50;

/**
 * Wilcoxon's signed-rank test. Zero differences are dropped. Exact for at most 50 differences without ties; else the
 * normal approximation with the variance corrected for ties and half a rank of continuity correction.
 */
export function wilcoxon(differences: ArrayLike<number>): TestResult {
  const moved = Array.from(differences).filter((d) => Math.abs(d) > ROUNDING);
  // Sizes on a grid, so that equal differences are equal whatever they were computed from.
  moved.sort((a, b) => Math.abs(a) - Math.abs(b));
  const sizes = moved.map((d) => Math.round(Math.abs(d) / ROUNDING));
  const n = moved.length;
  if (n === 0) return { p: 1, statistic: 0, exact: true };
  let positive = 0;
  let tied = 0;
  for (let start = 0; start < n; ) {
    let end = start + 1;
    while (end < n && sizes[end] === sizes[start]) end++;
    const rank = (start + 1 + end) / 2;
    for (let i = start; i < end; i++) if (moved[i] > 0) positive += rank;
    tied += (end - start) ** 3 - (end - start);
    start = end;
  }
  const total = (n * (n + 1)) / 2;
  const statistic = Math.min(positive, total - positive);
  if (tied === 0 && n <= EXACT_WILCOXON) {
    return { p: Math.min(1, 2 * rankSumTail(n, statistic)), statistic, exact: true };
  }
  const variance = (n * (n + 1) * (2 * n + 1)) / 24 - tied / 48;
  const distance = Math.max(0, Math.abs(positive - total / 2) - 0.5);
  return { p: normalTwoSided(distance / Math.sqrt(variance)), statistic, exact: false };
}

/** P(W <= w) for the sum of the ranks 1..n that carry a plus sign: subsets counted by their sum. */
function rankSumTail(n: number, w: number): number {
  const ways = new Float64Array((n * (n + 1)) / 2 + 1);
  ways[0] = 1;
  for (let rank = 1; rank <= n; rank++) {
    for (let sum = (rank * (rank + 1)) / 2; sum >= rank; sum--) ways[sum] += ways[sum - rank];
  }
  let count = 0;
  for (let sum = 0; sum <= w; sum++) count += ways[sum];
  return count / 2 ** n;
}

/** Benjamini and Hochberg 1995: p-values adjusted so that a cut at q keeps the false discovery rate below q. */
export function benjaminiHochberg(ps: readonly number[]): number[] {
  const order = ps.map((_, i) => i).sort((a, b) => ps[b] - ps[a]);
  const adjusted = new Array<number>(ps.length);
  let smallest = 1;
  order.forEach((index, fromTop) => {
    const rank = ps.length - fromTop;
    smallest = Math.min(smallest, (ps[index] * ps.length) / rank);
    adjusted[index] = smallest;
  });
  return adjusted;
}

/** The test of that name. */
export function pairedTest(name: TestName, differences: ArrayLike<number>, resampling: Resampling): TestResult {
  switch (name) {
    case 'randomisation':
      return randomisation(differences, resampling);
    case 't':
      return pairedT(differences);
    case 'wilcoxon':
      return wilcoxon(differences);
    default:
      return name satisfies never;
  }
}

export interface Tally {
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

/** On how many queries the system is better, worse, the same. */
export function tally(differences: ArrayLike<number>): Tally {
  let wins = 0;
  let losses = 0;
  for (let i = 0; i < differences.length; i++) {
    if (differences[i] > ROUNDING) wins++;
    else if (differences[i] < -ROUNDING) losses++;
  }
  return { wins, losses, ties: differences.length - wins - losses };
}

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return values.length === 0 ? Number.NaN : sum / values.length;
}
