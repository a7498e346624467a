import { documentText } from '../../../data/mod.ts';
import { dot } from '../../../kernels/vector.ts';
import { createAnalyzer } from '../../../text/mod.ts';
import type { Document } from '../../../types.ts';
import { type AnalysedDocument, type AnalysedQuery, LEAD } from './feature-vector.ts';
import type { FeaturesModel } from './model.ts';
import { idf } from './term-statistics.ts';

export interface PairAnalysis {
  query(text: string): Promise<AnalysedQuery>;
  documents(documents: readonly Document[]): Promise<AnalysedDocument[]>;
}

/** Documents kept analysed; about 1.5 KB each at 100 words. */
const REMEMBERED_DOCUMENTS = 10_000;
/** Queries kept analysed: a selection asks for its documents one by one. */
const REMEMBERED_QUERIES = 64;

/** Turns texts into what the features are computed of. Remembers documents, which come back from query to query. */
export function createPairAnalysis(
  model: Pick<FeaturesModel, 'analyzer' | 'documentText' | 'statistics' | 'lsa' | 'background'>,
): PairAnalysis {
  const { statistics, lsa, background } = model;
  const analyzer = createAnalyzer(model.analyzer);
  const width = lsa.dimensions;
  const known = new Map<string, { readonly text: string; readonly document: AnalysedDocument }>();
  const queries = new Map<string, AnalysedQuery>();

  const analyse = (document: Document, text: string, vector: Float32Array): AnalysedDocument => {
    const terms = analyzer.analyze(text);
    const titled = model.documentText === 'title+text' && document.title !== '';
    const leadLength = titled ? analyzer.analyze(document.title).length : Math.min(LEAD, terms.length);
    return { terms, leadLength, vector };
  };

  const analyseQuery = async (text: string): Promise<AnalysedQuery> => {
    const sequence = analyzer.analyze(text);
    const terms = [...new Set(sequence)];
    const place = new Map(terms.map((term, t) => [term, t]));
    const weights = Float64Array.from(terms, (term) => idf(statistics, term));
    const pairs = new Set<number>();
    for (let i = 1; i < sequence.length; i++) {
      if (sequence[i] !== sequence[i - 1])
        pairs.add(place.get(sequence[i - 1])! * terms.length + place.get(sequence[i])!);
    }
    const vector = new Float32Array((await lsa.embed([text], 'query')).data);
    return {
      terms,
      place,
      idf: weights,
      totalIdf: weights.reduce((sum, weight) => sum + weight, 0),
      pairs,
      vector,
      ...cosineSpread(vector, background, width),
    };
  };

  return {
    async query(text) {
      const earlier = queries.get(text);
      if (earlier !== undefined) return earlier;
      const analysed = await analyseQuery(text);
      remember(queries, text, analysed, REMEMBERED_QUERIES);
      return analysed;
    },

    async documents(documents) {
      const texts = documents.map((document) => documentText(document, model.documentText));
      const found = documents.map(({ id }, i) => {
        const entry = known.get(id);
        return entry?.text === texts[i] ? entry.document : undefined;
      });
      const missing = documents.flatMap((_, i) => (found[i] === undefined ? [i] : []));
      const { data } = await lsa.embed(
        missing.map((i) => texts[i]),
        'document',
      );
      missing.forEach((i, row) => {
        const document = analyse(
          documents[i],
          texts[i],
          new Float32Array(data.subarray(row * width, (row + 1) * width)),
        );
        found[i] = document;
        remember(known, documents[i].id, { text: texts[i], document }, REMEMBERED_DOCUMENTS);
      });
      return found as AnalysedDocument[];
    },
  };
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
