import { DocOptError } from '../../src/errors.ts';
import type { Postings } from './postings.ts';

/**
 * Takes documents one at a time and inverts them at the end by counting sort. Holds about 6 bytes per distinct
 * (document, term) pair while it grows and 12 while it inverts; no text is kept.
 */
export interface PostingsBuilder {
  /** The next document's terms, duplicates kept. */
  add(terms: readonly string[]): void;
  /** The number of a term, a new one if it has none. */
  numberOf(term: string): number;
  /** The next document's terms by number; read at once, not kept. */
  addNumbers(terms: Int32Array): void;
  finish(): Postings;
}

/** Offsets are 32-bit. */
const MOST_POSTINGS = 2 ** 31 - 1;

export function createPostingsBuilder(): PostingsBuilder {
  const vocabulary = new Map<string, number>();
  let size = 0;
  let totalLength = 0;
  let lengths = new Int32Array(1024);
  let distinct = new Int32Array(1024);
  // Per term: the last document that had it, and where that pair is.
  let lastDocument = new Int32Array(1024).fill(-1);
  let lastPair = new Int32Array(1024);
  // Pairs in document order.
  let pairs = 0;
  let pairTerm = new Int32Array(4096);
  let pairCount: Uint16Array | Int32Array = new Uint16Array(4096);

  const numberOf = (text: string): number => {
    const known = vocabulary.get(text);
    if (known !== undefined) return known;
    const term = vocabulary.size;
    vocabulary.set(ownCopy(text), term);
    if (term >= lastDocument.length) {
      const old = lastDocument.length;
      lastDocument = grown(lastDocument).fill(-1, old);
      lastPair = grown(lastPair);
    }
    return term;
  };

  const addNumbers = (terms: Int32Array): void => {
    const document = size++;
    if (document >= lengths.length) {
      lengths = grown(lengths);
      distinct = grown(distinct);
    }
    const before = pairs;
    for (let i = 0; i < terms.length; i++) {
      const term = terms[i];
      if (lastDocument[term] === document) {
        const pair = lastPair[term];
        if (pairCount[pair] === 65535 && pairCount instanceof Uint16Array) pairCount = Int32Array.from(pairCount);
        pairCount[pair]++;
        continue;
      }
      if (pairs === pairTerm.length) {
        if (pairs >= MOST_POSTINGS) throw tooManyPostings();
        pairTerm = grown(pairTerm);
        pairCount = grown(pairCount);
      }
      lastDocument[term] = document;
      lastPair[term] = pairs;
      pairTerm[pairs] = term;
      pairCount[pairs] = 1;
      pairs++;
    }
    lengths[document] = terms.length;
    distinct[document] = pairs - before;
    totalLength += terms.length;
  };

  return {
    add: (terms) => addNumbers(Int32Array.from(terms, numberOf)),
    numberOf,
    addNumbers,

    finish() {
      const offsets = new Int32Array(vocabulary.size + 1);
      for (let p = 0; p < pairs; p++) offsets[pairTerm[p] + 1]++;
      for (let t = 0; t < vocabulary.size; t++) offsets[t + 1] += offsets[t];
      const next = offsets.slice(0, vocabulary.size);
      const documents = new Int32Array(pairs);
      const counts = pairCount instanceof Int32Array ? new Int32Array(pairs) : new Uint16Array(pairs);
      for (let d = 0, p = 0; d < size; d++) {
        for (const end = p + distinct[d]; p < end; p++) {
          const at = next[pairTerm[p]]++;
          documents[at] = d;
          counts[at] = pairCount[p];
        }
      }
      return { size, vocabulary, offsets, documents, counts, lengths: lengths.slice(0, size), totalLength };
    },
  };
}

function grown<T extends Int32Array | Uint16Array>(array: T): T {
  const bigger = new (array.constructor as new (length: number) => T)(Math.min(array.length * 2, MOST_POSTINGS));
  bigger.set(array);
  return bigger;
}

/**
 * A string cut out of a text keeps the whole text alive in V8; a vocabulary of such strings would hold the corpus in
 * memory. Short ones are copied anyway.
 */
function ownCopy(term: string): string {
  return term.length < 13 ? term : (JSON.parse(JSON.stringify(term)) as string);
}

function tooManyPostings(): DocOptError {
  return new DocOptError('DATA', 'the corpus has more than 2^31 distinct (document, term) pairs.', {
    hint: 'Index it in parts.',
  });
}
