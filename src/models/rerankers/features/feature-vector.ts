/**
 * What the scorer sees of one query and one document: numbers that depend on the pair and on collection statistics, never
 * on the other candidates, so that a score is the same in whatever company it is asked for.
 */

/** One side, analysed. */
export interface AnalysedDocument {
  /** Of the original. */
  readonly terms: readonly string[];
  /** How many of the first terms are its title; of a document without one, its first LEAD terms stand in. */
  readonly leadLength: number;
  /** Of the original; unit, or zeros. */
  readonly vector: Float32Array;
  /** Of the index text, where the corpus was rewritten; undefined for a document that the index does not hold. */
  readonly indexTerms?: readonly string[];
}

export interface AnalysedQuery {
  /** Distinct terms in order of first appearance. */
  readonly terms: readonly string[];
  readonly place: ReadonlyMap<string, number>;
  readonly idf: Float64Array;
  readonly totalIdf: number;
  /** The same over the index texts, where the corpus was rewritten. */
  readonly index?: { readonly idf: Float64Array; readonly totalIdf: number };
  /** Pairs of neighbouring query terms as place * terms.length + place. */
  readonly pairs: ReadonlySet<number>;
  readonly vector: Float32Array;
  /** Mean and deviation of its cosine over a sample of the collection. */
  readonly cosineMean: number;
  readonly cosineDeviation: number;
}

/** Mean lengths in terms, of the originals and of the index texts. */
export interface AverageLengths {
  readonly original: number;
  readonly index: number;
}

/** Of the pair of texts. */
export const TEXT_FEATURES = [
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

/** Of the index: zeros for a document that it does not hold. The first two are zeros too where nothing was rewritten. */
export const INDEX_FEATURES = ['indexBm25', 'indexCoverage', 'firstStage'] as const;

export const FEATURES = [...TEXT_FEATURES, ...INDEX_FEATURES] as const;

export type FeatureName = (typeof FEATURES)[number];

/** Terms that stand in for a title. */
export const LEAD = 15;
const K1 = 1.2;
const B = 0.75;

/** Writes FEATURES.length values at `at`. `firstStage`: its standardised score of the pair, 0 where there is none. */
export function featuresInto(
  query: AnalysedQuery,
  document: AnalysedDocument,
  firstStage: number,
  lengths: AverageLengths,
  out: Float64Array,
  at: number,
): void {
  const places = queryPlaces(query, document.terms);
  const overlap = overlapOf(query.idf, frequenciesOf(query, places), places.length, lengths.original);
  let lead = 0;
  frequenciesOf(query, places.subarray(0, document.leadLength)).forEach((tf, t) => {
    if (tf > 0) lead += query.idf[t];
  });
  let cosine = 0;
  for (let j = 0; j < query.vector.length; j++) cosine += query.vector[j] * document.vector[j];

  const indexed = indexOverlap(query, document, lengths.index);
  const values: Record<FeatureName, number> = {
    bm25: Math.log1p(overlap.bm25),
    idfCoverage: overlap.covered / (query.totalIdf || 1),
    rarestCoverage: overlap.rarestShare,
    leadCoverage: lead / (query.totalIdf || 1),
    pairs: pairShare(query, places),
    nearness: nearness(places, overlap.distinct, query.terms.length),
    cosine,
    cosineStandardised: (cosine - query.cosineMean) / query.cosineDeviation,
    documentLength: Math.log1p(document.terms.length),
    queryLength: Math.log1p(query.terms.length),
    indexBm25: indexed.bm25,
    indexCoverage: indexed.coverage,
    firstStage,
  };
  for (let f = 0; f < FEATURES.length; f++) out[at + f] = values[FEATURES[f]];
}

function indexOverlap(
  query: AnalysedQuery,
  { indexTerms }: AnalysedDocument,
  averageLength: number,
): { bm25: number; coverage: number } {
  if (query.index === undefined || indexTerms === undefined) return { bm25: 0, coverage: 0 };
  const { idf, totalIdf } = query.index;
  const frequencies = frequenciesOf(query, queryPlaces(query, indexTerms));
  const { bm25, covered } = overlapOf(idf, frequencies, indexTerms.length, averageLength);
  return { bm25: Math.log1p(bm25), coverage: covered / (totalIdf || 1) };
}

interface Overlap {
  readonly bm25: number;
  /** Sum of the idf of the terms that occur. */
  readonly covered: number;
  readonly distinct: number;
  /** The rarest term that occurs over the rarest of the query, by idf. */
  readonly rarestShare: number;
}

function overlapOf(idf: Float64Array, frequencies: Int32Array, length: number, averageLength: number): Overlap {
  const norm = K1 * (1 - B + (B * length) / averageLength);
  let bm25 = 0;
  let covered = 0;
  let distinct = 0;
  let rarest = 0;
  let rarestMatched = 0;
  for (let t = 0; t < idf.length; t++) {
    rarest = Math.max(rarest, idf[t]);
    const tf = frequencies[t];
    if (tf === 0) continue;
    bm25 += (idf[t] * tf * (K1 + 1)) / (tf + norm);
    covered += idf[t];
    distinct++;
    rarestMatched = Math.max(rarestMatched, idf[t]);
  }
  return { bm25, covered, distinct, rarestShare: rarest === 0 ? 0 : rarestMatched / rarest };
}

/** Per document term its place in the query, or -1. */
function queryPlaces(query: AnalysedQuery, terms: readonly string[]): Int32Array {
  const places = new Int32Array(terms.length);
  for (let i = 0; i < terms.length; i++) places[i] = query.place.get(terms[i]) ?? -1;
  return places;
}

/** How often each query term occurs at these places. */
function frequenciesOf(query: AnalysedQuery, places: Int32Array): Int32Array {
  const frequencies = new Int32Array(query.terms.length);
  for (const place of places) if (place >= 0) frequencies[place]++;
  return frequencies;
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
