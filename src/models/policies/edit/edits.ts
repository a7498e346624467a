/** Candidate edits of one document with their feature vectors, packed. */
import type { Operation } from './operations.ts';

export interface Edit {
  readonly operation: Operation;
  /** The word or words that it adds. */
  readonly text: string;
}

/** Features of edit e: indexes and values at [offsets[e], offsets[e + 1]). */
export interface EditSet {
  readonly edits: readonly Edit[];
  readonly offsets: Int32Array;
  readonly indexes: Uint16Array;
  readonly values: Float32Array;
}

/** The rewrite: the document as it is, then on a line of their own the words of the kept edits, in candidate order. */
export function applyEdits(text: string, edits: readonly Edit[], kept: ArrayLike<number>): string {
  const words: string[] = [];
  for (let e = 0; e < edits.length; e++) if (kept[e] === 1) words.push(edits[e].text);
  return words.length === 0 ? text : `${text}\n${words.join(' ')}`;
}

/** w . features of every edit. */
export function logits(set: EditSet, weights: Float64Array): Float64Array {
  const out = new Float64Array(set.edits.length);
  for (let e = 0; e < out.length; e++) {
    let sum = 0;
    for (let i = set.offsets[e]; i < set.offsets[e + 1]; i++) sum += weights[set.indexes[i]] * set.values[i];
    out[e] = sum;
  }
  return out;
}
