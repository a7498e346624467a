/** Indexes measured on queries: the run and its figures. */
import type { EvaluatedSystem, Evaluation, Measure } from '../src/metrics/mod.ts';
import type { RetrievalIndex } from '../src/ports.ts';
import type { Query, Ranking, Run } from '../src/types.ts';
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

/** A measured system: figures over all test queries, and the rankings they come from. */
export interface Measured extends EvaluatedSystem {
  readonly run: Run;
}

/** A mean of a measure over some of its queries; null over none. */
export function meanOver(evaluation: Evaluation, metric: string, queries: readonly string[]): number | null {
  if (queries.length === 0) return null;
  const perQuery = evaluation.perQuery[metric];
  return queries.reduce((sum, query) => sum + perQuery[query], 0) / queries.length;
}
