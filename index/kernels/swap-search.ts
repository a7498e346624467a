/**
 * Counterfactual search: one document's text is swapped, everything else stays, and the query is ranked as an index
 * built from the swapped corpus would rank it. The swap moves the document frequency of the terms it adds or takes away
 * by one and the average length by a little, so every score moves a little; the ranking is proven, not approximated:
 * the head of the current ranking is scored again, and a bound on how much any score can grow shows that nothing below
 * the head reaches the top k. When it does not show it, the query is searched in full.
 */
import type { Best } from './best.ts';
import { type Bm25Settings, type LengthNorm, lengthNorm, saturation, stretchOf } from './bm25.ts';
import { countRow, type Head } from './heads.ts';
import type { Postings } from './postings.ts';
import type { Hits, PrunedSearch } from './pruned-search.ts';
import { emptyWeights, type QueryTerms, type Weights, weigh } from './query-terms.ts';
import { SwappedDocument } from './swapped-document.ts';

export class SwapSearch {
  readonly #settings: Bm25Settings;
  readonly #postings: Postings;
  readonly #norm: LengthNorm;
  readonly #search: PrunedSearch;
  readonly #best: Best;
  readonly #frozen: boolean;
  readonly #swapped: SwappedDocument;
  #swappedNorm: LengthNorm;
  // Scratch, one cell per slot of the query at hand.
  #counts = new Int32Array(0);
  #frequencies = new Int32Array(0);
  #weights: Weights = emptyWeights(0);
  /** Searches that the bound could not spare, for benches and tests. */
  fullSearches = 0;

  constructor(
    settings: Bm25Settings,
    postings: Postings,
    norm: LengthNorm,
    search: PrunedSearch,
    best: Best,
    statistics: 'recompute' | 'frozen',
  ) {
    this.#settings = settings;
    this.#postings = postings;
    this.#norm = norm;
    this.#search = search;
    this.#best = best;
    this.#frozen = statistics === 'frozen';
    this.#swapped = new SwappedDocument(postings);
    this.#swappedNorm = norm;
  }

  /** From now on `position` has a text of these tokens. */
  swap(position: number, tokens: readonly string[]): void {
    this.#swapped.swap(position, tokens);
    if (!this.#frozen) this.#swappedNorm = lengthNorm(this.#settings, this.#swapped.totalLength, this.#postings.size);
  }

  /** The k best of the head's query after the swap. The head must have more than k rows, or be complete. */
  rank(head: Head, k: number): Hits {
    const { query } = head;
    const swapped = this.#swapped;
    if (this.#weights.order.length !== query.size) {
      this.#counts = new Int32Array(query.size);
      this.#frequencies = new Int32Array(query.size);
      this.#weights = emptyWeights(query.size);
    }
    const counts = swapped.counts(query, this.#counts);
    let weights = head.weights;
    if (!this.#frozen) {
      const frequencies = swapped.frequencies(query, counts, this.#frequencies);
      weights = weigh(query, frequencies, this.#postings.size, this.#weights);
    }
    const own = score(counts, 0, swapped.length, weights, this.#swappedNorm);
    const best = this.#best;
    best.reset(k);
    if (own > 0) best.offer(swapped.position, own);
    if (this.#scoreHead(head, weights)) return best.take();
    this.fullSearches++;
    const { documents, scores } = this.#search.search(query, weights, this.#swappedNorm, k, swapped.position);
    best.reset(k);
    if (own > 0) best.offer(swapped.position, own);
    for (let i = 0; i < documents.length; i++) best.offer(documents[i], scores[i]);
    return best.take();
  }

  /** Offers the head's documents under the new statistics; true when nothing below the last one looked at can enter. */
  #scoreHead(head: Head, weights: Weights): boolean {
    const { query, documents, scores, counts } = head;
    const best = this.#best;
    const norm = this.#swappedNorm;
    const lengths = this.#postings.lengths;
    const { added, factor, stretch } = this.#growth(query, head.weights, weights);
    for (let i = 0; i < documents.length; i++) {
      // Scores fall down the head, so this bounds every document from here on.
      if (Math.min(scores[i] + added, scores[i] * factor) * stretch < best.floor) return true;
      const document = documents[i];
      if (document === this.#swapped.position) continue;
      if (i >= head.counted) countRow(head, this.#postings, i);
      best.offer(document, score(counts, i * query.size, lengths[document], weights, norm));
    }
    if (head.complete) return true;
    const last = scores[documents.length - 1];
    return Math.min(last + added, last * factor) * stretch < best.floor;
  }

  /**
   * How much an untouched document's score can grow: at most min(score + added, score * factor) * stretch.
   * A term's weight grows when the swap makes it rarer; a saturation grows when the average length grows, by no more
   * than the average does. A term that no other document has cannot move an untouched document.
   */
  #growth(query: QueryTerms, before: Weights, after: Weights): { added: number; factor: number; stretch: number } {
    let added = 0;
    let factor = 1;
    for (let slot = 0; slot < query.size; slot++) {
      const others = this.#frequencies[slot] - (this.#counts[slot] > 0 ? 1 : 0);
      if (after.weight[slot] <= before.weight[slot] || others === 0) continue;
      added += (after.weight[slot] - before.weight[slot]) * this.#search.largest[query.terms[slot]];
      factor = Math.max(factor, after.weight[slot] / before.weight[slot]);
    }
    return { added, factor, stretch: stretchOf(this.#norm, this.#swappedNorm) };
  }
}

/** Score of a document given its counts of the query's terms, counts[from + slot]. */
function score(counts: Int32Array, from: number, length: number, weights: Weights, norm: LengthNorm): number {
  let sum = 0;
  for (let i = 0; i < weights.order.length; i++) {
    const slot = weights.order[i];
    const count = counts[from + slot];
    if (count > 0) sum += weights.weight[slot] * saturation(count, length, norm);
  }
  return sum;
}
