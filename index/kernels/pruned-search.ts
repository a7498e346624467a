/**
 * Top-k search that leaves out what cannot matter, with the exhaustive scan's exact result. Term at a time, rarest
 * first (MaxScore): once the k-th best partial score exceeds all that the remaining terms could add together, no new
 * document can enter, and the remaining (long) lists are only asked about the documents already met.
 */
import { Best } from './best.ts';
import { type LengthNorm, SLACK, saturation, stretchOf } from './bm25.ts';
import { CLIPPED, Columns } from './columns.ts';
import { KthLargest } from './kth-largest.ts';
import { findPosting, type Postings } from './postings.ts';
import type { QueryTerms, Weights } from './query-terms.ts';

export interface Hits {
  readonly documents: Int32Array;
  readonly scores: Float64Array;
}

/** One per index; calls are synchronous and share the scratch arrays. */
export class PrunedSearch {
  readonly #postings: Postings;
  /** Per term: its largest saturation under the index's own length norm. */
  readonly largest: Float64Array;
  readonly #norm: LengthNorm;
  readonly #best: Best;
  readonly #columns: Columns;
  /** Per document: the partial score, 0 between calls. */
  readonly #scores: Float64Array;
  /** Documents whose partial score is not 0. */
  readonly #met: Int32Array;
  readonly #kth = new KthLargest();
  /** Terms of the last search whose lists were not gone through for new documents; for tests. */
  prunedTerms = 0;

  constructor(postings: Postings, rank: Int32Array, norm: LengthNorm) {
    this.#postings = postings;
    this.#norm = norm;
    this.largest = largestSaturations(postings, norm);
    this.#best = new Best(rank);
    this.#columns = new Columns(postings);
    this.#scores = new Float64Array(postings.size);
    this.#met = new Int32Array(postings.size);
  }

  /**
   * The k best under these weights and this norm (which may be those of a swap); `skip` is left out.
   * Documents that match no term never appear.
   */
  search(query: QueryTerms, weights: Weights, norm: LengthNorm, k: number, skip = -1): Hits {
    const scores = this.#scores;
    const met = this.#met;
    const slots = matchingSlots(query, weights);
    const rest = this.#restBounds(query, weights, slots, norm);
    let count = 0;
    let floor = 0;
    let at = 0;
    for (; at < slots.length; at++) {
      if (floor > rest[at]) break;
      count = this.#meet(query.terms[slots[at]], weights.weight[slots[at]], norm, count);
      // A floor above the rest's bound is out of reach while the terms so far add up to less than that.
      const reach = rest[0] - rest[at + 1];
      if (count > k && reach > rest[at + 1]) floor = this.#kthLargest(count, k, skip);
    }
    this.prunedTerms = slots.length - at;
    for (; at < slots.length; at++) {
      count = this.#refine(query.terms[slots[at]], weights.weight[slots[at]], norm, floor / SLACK - rest[at], count);
    }
    this.#best.reset(k);
    for (let i = 0; i < count; i++) {
      const document = met[i];
      if (document !== skip) this.#best.offer(document, scores[document]);
      scores[document] = 0;
    }
    return this.#best.take();
  }

  /** rest[i] = more than the terms from the i-th on can add to any document; rest[slots.length] = 0. */
  #restBounds(query: QueryTerms, weights: Weights, slots: Int32Array, norm: LengthNorm): Float64Array {
    const stretch = stretchOf(this.#norm, norm);
    const rest = new Float64Array(slots.length + 1);
    for (let i = slots.length - 1; i >= 0; i--) {
      rest[i] = rest[i + 1] + weights.weight[slots[i]] * this.largest[query.terms[slots[i]]] * stretch;
    }
    return rest;
  }

  /** Adds one term to every document of its list; returns how many documents have been met. */
  #meet(term: number, weight: number, norm: LengthNorm, count: number): number {
    const { offsets, documents, counts, lengths } = this.#postings;
    const scores = this.#scores;
    const met = this.#met;
    const { base, slope } = norm;
    for (let p = offsets[term], end = offsets[term + 1]; p < end; p++) {
      const document = documents[p];
      const tf = counts[p];
      const before = scores[document];
      if (before === 0) met[count++] = document;
      scores[document] = before + weight * (tf / (tf + (base + slope * lengths[document])));
    }
    return count;
  }

  /**
   * Adds one term to the documents already met, leaving out those that were below `least` before; returns how many
   * stay. By column where there is one, else by look-up or by a pass over the list, whichever is shorter.
   */
  #refine(term: number, weight: number, norm: LengthNorm, least: number, count: number): number {
    const { offsets, documents, counts, lengths } = this.#postings;
    const scores = this.#scores;
    const met = this.#met;
    const { base, slope } = norm;
    const start = offsets[term];
    const end = offsets[term + 1];
    const column = this.#columns.get(term);
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const document = met[i];
      const before = scores[document];
      if (before < least) {
        scores[document] = 0;
        continue;
      }
      met[kept++] = document;
      if (column === undefined) continue;
      let tf = column[document];
      if (tf === 0) continue;
      if (tf === CLIPPED) tf = counts[findPosting(this.#postings, term, document)];
      scores[document] = before + weight * (tf / (tf + (base + slope * lengths[document])));
    }
    if (column !== undefined) return kept;
    if (kept * 2 * Math.log2(end - start + 1) < end - start) {
      for (let i = 0; i < kept; i++) {
        const document = met[i];
        const p = findPosting(this.#postings, term, document);
        if (p >= 0) scores[document] += weight * saturation(counts[p], lengths[document], norm);
      }
      return kept;
    }
    for (let p = start; p < end; p++) {
      const document = documents[p];
      const before = scores[document];
      if (before === 0) continue;
      const tf = counts[p];
      scores[document] = before + weight * (tf / (tf + (base + slope * lengths[document])));
    }
    return kept;
  }

  /** The k-th largest partial score among the met documents other than `skip`; 0 when there are fewer. */
  #kthLargest(count: number, k: number, skip: number): number {
    const scores = this.#scores;
    const met = this.#met;
    const kth = this.#kth;
    kth.reset(k);
    for (let i = 0; i < count; i++) {
      const score = scores[met[i]];
      if (score > kth.floor && met[i] !== skip) kth.offer(score);
    }
    return kth.floor;
  }
}

/** The slots that some document has, in scoring order. */
function matchingSlots(query: QueryTerms, weights: Weights): Int32Array {
  return weights.order.filter((slot) => query.terms[slot] >= 0);
}

function largestSaturations(postings: Postings, norm: LengthNorm): Float64Array {
  const { offsets, documents, counts, lengths } = postings;
  const largest = new Float64Array(offsets.length - 1);
  for (let term = 0; term < largest.length; term++) {
    let most = 0;
    for (let p = offsets[term]; p < offsets[term + 1]; p++) {
      most = Math.max(most, saturation(counts[p], lengths[documents[p]], norm));
    }
    largest[term] = most;
  }
  return largest;
}
