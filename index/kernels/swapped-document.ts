import { type DocumentTerms, type Postings, transpose } from './postings.ts';
import type { QueryTerms } from './query-terms.ts';

/**
 * One document with its text swapped, seen from the statistics. Only the terms of the queries at hand are ever looked
 * up, so a swap costs one small map of the new text's terms and no walk over the vocabulary.
 */
export class SwappedDocument {
  readonly #postings: Postings;
  readonly #documentTerms: DocumentTerms;
  /** The new text's terms with their occurrences. */
  readonly #counts = new Map<string, number>();
  position = -1;
  /** Tokens of the new text. */
  length = 0;
  /** Tokens of the corpus after the swap. */
  totalLength = 0;

  constructor(postings: Postings) {
    this.#postings = postings;
    this.#documentTerms = transpose(postings);
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
      const had = this.#had(query.terms[slot]) ? 1 : 0;
      into[slot] = query.frequencies[slot] - had + (counts[slot] > 0 ? 1 : 0);
    }
    return into;
  }

  /** Whether the old text has the term. */
  #had(term: number): boolean {
    const { offsets, terms } = this.#documentTerms;
    let low = offsets[this.position];
    const end = offsets[this.position + 1];
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (terms[middle] < term) low = middle + 1;
      else high = middle;
    }
    return low < end && terms[low] === term;
  }
}
