/** Indexes measured on queries: the run, its figures, and whether two systems differ. */
import {
  benjaminiHochberg,
  bootstrapInterval,
  type Evaluation,
  evaluate,
  isTotal,
  type Measure,
  meanOf,
  randomisation,
  tally,
} from '../src/metrics/mod.ts';
import type { RetrievalIndex } from '../src/ports.ts';
import type { Qrels, Query, Ranking, Run } from '../src/types.ts';
import { breathe } from './breathe.ts';

/** Queries per search call: enough to batch, few enough that an interrupt is noticed. */
const BATCH = 256;

export async function runOf(
  index: RetrievalIndex,
  queries: readonly Query[],
  depth: number,
  signal?: AbortSignal,
): Promise<Run> {
  const run = new Map<string, Ranking>();
  for (let start = 0; start < queries.length; start += BATCH) {
    await breathe();
    signal?.throwIfAborted();
    const batch = queries.slice(start, start + BATCH);
    const rankings = await index.search(batch, depth);
    batch.forEach((query, i) => {
      run.set(query.id, rankings[i]);
    });
  }
  return run;
}

/** How deep a run must be for these measures: their largest cutoff, or `fallback` when one looks at the whole ranking. */
export function depthOf(measures: readonly Measure[], fallback: number): number {
  const cutoffs = measures.map(({ cutoff }) => (cutoff !== undefined && cutoff >= 1 ? cutoff : fallback));
  return Math.max(1, ...cutoffs);
}

/** A measured system: figures over all test queries. */
export interface Measured {
  readonly name: string;
  readonly run: Run;
  readonly evaluation: Evaluation;
}

export function measure(
  name: string,
  run: Run,
  qrels: Qrels,
  measures: readonly Measure[],
  queries: readonly string[],
): Measured {
  return { name, run, evaluation: evaluate(run, qrels, measures, { queries }) };
}

export interface Comparison {
  readonly baseline: string;
  readonly system: string;
  readonly metric: string;
  /** Queries. */
  readonly n: number;
  /** Mean of system minus baseline. */
  readonly delta: number;
  /** Bootstrap interval of delta. */
  readonly interval: readonly [number, number];
  readonly level: number;
  readonly p: number;
  /** p after Benjamini-Hochberg over all comparisons of the same list. */
  readonly adjustedP: number;
  readonly test: 'randomisation';
  readonly resamples: number;
  readonly seed: number;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

const RESAMPLES = 10_000;
const LEVEL = 0.95;

/** Paired comparisons of system pairs on every measure that is a mean over queries. */
export function compareSystems(
  pairs: readonly (readonly [baseline: Measured, system: Measured])[],
  measures: readonly Measure[],
  seed: number,
): Comparison[] {
  const rows = pairs.flatMap(([baseline, system]) =>
    measures
      .filter((measure) => !isTotal(measure))
      .map(({ name: metric }) => {
        const before = baseline.evaluation.perQuery[metric];
        const after = system.evaluation.perQuery[metric];
        const differences = Float64Array.from(Object.keys(before), (query) => after[query] - before[query]);
        return {
          baseline: baseline.name,
          system: system.name,
          metric,
          n: differences.length,
          delta: meanOf(differences),
          interval: bootstrapInterval(differences, { resamples: RESAMPLES, seed, level: LEVEL }),
          level: LEVEL,
          p: randomisation(differences, { resamples: RESAMPLES, seed }).p,
          test: 'randomisation' as const,
          resamples: RESAMPLES,
          seed,
          ...tally(differences),
        };
      }),
  );
  const adjusted = benjaminiHochberg(rows.map(({ p }) => p));
  return rows.map((row, i) => ({ ...row, adjustedP: adjusted[i] }));
}

/** A mean of a measure over some of its queries; null over none. */
export function meanOver(evaluation: Evaluation, metric: string, queries: readonly string[]): number | null {
  if (queries.length === 0) return null;
  const perQuery = evaluation.perQuery[metric];
  return queries.reduce((sum, query) => sum + perQuery[query], 0) / queries.length;
}
