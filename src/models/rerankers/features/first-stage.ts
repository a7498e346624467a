import type { RetrievalIndex } from '../../../ports.ts';
import type { Corpus, Query } from '../../../types.ts';

/** The first stage that a scorer refines, and the documents it holds. */
export interface FirstStage {
  readonly index: RetrievalIndex;
  readonly corpus: Corpus;
}

/** What is typical of the first stage's best documents of a query. */
export interface QueryHead {
  readonly mean: number;
  readonly deviation: number;
  /** The least score among them. */
  readonly least: number;
}

/** Documents of a query that its scores are compared with. */
const HEAD = 100;

/** Undefined when the first stage finds nothing. */
export async function queryHead(index: RetrievalIndex, query: Query): Promise<QueryHead | undefined> {
  const [{ scores }] = await index.search([query], HEAD);
  if (scores.length === 0) return undefined;
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const variance = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length;
  return { mean, deviation: variance > 1e-12 ? Math.sqrt(variance) : 1, least: scores[scores.length - 1] };
}

/**
 * The first stage's score of a pair in deviations from the mean of the query's best documents: comparable between
 * queries, and a matter of the pair and the collection, not of the other candidates. A score that is no number (a black
 * box that does not rank the document) counts as the least of them.
 */
export function standardised(head: QueryHead | undefined, score: number): number {
  if (head === undefined) return 0;
  return ((Number.isFinite(score) ? score : head.least) - head.mean) / head.deviation;
}
