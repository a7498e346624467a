import { documentText } from '../../../data/mod.ts';
import { dot } from '../../../kernels/vector.ts';
import { createAnalyzer } from '../../../text/mod.ts';
import type { Document, Query } from '../../../types.ts';
import { type AnalysedDocument, type AnalysedQuery, FEATURES, featuresInto, LEAD } from './feature-vector.ts';
import { type FirstStage, type QueryHead, queryHead, standardised } from './first-stage.ts';
import type { FeatureSources } from './model.ts';
import { idf, type TermStatistics } from './term-statistics.ts';

/** Feature values of one query with some documents. */
export interface PairRows {
  /** documents x FEATURES.length. */
  readonly x: Float64Array;
  /** Whether the index holds the document, so that INDEX_FEATURES are there. */
  readonly indexed: readonly boolean[];
}

export type PairFeatures = (query: Query, documents: readonly Document[]) => Promise<PairRows>;

/** Documents kept analysed; about 1.5 KB each at 100 words. */
const REMEMBERED_DOCUMENTS = 10_000;
/** Queries kept analysed: a selection asks for its documents one by one. */
const REMEMBERED_QUERIES = 64;

interface KnownDocument {
  readonly text: string;
  readonly document: AnalysedDocument;
  /** The index holds this very document: same id, same original. */
  readonly indexed: boolean;
}

interface KnownQuery {
  readonly query: AnalysedQuery;
  readonly head?: QueryHead;
}

/**
 * Turns texts into features. Remembers documents, which come back from query to query, and the last queries. Without a
 * first stage every document counts as one that the index does not hold.
 */
export function createPairFeatures(sources: FeatureSources, firstStage?: FirstStage): PairFeatures {
  const { statistics, indexStatistics, lsa, background, documentText: mode } = sources;
  const analyzer = createAnalyzer(sources.analyzer);
  const width = lsa.dimensions;
  const lengths = { original: statistics.averageLength, index: indexStatistics?.averageLength ?? 1 };
  const documentsKnown = new Map<string, KnownDocument>();
  const queriesKnown = new Map<string, KnownQuery>();

  const analyseDocument = (document: Document, text: string, vector: Float32Array): KnownDocument => {
    const terms = analyzer.analyze(text);
    const titled = mode === 'title+text' && document.title !== '';
    const leadLength = titled ? analyzer.analyze(document.title).length : Math.min(LEAD, terms.length);
    const position = firstStage?.corpus.positionOf(document.id);
    const indexed = position !== undefined && documentText(firstStage!.corpus.original(position), mode) === text;
    const indexTerms =
      indexed && indexStatistics !== undefined ? analyzer.analyze(firstStage!.corpus.indexText(position)) : undefined;
    return { text, indexed, document: { terms, leadLength, vector, indexTerms } };
  };

  const analyseQuery = async (text: string): Promise<AnalysedQuery> => {
    const sequence = analyzer.analyze(text);
    const terms = [...new Set(sequence)];
    const place = new Map(terms.map((term, t) => [term, t]));
    const pairs = new Set<number>();
    for (let i = 1; i < sequence.length; i++) {
      if (sequence[i] !== sequence[i - 1])
        pairs.add(place.get(sequence[i - 1])! * terms.length + place.get(sequence[i])!);
    }
    const vector = new Float32Array((await lsa.embed([text], 'query')).data);
    return {
      terms,
      place,
      ...termWeights(terms, statistics),
      index: indexStatistics === undefined ? undefined : termWeights(terms, indexStatistics),
      pairs,
      vector,
      ...cosineSpread(vector, background, width),
    };
  };

  const lookUpQuery = async (query: Query): Promise<KnownQuery> => {
    const earlier = queriesKnown.get(query.text);
    if (earlier !== undefined) return earlier;
    const known = {
      query: await analyseQuery(query.text),
      head: firstStage === undefined ? undefined : await queryHead(firstStage.index, query),
    };
    remember(queriesKnown, query.text, known, REMEMBERED_QUERIES);
    return known;
  };

  const lookUpDocuments = async (documents: readonly Document[]): Promise<KnownDocument[]> => {
    const texts = documents.map((document) => documentText(document, mode));
    const found = documents.map(({ id }, i) => {
      const entry = documentsKnown.get(id);
      return entry?.text === texts[i] ? entry : undefined;
    });
    const missing = documents.flatMap((_, i) => (found[i] === undefined ? [i] : []));
    const { data } = await lsa.embed(
      missing.map((i) => texts[i]),
      'document',
    );
    missing.forEach((i, row) => {
      const vector = new Float32Array(data.subarray(row * width, (row + 1) * width));
      const known = analyseDocument(documents[i], texts[i], vector);
      found[i] = known;
      remember(documentsKnown, documents[i].id, known, REMEMBERED_DOCUMENTS);
    });
    return found as KnownDocument[];
  };

  return async (query, documents) => {
    const { query: analysed, head } = await lookUpQuery(query);
    const known = await lookUpDocuments(documents);
    const held = documents.flatMap(({ id }, i) => (known[i].indexed ? [id] : []));
    const similarities = held.length === 0 ? [] : (await firstStage!.index.similarities([query], held)).data;
    const x = new Float64Array(documents.length * FEATURES.length);
    let next = 0;
    known.forEach(({ document, indexed }, row) => {
      const score = indexed ? standardised(head, similarities[next++]) : 0;
      featuresInto(analysed, document, score, lengths, x, row * FEATURES.length);
    });
    return { x, indexed: known.map(({ indexed }) => indexed) };
  };
}

function termWeights(terms: readonly string[], statistics: TermStatistics): { idf: Float64Array; totalIdf: number } {
  const weights = Float64Array.from(terms, (term) => idf(statistics, term));
  return { idf: weights, totalIdf: weights.reduce((sum, weight) => sum + weight, 0) };
}

/** Adds to a bounded memory; the oldest entry goes first. */
function remember<K, V>(memory: Map<K, V>, key: K, value: V, limit: number): void {
  if (memory.size >= limit && !memory.has(key)) memory.delete(memory.keys().next().value!);
  memory.set(key, value);
}

/** Mean and deviation of a query's cosine over the background; 0 and 1 without one. */
function cosineSpread(
  vector: Float32Array,
  background: Float32Array,
  width: number,
): { cosineMean: number; cosineDeviation: number } {
  const count = width === 0 ? 0 : background.length / width;
  if (count === 0) return { cosineMean: 0, cosineDeviation: 1 };
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < count; i++) {
    const cosine = dot(background, i * width, vector, 0, width);
    sum += cosine;
    squares += cosine * cosine;
  }
  const cosineMean = sum / count;
  const variance = squares / count - cosineMean * cosineMean;
  return { cosineMean, cosineDeviation: variance > 1e-12 ? Math.sqrt(variance) : 1 };
}
