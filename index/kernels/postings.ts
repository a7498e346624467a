/**
 * The inverted index as flat arrays: term t's documents are documents[offsets[t] .. offsets[t+1]), ascending, with the
 * occurrences beside them. Terms are numbered in order of first appearance, so the same corpus gives the same arrays.
 */
export interface Postings {
  /** Documents, empty ones included. */
  readonly size: number;
  /** term -> number, in insertion order. */
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly offsets: Int32Array;
  readonly documents: Int32Array;
  /** Int32 only when some term occurs more than 65,535 times in one document. */
  readonly counts: Uint16Array | Int32Array;
  /** Tokens per document. */
  readonly lengths: Int32Array;
  readonly totalLength: number;
}

/** Documents that contain term t. */
export function documentFrequency(postings: Postings, term: number): number {
  return postings.offsets[term + 1] - postings.offsets[term];
}

/** Where document is in term's list, or -1. O(log documentFrequency). */
export function findPosting(postings: Postings, term: number, document: number): number {
  const documents = postings.documents;
  let low = postings.offsets[term];
  let high = postings.offsets[term + 1] - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = documents[middle];
    if (found === document) return middle;
    if (found < document) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
