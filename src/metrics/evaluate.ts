/** Runs against judgements: every measure for every query, and the means. */
import { DocOptError } from '../errors.ts';
import type { Qrels, Ranking, Run } from '../types.ts';
import type { JudgedRanking } from './judged-ranking.ts';
import { isTotal, type Measure, scorer } from './measures.ts';
import { evaluationOrder, type Ties } from './order.ts';

export interface EvaluateOptions {
  /** Order of equal scores; default `id`. */
  readonly ties?: Ties;
  /** Evaluate only these queries (those that have judgements); default: every query of the judgements. */
  readonly queries?: Iterable<string>;
}

export interface Evaluation {
  /** measure name -> mean over the evaluated queries (a sum for the counts NumQ, NumRel, NumRet). */
  readonly mean: Readonly<Record<string, number>>;
  /** measure name -> query id -> value. */
  readonly perQuery: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/**
 * Evaluates a run. The queries are those of the judgements: one that the run does not answer counts 0, one without a
 * relevant document counts 0 (trec_eval -c does both), one that only the run has is ignored. Without queries the means are NaN.
 * Errors (DATA): a document twice in one ranking, a score that is not a number, ids and scores of different length.
 */
export function evaluate(
  run: Run,
  qrels: Qrels,
  measures: readonly Measure[],
  options: EvaluateOptions = {},
): Evaluation {
  const scorers = measures.map(scorer);
  const queries = evaluatedQueries(qrels, options.queries);
  const values = measures.map(() => new Float64Array(queries.length));
  queries.forEach((query, q) => {
    const judged = judgeRanking(query, run.get(query) ?? EMPTY, qrels.get(query)!, options.ties ?? 'id');
    scorers.forEach((score, m) => {
      values[m][q] = score(judged);
    });
  });
  return {
    mean: Object.fromEntries(
      measures.map((measure, m) => [measure.name, isTotal(measure) ? sum(values[m]) : sum(values[m]) / queries.length]),
    ),
    perQuery: Object.fromEntries(
      measures.map((measure, m) => [
        measure.name,
        Object.fromEntries(queries.map((query, q) => [query, values[m][q]])),
      ]),
    ),
  };
}

/** The queries that an evaluation covers, in the order of the judgements. */
export function evaluatedQueries(qrels: Qrels, wanted?: Iterable<string>): string[] {
  const judged = [...qrels].filter(([, judgements]) => judgements.size > 0).map(([query]) => query);
  if (wanted === undefined) return judged;
  const set = new Set(wanted);
  return judged.filter((query) => set.has(query));
}

/** A ranking in evaluation order with the grade of every document. */
export function judgeRanking(
  query: string,
  ranking: Ranking,
  judgements: ReadonlyMap<string, number>,
  ties: Ties,
): JudgedRanking {
  const { ids, scores } = ranking;
  if (ids.length !== scores.length) {
    throw new DocOptError('DATA', `query '${query}': ${ids.length} documents but ${scores.length} scores`);
  }
  if (new Set(ids).size !== ids.length) throw duplicateError(query, ids);
  const bad = scores.findIndex((score) => Number.isNaN(score));
  if (bad !== -1) {
    throw new DocOptError('DATA', `query '${query}': the score of document '${ids[bad]}' is not a number`, {
      hint: 'Every document of a run needs a score; check what wrote the run.',
    });
  }
  const gradesByRank = new Float64Array(ids.length);
  const order = evaluationOrder(ranking, ties);
  for (let rank = 0; rank < order.length; rank++) {
    gradesByRank[rank] = judgements.get(ids[order[rank]]) ?? Number.NaN;
  }
  return { gradesByRank, grades: Float64Array.from(judgements.values()) };
}

const EMPTY: Ranking = { ids: [], scores: new Float64Array(0) };

function duplicateError(query: string, ids: readonly string[]): DocOptError {
  const seen = new Set<string>();
  const twice = ids.find((id) => seen.size === seen.add(id).size);
  return new DocOptError('DATA', `query '${query}' ranks document '${twice}' twice`, {
    hint: 'A run may name a document once per query; remove the second line.',
  });
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
