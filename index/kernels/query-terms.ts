import { inverseDocumentFrequency } from './bm25.ts';
import { documentFrequency, type Postings } from './postings.ts';

/** A query's distinct terms in order of first appearance; below, 'slot' i is the i-th of them. */
export interface QueryTerms {
  readonly size: number;
  readonly texts: readonly string[];
  /** Number in the vocabulary; -1 when no document has the term (a replacement text still may). */
  readonly terms: Int32Array;
  /** Occurrences in the query. */
  readonly counts: Int32Array;
  /** Documents that have the term now. */
  readonly frequencies: Int32Array;
}

export function queryTerms(postings: Postings, tokens: readonly string[]): QueryTerms {
  const byText = new Map<string, number>();
  for (const token of tokens) byText.set(token, (byText.get(token) ?? 0) + 1);
  const texts = [...byText.keys()];
  const terms = Int32Array.from(texts, (text) => postings.vocabulary.get(text) ?? -1);
  return {
    size: texts.length,
    texts,
    terms,
    counts: Int32Array.from(byText.values()),
    frequencies: terms.map((term) => (term < 0 ? 0 : documentFrequency(postings, term))),
  };
}

/** How a query scores under some statistics. */
export interface Weights {
  /** Slots rarest term first, equals in query order: the order in which scores are added. */
  readonly order: Int32Array;
  /** weight[slot] = occurrences in the query * idf. */
  readonly weight: Float64Array;
}

export function emptyWeights(slots: number): Weights {
  return { order: new Int32Array(slots), weight: new Float64Array(slots) };
}

/** Fills `into` for documents frequencies[slot] (maybe those after a swap) in a corpus of `size`. */
export function weigh(query: QueryTerms, frequencies: Int32Array, size: number, into: Weights): Weights {
  const { order, weight } = into;
  for (let slot = 0; slot < query.size; slot++) {
    weight[slot] = query.counts[slot] * inverseDocumentFrequency(size, frequencies[slot]);
    order[slot] = slot;
  }
  if (query.size > 32) return { order: order.sort((a, b) => frequencies[a] - frequencies[b] || a - b), weight };
  for (let i = 1; i < query.size; i++) {
    const slot = order[i];
    let at = i;
    for (; at > 0 && frequencies[order[at - 1]] > frequencies[slot]; at--) order[at] = order[at - 1];
    order[at] = slot;
  }
  return into;
}
