/** The embedded reranker as `docopt index` fits it and `morph` opens it, in one folder of the index artefact. */
import { type Dataset, type DocumentText, documentText } from '../../data/mod.ts';
import type { ArtefactReader, ArtefactWriter, Embedder, Reranker, RetrievalIndex } from '../../ports.ts';
import type { AnalyzerName } from '../../text/mod.ts';
import type { Corpus } from '../../types.ts';
import { fitLsa } from '../embedders/mod.ts';
import { createFeaturesReranker } from './features/features.ts';
import { openFeatures, saveFeatures } from './features/features-file.ts';
import { fitFeatures } from './features/fit-features.ts';
import { describeFeatures } from './features/model.ts';

export interface FitEmbeddedInput {
  readonly corpus: Corpus;
  readonly documentText?: DocumentText;
  /** The first stage that it will rerank. */
  readonly index: RetrievalIndex;
  /** Judgements, and the ids of the queries that may be fitted on. */
  readonly labels?: { readonly dataset: Pick<Dataset, 'queries' | 'qrels'>; readonly train: readonly string[] };
  readonly analyzer?: AnalyzerName;
  readonly seed: number;
  readonly artefact: ArtefactWriter;
  /** The LSA model of the same artefact; without one the scorer fits its own and brings it along. */
  readonly embedder?: Embedder;
}

/** Fits, saves, and says in one line what came of it. */
export async function fitEmbeddedReranker(
  input: FitEmbeddedInput,
): Promise<{ description: string; reranker: Reranker }> {
  const { corpus, documentText: mode, index, labels, seed } = input;
  const texts = { length: corpus.size, at: (position: number) => documentText(corpus.original(position), mode) };
  const train = new Set(labels?.train);
  const model = await fitFeatures({
    corpus,
    documentText: mode,
    queries: labels?.dataset.queries.filter(({ id }) => train.has(id)) ?? [],
    qrels: labels?.dataset.qrels ?? new Map(),
    searchTop: async (query, n) => (await index.search([query], n))[0].ids,
    lsa: input.embedder ?? fitLsa(texts, { seed }),
    analyzer: input.analyzer,
    seed,
  });
  await saveFeatures(model, input.artefact, input.embedder === undefined);
  return { description: describeFeatures(model), reranker: createFeaturesReranker(model) };
}

/** `embedder`: the LSA model of the same artefact, where there is one. */
export async function openEmbeddedReranker(artefact: ArtefactReader, embedder?: Embedder): Promise<Reranker> {
  return createFeaturesReranker(await openFeatures(artefact, embedder));
}
