/**
 * BM25 as Lucene computes it: sum over query terms of
 *   idf(t) * tf / (tf + k1 * (1 - b + b * length / averageLength)),   idf(t) = ln(1 + (N - df + .5) / (df + .5)).
 *
 * Every path of this folder (search, exhaustive scan, counterfactual, single pairs) evaluates the same expressions and
 * adds a document's terms in the same order, rarest term first and equals in query order. Scores are therefore equal to
 * the last bit wherever they come from, and ties are real ties.
 */
export interface Bm25Settings {
  readonly k1: number;
  readonly b: number;
}

/** The length normalisation with the division by the average taken out: k1 (1 - b + b length/average) = base + slope * length. */
export interface LengthNorm {
  readonly base: number;
  readonly slope: number;
}

export function lengthNorm({ k1, b }: Bm25Settings, totalLength: number, size: number): LengthNorm {
  // A corpus of empty documents has no average; no document matches then, so the slope does not matter.
  return { base: k1 * (1 - b), slope: totalLength > 0 ? (k1 * b) / (totalLength / size) : 0 };
}

/** Positive for every 0 <= df <= size. */
export function inverseDocumentFrequency(size: number, df: number): number {
  return Math.log(1 + (size - df + 0.5) / (df + 0.5));
}

/** In (0, 1] for count >= 1. */
export function saturation(count: number, length: number, norm: LengthNorm): number {
  return count / (count + (norm.base + norm.slope * length));
}

/**
 * Spare room in every comparison of a bound with a score: far above what rounding can do, far below any difference that
 * matters. It costs a few needless looks and makes the bounds safe.
 */
export const SLACK = 1 + 1e-9;

/**
 * The most by which any saturation can grow when the norm changes, SLACK included: a longer average makes long
 * documents cheaper, count + base + slope * length shrinks by slope'/slope at most.
 */
export function stretchOf(before: LengthNorm, after: LengthNorm): number {
  return after.slope > 0 ? Math.max(1, before.slope / after.slope) * SLACK : SLACK;
}
