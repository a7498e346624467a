import { type DocumentTerms, type Postings, transpose } from './postings.ts';
import type { QueryTerms } from './query-terms.ts';

/**
 * One document with its text swapped, seen from the statistics: which terms it had, which it has now. Marks are stamped
 * with the number of the swap, so that the next swap starts clean without clearing anything.
 */
export class SwappedDocument {
  readonly #postings: Postings;
  readonly #documentTerms: DocumentTerms;
  #swap = 0;
  /** Per term: the last swap whose old text had it, whose new text has it, and how often. */
  readonly #had: Int32Array;
  readonly #has: Int32Array;
  readonly #count: Int32Array;
  /** Terms of the new text that no document had. */
  readonly #newTerms = new Map<string, number>();
  position = -1;
  /** Tokens of the new text. */
  length = 0;
  /** Tokens of the corpus after the swap. */
  totalLength = 0;

  constructor(postings: Postings) {
    this.#postings = postings;
    this.#documentTerms = transpose(postings);
    this.#had = new Int32Array(postings.vocabulary.size);
    this.#has = new Int32Array(postings.vocabulary.size);
    this.#count = new Int32Array(postings.vocabulary.size);
  }

  swap(position: number, tokens: readonly string[]): void {
    const { vocabulary, lengths, totalLength } = this.#postings;
    const { offsets, terms } = this.#documentTerms;
    const swap = ++this.#swap;
    for (let p = offsets[position]; p < offsets[position + 1]; p++) this.#had[terms[p]] = swap;
    this.#newTerms.clear();
    for (const token of tokens) {
      const term = vocabulary.get(token);
      if (term === undefined) this.#newTerms.set(token, (this.#newTerms.get(token) ?? 0) + 1);
      else if (this.#has[term] === swap) this.#count[term]++;
      else {
        this.#has[term] = swap;
        this.#count[term] = 1;
      }
    }
    this.position = position;
    this.length = tokens.length;
    this.totalLength = totalLength - lengths[position] + tokens.length;
  }

  /** Occurrences of each of the query's terms in the new text. */
  counts(query: QueryTerms, into: Int32Array): Int32Array {
    for (let slot = 0; slot < query.size; slot++) {
      const term = query.terms[slot];
      if (term < 0) into[slot] = this.#newTerms.get(query.texts[slot]) ?? 0;
      else into[slot] = this.#has[term] === this.#swap ? this.#count[term] : 0;
    }
    return into;
  }

  /** Documents that have each of the query's terms after the swap, given its counts in the new text. */
  frequencies(query: QueryTerms, counts: Int32Array, into: Int32Array): Int32Array {
    for (let slot = 0; slot < query.size; slot++) {
      const term = query.terms[slot];
      const had = term >= 0 && this.#had[term] === this.#swap ? 1 : 0;
      into[slot] = query.frequencies[slot] - had + (counts[slot] > 0 ? 1 : 0);
    }
    return into;
  }
}
