/**
 * Several systems side by side on the same queries: means, per-query values, and every system against the first one.
 * What `docopt eval` prints; also the in-process way to the same figures.
 */
import { DocOptError } from '../src/errors.ts';
import {
  type Comparison,
  type ComparisonSettings,
  compareSystems,
  type EvaluatedSystem,
  evaluate,
  evaluatedQueries,
  evaluationOrder,
  type Measure,
  type Ties,
} from '../src/metrics/mod.ts';
import type { Qrels, Ranking, Run } from '../src/types.ts';

export interface System {
  /** Unique within one evaluation. */
  readonly name: string;
  /** All that the name leaves out: settings, where it lies. */
  readonly description?: string;
  readonly run: Run;
}

export interface EvaluationSettings extends ComparisonSettings {
  readonly measures: readonly Measure[];
  /** What the queries are called in the report; default `all`. */
  readonly split?: string;
  /** Query ids to evaluate; default: all that have judgements. Ids without judgements are passed over. */
  readonly queries?: readonly string[];
  /** Only queries with at least this many relevant documents (grade 1 or more). */
  readonly minRelevant?: number;
  readonly ties?: Ties;
}

export interface EvaluationReport {
  readonly metrics: readonly string[];
  readonly split: string;
  /** How many queries the means are over. */
  readonly queries: number;
  readonly systems: readonly (EvaluatedSystem & { readonly description?: string })[];
  readonly comparisons: readonly Comparison[];
}

/**
 * Evaluates every system on the same queries; the first is the baseline of the comparisons. One report is over one set
 * of queries: figures of overlapping sets (two splits, two seeds) belong into separate reports, never into one p.
 * Errors: DATA when no query is left to evaluate, USAGE for two systems of one name.
 */
export function evaluateSystems(
  systems: readonly System[],
  qrels: Qrels,
  settings: EvaluationSettings,
): EvaluationReport {
  const names = systems.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new DocOptError('USAGE', `two systems are called '${twice}'`, { hint: 'Give each its own name.' });
  }
  const queries = selectQueries(qrels, settings);
  const options = { ties: settings.ties, queries };
  const evaluated = systems.map(({ name, description, run }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...evaluate(run, qrels, settings.measures, options),
  }));
  return {
    metrics: settings.measures.map(({ name }) => name),
    split: settings.split ?? 'all',
    queries: queries.length,
    systems: evaluated,
    comparisons: compareSystems(
      evaluated.slice(1).map((system) => [evaluated[0], system]),
      settings.measures,
      settings,
    ),
  };
}

function selectQueries(qrels: Qrels, { queries, split, minRelevant = 0 }: EvaluationSettings): string[] {
  const judged = evaluatedQueries(qrels, queries);
  const enough = judged.filter((query) => {
    let relevant = 0;
    for (const grade of qrels.get(query)!.values()) if (grade > 0) relevant++;
    return relevant >= minRelevant;
  });
  if (enough.length > 0) return enough;
  const where = split === undefined || split === 'all' ? '' : ` of split '${split}'`;
  if (judged.length > 0) {
    throw new DocOptError('DATA', `no query${where} has ${minRelevant} or more relevant documents`, {
      hint: 'Lower --min-relevant.',
    });
  }
  if (queries?.length === 0) {
    throw new DocOptError('DATA', `there are no queries${where}`, {
      hint: 'Evaluate another --split (train, dev, all), or make a split with other shares: docopt dataset split DATA',
    });
  }
  throw new DocOptError('DATA', `no query${where} has judgements`, {
    hint: 'Check that the query ids of the judgements and of the split are the same ones.',
  });
}

/** The run without the document whose id is the query's own (`--ignore-self`): collections whose queries are documents. */
export function withoutSelf(run: Run): Run {
  return new Map([...run].map(([query, ranking]) => [query, withoutDocument(ranking, query)]));
}

/** The ranking without one document; itself when the document is not there. */
function withoutDocument(ranking: Ranking, id: string): Ranking {
  const at = ranking.ids.indexOf(id);
  if (at === -1) return ranking;
  return {
    ids: ranking.ids.filter((_, position) => position !== at),
    scores: ranking.scores.filter((_, position) => position !== at),
  };
}

/** At most `depth` documents per query. */
export function truncateRun(run: Run, depth: number): Run {
  const cut = ({ ids, scores }: Ranking): Ranking => ({ ids: ids.slice(0, depth), scores: scores.slice(0, depth) });
  return new Map([...run].map(([query, ranking]) => [query, ranking.ids.length > depth ? cut(ranking) : ranking]));
}

/** The run in the order in which it is evaluated, for writing. */
export function inEvaluationOrder(run: Run, ties: Ties): Run {
  const reorder = (ranking: Ranking): Ranking => {
    const order = evaluationOrder(ranking, ties);
    return {
      ids: Array.from(order, (position) => ranking.ids[position]),
      scores: Float64Array.from(order, (position) => ranking.scores[position]),
    };
  };
  return new Map([...run].map(([query, ranking]) => [query, reorder(ranking)]));
}
