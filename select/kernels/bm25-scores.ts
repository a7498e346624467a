/**
 * BM25 of a handful of documents by their own statistics, for pools that come without an index: Lucene's form,
 * idf = ln(1 + (N - df + .5) / (df + .5)), tf / (tf + k1 (1 - b + b length / average)). A term that a query repeats counts
 * as often as it says it.
 */
export function bm25Scores(
  documents: readonly (readonly string[])[],
  query: readonly string[],
  { k1 = 0.9, b = 0.4 }: { readonly k1?: number; readonly b?: number } = {},
): Float64Array {
  const asked = new Map<string, number>();
  for (const term of query) asked.set(term, (asked.get(term) ?? 0) + 1);
  const counts = documents.map((terms) => {
    const found = new Map<string, number>();
    for (const term of terms) if (asked.has(term)) found.set(term, (found.get(term) ?? 0) + 1);
    return found;
  });
  const frequency = new Map<string, number>();
  for (const found of counts) for (const term of found.keys()) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const scores = new Float64Array(documents.length);
  counts.forEach((found, d) => {
    const norm = k1 * (1 - b + (b * documents[d].length) / average);
    for (const [term, tf] of found) {
      const df = frequency.get(term)!;
      const idf = Math.log(1 + (documents.length - df + 0.5) / (df + 0.5));
      scores[d] += asked.get(term)! * idf * (tf / (tf + norm));
    }
  });
  return scores;
}
