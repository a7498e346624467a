import { documentFrequency, type Postings } from './postings.ts';

/** What a cell holds when the count does not fit; the posting list has the real one. */
export const CLIPPED = 255;

/** A term in at least one of this many documents may have a column. */
const RARITY = 16;

/**
 * Common terms as one byte per document (occurrences, clipped), for look-ups in one step where a list of half the
 * corpus would need sixteen. Made when first asked for, within a budget.
 */
export class Columns {
  readonly #postings: Postings;
  readonly #columns = new Map<number, Uint8Array>();
  #bytesLeft: number;

  /** bytes: what all columns together may take. */
  constructor(postings: Postings, bytes = Math.max(postings.documents.length * 2, 1 << 20)) {
    this.#postings = postings;
    this.#bytesLeft = bytes;
  }

  /** undefined when the term is too rare for a column, or the budget is spent. */
  get(term: number): Uint8Array | undefined {
    const known = this.#columns.get(term);
    if (known !== undefined) return known;
    const { size, offsets, documents, counts } = this.#postings;
    if (documentFrequency(this.#postings, term) * RARITY < size || size > this.#bytesLeft) return undefined;
    const column = new Uint8Array(size);
    for (let p = offsets[term]; p < offsets[term + 1]; p++) column[documents[p]] = Math.min(counts[p], CLIPPED);
    this.#bytesLeft -= size;
    this.#columns.set(term, column);
    return column;
  }
}
