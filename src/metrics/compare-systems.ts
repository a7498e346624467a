/** Systems against each other, query by query: what changed, how surely, and on how many queries. */
import { bootstrapInterval } from './bootstrap.ts';
import type { Evaluation } from './evaluate.ts';
import { isTotal, type Measure } from './measures.ts';
import { benjaminiHochberg, meanOf, pairedTest, type TestName, tally } from './significance.ts';

/** An evaluation under a name. */
export interface EvaluatedSystem extends Evaluation {
  readonly name: string;
}

export interface ComparisonSettings {
  /** Default randomisation. */
  readonly test?: TestName;
  /** Draws of the bootstrap, and of the randomisation test where it samples; default 10,000. */
  readonly resamples?: number;
  /** Of the intervals; default 0.95. */
  readonly level?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** A system against a baseline in one measure; positive delta = better than the baseline. */
export interface Comparison {
  readonly baseline: string;
  readonly system: string;
  readonly metric: string;
  /** Queries compared. */
  readonly n: number;
  /** Mean of the per-query differences, system minus baseline. */
  readonly delta: number;
  /** Percentile bootstrap interval of delta. */
  readonly interval: readonly [number, number];
  readonly level: number;
  /** Two-sided. */
  readonly p: number;
  /** Benjamini-Hochberg over all comparisons of this list. */
  readonly adjustedP: number;
  readonly test: TestName;
  /** Whether p comes from the whole null distribution and not from draws or an approximation. */
  readonly exact: boolean;
  readonly resamples: number;
  readonly seed: number;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

/**
 * Every pair in every measure that is a mean over queries (counts are left out). The two systems of a pair must have been
 * evaluated on the same queries; over none there is nothing to compare. One list is one family for the adjusted p.
 */
export function compareSystems(
  pairs: readonly (readonly [baseline: EvaluatedSystem, system: EvaluatedSystem])[],
  measures: readonly Measure[],
  settings: ComparisonSettings = {},
): Comparison[] {
  const { test = 'randomisation', resamples = 10_000, level = 0.95, seed = 1 } = settings;
  const metrics = measures.filter((measure) => !isTotal(measure)).map(({ name }) => name);
  const tested = pairs.flatMap(([baseline, system]) =>
    metrics.flatMap((metric) => {
      const before = baseline.perQuery[metric];
      const after = system.perQuery[metric];
      const differences = Float64Array.from(Object.keys(before), (query) => after[query] - before[query]);
      if (differences.length === 0) return [];
      return { baseline, system, metric, differences, ...pairedTest(test, differences, { resamples, seed }) };
    }),
  );
  const adjusted = benjaminiHochberg(tested.map(({ p }) => p));
  return tested.map(({ baseline, system, metric, differences, p, exact }, i) => ({
    baseline: baseline.name,
    system: system.name,
    metric,
    n: differences.length,
    delta: meanOf(differences),
    interval: bootstrapInterval(differences, { resamples, seed, level }),
    level,
    p,
    adjustedP: adjusted[i],
    test,
    exact,
    resamples,
    seed,
    ...tally(differences),
  }));
}
