/** The training side of a data set, by position: who is relevant to whom. Built once; the reward and the mining read it. */
import { normaliseQuery } from '../src/data/mod.ts';
import { idealDcg } from '../src/metrics/ndcg.ts';
import type { Corpus, Qrels, Query } from '../src/types.ts';
import type { Judged } from './kernels/reward.ts';

export interface TrainingQueries {
  readonly queries: readonly Query[];
  /** judged[q], same order. */
  readonly judged: readonly Judged[];
  /** positives.get(document position) = positions of the training queries to which it is relevant, ascending (Q+). */
  readonly positives: ReadonlyMap<number, readonly number[]>;
  /** textGroup[q]: equal for queries whose text is the same but for case and white space. */
  readonly textGroup: Int32Array;
  /** Queries with a relevant document: only these can be anybody's negatives (A.5: positive queries of other documents). */
  readonly answerable: readonly number[];
}

/** The queries of `ids` that have judgements, in the order of `queries`; `k` is the reward's cut. */
export function trainingQueries(
  corpus: Corpus,
  queries: readonly Query[],
  qrels: Qrels,
  ids: readonly string[],
  k: number,
): TrainingQueries {
  const wanted = new Set(ids);
  const kept = queries.filter((query) => wanted.has(query.id) && (qrels.get(query.id)?.size ?? 0) > 0);
  const judged = kept.map((query): Judged => {
    const grades = qrels.get(query.id)!;
    return { grades, ideal: idealDcg(grades.values(), k) };
  });
  const positives = new Map<number, number[]>();
  const groups = new Map<string, number>();
  const textGroup = new Int32Array(kept.length);
  const answerable: number[] = [];
  kept.forEach((query, q) => {
    const text = normaliseQuery(query.text);
    if (!groups.has(text)) groups.set(text, groups.size);
    textGroup[q] = groups.get(text)!;
    if (judged[q].ideal > 0) answerable.push(q);
    for (const [id, grade] of judged[q].grades) {
      const position = grade > 0 ? corpus.positionOf(id) : undefined;
      if (position === undefined) continue;
      const list = positives.get(position);
      if (list === undefined) positives.set(position, [q]);
      else list.push(q);
    }
  });
  return { queries: kept, judged, positives, textGroup, answerable };
}
