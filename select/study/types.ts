/** What a study works on: one collection, one retriever, one reranker, and their queries with everything known of each. */
import type { Pool, Query } from '../../src/types.ts';

export interface StudyGroup {
  readonly collection: string;
  readonly retriever: string;
  readonly reranker: string;
  /** Documents of the collection. */
  readonly documents: number;
  /** Whether its pools carry lexical ranks. */
  readonly lexical: boolean;
  /** The judged queries that are studied, in a fixed order. */
  readonly queries: readonly Query[];
  /** Pool, judgements and every score of one query. The scores are computed once and kept. */
  load(query: Query): Promise<StudyQuery>;
  /** Milliseconds of a reranker call, of every pair so far. */
  readonly callMilliseconds: readonly number[];
}

export interface StudyQuery {
  readonly query: Query;
  readonly pool: Pool;
  /** The reranker's score by pool position; NaN = that call failed. */
  readonly scores: Float64Array;
  /** 1 where the document at that position is judged relevant, else 0. */
  readonly relevance: Float64Array;
  /** Judged relevant documents in the whole collection. */
  readonly relevant: number;
  /** Text of the document at a position, as people get it; title first. */
  textAt(position: number): string;
  /** A text in the space of the pool's embeddings, for systems that write their own queries. */
  embed(text: string): Promise<Float32Array | Float64Array>;
}
