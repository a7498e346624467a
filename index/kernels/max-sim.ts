/**
 * Late interaction (ColBERT): the score of a document is, summed over the tokens of the query in their order, the greatest
 * inner product with any token of the document. Products and sums are in float64, so a score is a function of the two
 * matrices alone.
 */
import { flatScores, pairScore } from './flat-scores.ts';

/** By definition, one pair at a time. -Infinity for a document without tokens. */
export function maxSim(query: Float64Array, tokens: Float32Array, first: number, last: number, width: number): number {
  if (first === last) return Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let q = 0; q < query.length; q += width) {
    let best = Number.NEGATIVE_INFINITY;
    for (let t = first; t < last; t++) {
      const score = pairScore(tokens, t * width, query, q, width);
      if (score > best) best = score;
    }
    sum += best;
  }
  return sum;
}

/**
 * The same for documents whose tokens lie back to back: rows bounds[d]..bounds[d + 1] are document d's. Products are taken
 * in blocks by flatScores, whose sums have the order of pairScore, so that every score is that of maxSim to the last bit.
 */
export function maxSimScores(
  query: Float64Array,
  tokens: Float32Array,
  bounds: Int32Array,
  width: number,
  out: Float64Array,
): void {
  const documents = bounds.length - 1;
  const count = bounds[documents];
  const queryTokens = query.length / width;
  const products = new Float64Array(queryTokens * count);
  flatScores(tokens, count, query, width, products);
  for (let d = 0; d < documents; d++) {
    const first = bounds[d];
    const last = bounds[d + 1];
    if (first === last) {
      out[d] = Number.NEGATIVE_INFINITY;
      continue;
    }
    let sum = 0;
    for (let q = 0; q < queryTokens; q++) {
      const row = q * count;
      let best = Number.NEGATIVE_INFINITY;
      for (let t = row + first, end = row + last; t < end; t++) if (products[t] > best) best = products[t];
      sum += best;
    }
    out[d] = sum;
  }
}
