import type { Analyzer } from '../../text/mod.ts';

/** Texts addressed by position; an array of strings is one. */
export interface Texts {
  readonly length: number;
  at(position: number): string | undefined;
}

/** How often each term occurs in each text: compressed sparse rows, term ids ascending within a row. */
export interface TermCounts {
  readonly rows: number;
  readonly columns: number;
  readonly offsets: Float64Array;
  readonly indices: Int32Array;
  readonly frequencies: Int32Array;
  /** terms[column], in order of first appearance. */
  readonly terms: readonly string[];
  readonly documentFrequencies: Float64Array;
}

/** Counts the terms of the texts at `positions`, keeping the maxTerms terms of highest document frequency. */
export function countTerms(texts: Texts, positions: Int32Array, analyzer: Analyzer, maxTerms: number): TermCounts {
  const idOf = new Map<string, number>();
  const documentFrequency: number[] = [];
  const offsets = new Float64Array(positions.length + 1);
  let indices = new Int32Array(1024);
  let frequencies = new Int32Array(1024);
  let used = 0;

  for (let row = 0; row < positions.length; row++) {
    const counted = countIds(analyzer.analyze(texts.at(positions[row]) ?? ''), (term) => {
      let id = idOf.get(term);
      if (id === undefined) {
        id = idOf.size;
        idOf.set(term, id);
        documentFrequency.push(0);
      }
      return id;
    });
    if (used + counted.ids.length > indices.length) {
      indices = grow(indices, used + counted.ids.length);
      frequencies = grow(frequencies, used + counted.ids.length);
    }
    indices.set(counted.ids, used);
    frequencies.set(counted.counts, used);
    used += counted.ids.length;
    offsets[row + 1] = used;
    for (const id of counted.ids) documentFrequency[id]++;
  }

  const counts: TermCounts = {
    rows: positions.length,
    columns: idOf.size,
    offsets,
    indices: indices.subarray(0, used),
    frequencies: frequencies.subarray(0, used),
    terms: [...idOf.keys()],
    documentFrequencies: Float64Array.from(documentFrequency),
  };
  return idOf.size > maxTerms ? keepFrequent(counts, maxTerms) : counts;
}

/** Distinct ids ascending with their counts; the sorted order makes equal bags of words equal bit for bit downstream. */
export function countIds(
  terms: readonly string[],
  idOf: (term: string) => number | undefined,
): { ids: Int32Array; counts: Int32Array } {
  const ids = new Int32Array(terms.length);
  let known = 0;
  for (const term of terms) {
    const id = idOf(term);
    if (id !== undefined) ids[known++] = id;
  }
  const sorted = ids.subarray(0, known).sort();
  const counts = new Int32Array(known);
  let distinct = 0;
  for (let i = 0; i < known; i++) {
    if (i > 0 && sorted[i] === sorted[distinct - 1]) counts[distinct - 1]++;
    else {
      sorted[distinct] = sorted[i];
      counts[distinct++] = 1;
    }
  }
  return { ids: sorted.subarray(0, distinct), counts: counts.subarray(0, distinct) };
}

function keepFrequent(counts: TermCounts, maxTerms: number): TermCounts {
  const df = counts.documentFrequencies;
  const kept = Array.from(df, (_, id) => id)
    .sort((a, b) => df[b] - df[a] || a - b)
    .slice(0, maxTerms)
    .sort((a, b) => a - b);
  const newId = new Int32Array(counts.columns).fill(-1);
  kept.forEach((id, position) => {
    newId[id] = position;
  });

  const { indices, frequencies, offsets } = counts;
  const newOffsets = new Float64Array(offsets.length);
  let used = 0;
  for (let row = 0; row < counts.rows; row++) {
    for (let n = offsets[row]; n < offsets[row + 1]; n++) {
      const id = newId[indices[n]];
      if (id < 0) continue;
      indices[used] = id;
      frequencies[used++] = frequencies[n];
    }
    newOffsets[row + 1] = used;
  }
  return {
    rows: counts.rows,
    columns: kept.length,
    offsets: newOffsets,
    indices: indices.subarray(0, used),
    frequencies: frequencies.subarray(0, used),
    terms: kept.map((id) => counts.terms[id]),
    documentFrequencies: Float64Array.from(kept, (id) => df[id]),
  };
}

function grow(buffer: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(needed, buffer.length * 2));
  larger.set(buffer);
  return larger;
}
