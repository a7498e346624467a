import { type LengthNorm, saturation } from './bm25.ts';
import { findPosting, type Postings } from './postings.ts';
import type { QueryTerms, Weights } from './query-terms.ts';

/**
 * Adds every matching document's score into `scores` (one cell per document, zeros before): the exhaustive scan. It is
 * the plain definition of a score; the faster paths must equal it to the last bit.
 */
export function addAllScores(
  postings: Postings,
  query: QueryTerms,
  weights: Weights,
  norm: LengthNorm,
  scores: Float64Array,
): void {
  const { offsets, documents, counts, lengths } = postings;
  for (const slot of weights.order) {
    const term = query.terms[slot];
    if (term < 0) continue;
    const weight = weights.weight[slot];
    for (let p = offsets[term]; p < offsets[term + 1]; p++) {
      const document = documents[p];
      scores[document] += weight * saturation(counts[p], lengths[document], norm);
    }
  }
}

/** One document's score, by look-up: O(T log df). */
export function scoreOne(
  postings: Postings,
  query: QueryTerms,
  weights: Weights,
  norm: LengthNorm,
  document: number,
): number {
  let score = 0;
  for (const slot of weights.order) {
    const term = query.terms[slot];
    const p = term < 0 ? -1 : findPosting(postings, term, document);
    if (p >= 0) score += weights.weight[slot] * saturation(postings.counts[p], postings.lengths[document], norm);
  }
  return score;
}

/** into[i] = score of positions[i]: by look-ups, or by one scan when that many look-ups would cost more. */
export function scorePairs(
  postings: Postings,
  query: QueryTerms,
  weights: Weights,
  norm: LengthNorm,
  positions: Int32Array,
  into: Float64Array,
): void {
  let scan = postings.size;
  let lookUp = 0;
  for (const frequency of query.frequencies) {
    scan += frequency;
    lookUp += Math.log2(frequency + 1);
  }
  if (scan > lookUp * positions.length * 2) {
    for (let i = 0; i < positions.length; i++) into[i] = scoreOne(postings, query, weights, norm, positions[i]);
    return;
  }
  const scores = new Float64Array(postings.size);
  addAllScores(postings, query, weights, norm, scores);
  for (let i = 0; i < positions.length; i++) into[i] = scores[positions[i]];
}
