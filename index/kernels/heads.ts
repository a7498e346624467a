import type { LengthNorm } from './bm25.ts';
import { findPosting, type Postings } from './postings.ts';
import type { PrunedSearch } from './pruned-search.ts';
import { emptyWeights, type QueryTerms, type Weights, weigh } from './query-terms.ts';

/** The top of one query's ranking in the index as it is, with what is needed to score it again under other statistics. */
export interface Head {
  readonly query: QueryTerms;
  readonly weights: Weights;
  /** Best first. */
  readonly documents: Int32Array;
  readonly scores: Float64Array;
  /** counts[i * query.size + slot] = occurrences of the slot's term in the i-th document, for the first `counted` ones. */
  readonly counts: Int32Array;
  counted: number;
  /** Every matching document is in it: nothing lies below. */
  readonly complete: boolean;
  /** Rows that were asked for; more need a new head. */
  readonly depth: number;
}

/** Rows beyond k, so that a swap that shuffles the top still finds all it needs. */
const SPARE = 16;

/**
 * Heads by query text, oldest dropped first when they take more than `bytes`. A training query comes back in thousands
 * of swaps; everything about it that no swap changes is computed once.
 */
export class Heads {
  readonly #postings: Postings;
  readonly #search: PrunedSearch;
  readonly #norm: LengthNorm;
  readonly #parse: (text: string) => QueryTerms;
  readonly #heads = new Map<string, Head>();
  readonly #capacity: number;
  /** What the heads take now, roughly. */
  bytes = 0;

  constructor(
    postings: Postings,
    search: PrunedSearch,
    norm: LengthNorm,
    parse: (text: string) => QueryTerms,
    bytes = 128 * 2 ** 20,
  ) {
    this.#postings = postings;
    this.#search = search;
    this.#norm = norm;
    this.#parse = parse;
    this.#capacity = bytes;
  }

  /** A head of at least k + 1 rows (the swapped document may be one of them), or all there is. */
  get(text: string, k: number): Head {
    const known = this.#heads.get(text);
    if (known !== undefined && (known.complete || known.depth > k)) return known;
    const head = this.#make(text, k + SPARE);
    if (known !== undefined) this.#drop(text, known);
    this.#heads.set(text, head);
    this.bytes += bytesOf(text, head);
    for (const [oldest, old] of this.#heads) {
      if (this.bytes <= this.#capacity || oldest === text) break;
      this.#drop(oldest, old);
    }
    return head;
  }

  #drop(text: string, head: Head): void {
    this.#heads.delete(text);
    this.bytes -= bytesOf(text, head);
  }

  #make(text: string, depth: number): Head {
    const query = this.#parse(text);
    const weights = weigh(query, query.frequencies, this.#postings.size, emptyWeights(query.size));
    const { documents, scores } = this.#search.search(query, weights, this.#norm, depth);
    const counts = new Int32Array(documents.length * query.size);
    return { query, weights, documents, scores, counts, counted: 0, complete: documents.length < depth, depth };
  }
}

/** Fills in the counts of row i. Few rows are ever looked at, so they are looked up one by one, from the top. */
export function countRow(head: Head, postings: Postings, i: number): void {
  const { query, documents, counts } = head;
  for (; head.counted <= i; head.counted++) {
    for (let slot = 0; slot < query.size; slot++) {
      const p = query.terms[slot] < 0 ? -1 : findPosting(postings, query.terms[slot], documents[head.counted]);
      if (p >= 0) counts[head.counted * query.size + slot] = postings.counts[p];
    }
  }
}

/** What a head takes, roughly: its arrays, its query's, and the objects around them. */
function bytesOf(text: string, head: Head): number {
  return 1000 + 4 * text.length + head.documents.length * (12 + 4 * head.query.size) + 120 * head.query.size;
}
