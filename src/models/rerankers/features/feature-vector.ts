/**
 * What the scorer sees of one query and one document: numbers that depend on the pair and on collection statistics, never
 * on the other candidates, so that a score is the same in whatever company it is asked for.
 */

/** One side, analysed. */
export interface AnalysedDocument {
  readonly terms: readonly string[];
  /** How many of the first terms are its title; of a document without one, its first LEAD terms stand in. */
  readonly leadLength: number;
  /** Unit, or zeros. */
  readonly vector: Float32Array;
}

export interface AnalysedQuery {
  /** Distinct terms in order of first appearance. */
  readonly terms: readonly string[];
  readonly place: ReadonlyMap<string, number>;
  readonly idf: Float64Array;
  readonly totalIdf: number;
  /** Pairs of neighbouring query terms as place * terms.length + place. */
  readonly pairs: ReadonlySet<number>;
  readonly vector: Float32Array;
  /** Mean and deviation of its cosine over a sample of the collection. */
  readonly cosineMean: number;
  readonly cosineDeviation: number;
}

export const FEATURES = [
  'bm25',
  'idfCoverage',
  'rarestCoverage',
  'leadCoverage',
  'pairs',
  'nearness',
  'cosine',
  'cosineStandardised',
  'documentLength',
  'queryLength',
] as const;

/** Terms that stand in for a title. */
export const LEAD = 15;
const K1 = 1.2;
const B = 0.75;

/** Writes FEATURES.length values at `at`. */
export function featuresInto(
  query: AnalysedQuery,
  document: AnalysedDocument,
  averageLength: number,
  out: Float64Array,
  at: number,
): void {
  const places = queryPlaces(query, document.terms);
  const matched = countMatches(query, places, document.leadLength);
  const norm = K1 * (1 - B + (B * document.terms.length) / averageLength);

  let bm25 = 0;
  let covered = 0;
  let distinct = 0;
  let rarest = 0;
  let rarestMatched = 0;
  let lead = 0;
  for (let t = 0; t < query.terms.length; t++) {
    const weight = query.idf[t];
    rarest = Math.max(rarest, weight);
    if (matched.inLead[t] > 0) lead += weight;
    const tf = matched.frequencies[t];
    if (tf === 0) continue;
    bm25 += (weight * tf * (K1 + 1)) / (tf + norm);
    covered += weight;
    distinct++;
    rarestMatched = Math.max(rarestMatched, weight);
  }
  let cosine = 0;
  for (let j = 0; j < query.vector.length; j++) cosine += query.vector[j] * document.vector[j];

  const total = query.totalIdf || 1;
  const values: Record<(typeof FEATURES)[number], number> = {
    bm25: Math.log1p(bm25),
    idfCoverage: covered / total,
    rarestCoverage: rarest === 0 ? 0 : rarestMatched / rarest,
    leadCoverage: lead / total,
    pairs: pairShare(query, places),
    nearness: nearness(places, distinct, query.terms.length),
    cosine,
    cosineStandardised: (cosine - query.cosineMean) / query.cosineDeviation,
    documentLength: Math.log1p(document.terms.length),
    queryLength: Math.log1p(query.terms.length),
  };
  for (let f = 0; f < FEATURES.length; f++) out[at + f] = values[FEATURES[f]];
}

/** Per document term its place in the query, or -1. */
function queryPlaces(query: AnalysedQuery, terms: readonly string[]): Int32Array {
  const places = new Int32Array(terms.length);
  for (let i = 0; i < terms.length; i++) places[i] = query.place.get(terms[i]) ?? -1;
  return places;
}

function countMatches(
  query: AnalysedQuery,
  places: Int32Array,
  leadLength: number,
): { frequencies: Int32Array; inLead: Int32Array } {
  const frequencies = new Int32Array(query.terms.length);
  const inLead = new Int32Array(query.terms.length);
  for (let i = 0; i < places.length; i++) {
    if (places[i] < 0) continue;
    frequencies[places[i]]++;
    if (i < leadLength) inLead[places[i]]++;
  }
  return { frequencies, inLead };
}

/** Share of the query's neighbouring pairs that are neighbours in the document too, in that order. */
function pairShare(query: AnalysedQuery, places: Int32Array): number {
  if (query.pairs.size === 0) return 0;
  const found = new Set<number>();
  for (let i = 1; i < places.length; i++) {
    if (places[i] < 0 || places[i - 1] < 0) continue;
    const pair = places[i - 1] * query.terms.length + places[i];
    if (query.pairs.has(pair)) found.add(pair);
  }
  return found.size / query.pairs.size;
}

/** 1 when the matched terms stand side by side, towards 0 as the shortest stretch that holds them all grows. */
function nearness(places: Int32Array, distinct: number, queryTerms: number): number {
  if (distinct < 2) return 0;
  const inside = new Int32Array(queryTerms);
  let held = 0;
  let start = 0;
  let shortest = places.length;
  for (let end = 0; end < places.length; end++) {
    if (places[end] < 0) continue;
    if (inside[places[end]]++ === 0) held++;
    while (held === distinct) {
      shortest = Math.min(shortest, end - start + 1);
      if (places[start] >= 0 && --inside[places[start]] === 0) held--;
      start++;
    }
  }
  return distinct / shortest;
}
