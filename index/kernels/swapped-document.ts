import { findPosting, type Postings } from './postings.ts';
import type { QueryTerms } from './query-terms.ts';

/**
 * One document with its text swapped, seen from the statistics. Only the terms of the queries at hand are ever looked
 * up, so a swap costs one small map of the new text's terms and no walk over the vocabulary.
 */
export class SwappedDocument {
  readonly #postings: Postings;
  /** The new text's terms with their occurrences. */
  readonly #counts = new Map<string, number>();
  position = -1;
  /** Tokens of the new text. */
  length = 0;
  /** Tokens of the corpus after the swap. */
  totalLength = 0;

  constructor(postings: Postings) {
    this.#postings = postings;
  }

  swap(position: number, tokens: readonly string[]): void {
    this.#counts.clear();
    for (const token of tokens) this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
    this.position = position;
    this.length = tokens.length;
    this.totalLength = this.#postings.totalLength - this.#postings.lengths[position] + tokens.length;
  }

  /** Occurrences of each of the query's terms in the new text. */
  counts(query: QueryTerms, into: Int32Array): Int32Array {
    for (let slot = 0; slot < query.size; slot++) into[slot] = this.#counts.get(query.texts[slot]) ?? 0;
    return into;
  }

  /** Documents that have each of the query's terms after the swap, given its counts in the new text. */
  frequencies(query: QueryTerms, counts: Int32Array, into: Int32Array): Int32Array {
    for (let slot = 0; slot < query.size; slot++) {
      const term = query.terms[slot];
      const had = term >= 0 && findPosting(this.#postings, term, this.position) >= 0 ? 1 : 0;
      into[slot] = query.frequencies[slot] - had + (counts[slot] > 0 ? 1 : 0);
    }
    return into;
  }
}
