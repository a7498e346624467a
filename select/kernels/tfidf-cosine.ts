/**
 * TF-IDF over the texts of a pool, and the cosine of its rows as a kernel. Weight of a term in a text: (1 + ln tf) times
 * ln(1 + N / df), with N and df of the pool's documents; rows are scaled to length 1. Of the query only terms that occur
 * in a document count, since no other can meet one.
 */
import type { TermRows } from '../../src/types.ts';
import type { PoolKernel } from './pool-kernel.ts';
import { QUERY } from './posterior.ts';

/** Terms of each document as an analyzer gives them (duplicates kept), and of the query. */
export function tfidfRows(documents: readonly (readonly string[])[], query: readonly string[]): TermRows {
  const numbers = new Map<string, number>();
  const counted = documents.map((terms) => {
    const counts = new Map<number, number>();
    for (const term of terms) {
      let number = numbers.get(term);
      if (number === undefined) numbers.set(term, (number = numbers.size));
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    return counts;
  });
  const asked = new Map<number, number>();
  for (const term of query) {
    const number = numbers.get(term);
    if (number !== undefined) asked.set(number, (asked.get(number) ?? 0) + 1);
  }
  const width = numbers.size;
  const frequency = new Int32Array(width);
  for (const counts of counted) for (const term of counts.keys()) frequency[term]++;
  const idf = Float64Array.from(frequency, (df) => Math.log(1 + documents.length / df));

  const all = [...counted, asked];
  const offsets = new Int32Array(all.length + 1);
  for (let r = 0; r < all.length; r++) offsets[r + 1] = offsets[r] + all[r].size;
  const terms = new Int32Array(offsets[all.length]);
  const weights = new Float64Array(terms.length);
  all.forEach((counts, r) => {
    const from = offsets[r];
    const row = terms.subarray(from, offsets[r + 1]);
    row.set([...counts.keys()]);
    row.sort();
    let square = 0;
    for (let i = 0; i < row.length; i++) {
      const weight = (1 + Math.log(counts.get(row[i])!)) * idf[row[i]];
      weights[from + i] = weight;
      square += weight * weight;
    }
    const norm = Math.sqrt(square);
    for (let i = 0; i < row.length; i++) weights[from + i] /= norm;
  });
  return { rows: all.length, width, offsets, terms, weights };
}

/** K(a,b) = cosine of the TF-IDF rows, K(a,a) = 1 (also for a document without terms, which is like no other). */
export function createTfidfKernel(rows: TermRows): PoolKernel {
  const { offsets, terms, weights, width } = rows;
  const size = rows.rows - 1;
  const spread = new Float64Array(width);
  return {
    row(position, out) {
      const r = position === QUERY ? size : position;
      for (let i = offsets[r]; i < offsets[r + 1]; i++) spread[terms[i]] = weights[i];
      for (let d = 0; d < size; d++) {
        let sum = 0;
        for (let i = offsets[d]; i < offsets[d + 1]; i++) sum += weights[i] * spread[terms[i]];
        out[d] = sum;
      }
      for (let i = offsets[r]; i < offsets[r + 1]; i++) spread[terms[i]] = 0;
      if (position !== QUERY) out[position] = 1;
    },
    pair(a, b) {
      if (a === b) return 1;
      let sum = 0;
      let i = offsets[a];
      let j = offsets[b];
      while (i < offsets[a + 1] && j < offsets[b + 1]) {
        if (terms[i] === terms[j]) sum += weights[i++] * weights[j++];
        else if (terms[i] < terms[j]) i++;
        else j++;
      }
      return sum;
    },
    diagonal: () => 1,
  };
}
