/** The embedded reranker as `docopt index` fits it and `morph` opens it, in one folder of the index artefact. */
import { type Dataset, type DocumentText, documentText } from '../../data/mod.ts';
import type { ArtefactReader, ArtefactWriter, Embedder, Reranker, RetrievalIndex } from '../../ports.ts';
import type { AnalyzerName } from '../../text/mod.ts';
import type { Corpus } from '../../types.ts';
import { fitLsa } from '../embedders/mod.ts';
import { createFeaturesReranker } from './features/features.ts';
import { openFeatures, saveFeatures } from './features/features-file.ts';
import type { FirstStage } from './features/first-stage.ts';
import { fitFeatures } from './features/fit-features.ts';
import { describeFeatures, featureWarnings } from './features/model.ts';

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

export interface FittedEmbedded {
  /** One line: what came of it. */
  readonly description: string;
  readonly warnings: readonly string[];
  readonly reranker: Reranker;
}

/** Fits and saves. */
export async function fitEmbeddedReranker(input: FitEmbeddedInput): Promise<FittedEmbedded> {
  const { corpus, documentText: mode, index, labels, seed } = input;
  const texts = { length: corpus.size, at: (position: number) => documentText(corpus.original(position), mode) };
  const train = new Set(labels?.train);
  const model = await fitFeatures({
    corpus,
    documentText: mode,
    queries: labels?.dataset.queries.filter(({ id }) => train.has(id)) ?? [],
    qrels: labels?.dataset.qrels ?? new Map(),
    index,
    lsa: input.embedder ?? fitLsa(texts, { seed, analyzer: input.analyzer }),
    analyzer: input.analyzer,
    seed,
  });
  await saveFeatures(model, input.artefact, input.embedder === undefined);
  return {
    description: describeFeatures(model),
    warnings: featureWarnings(model),
    reranker: createFeaturesReranker(model, { index, corpus }),
  };
}

/** `firstStage`: the opened index of the same artefact. `embedder`: its LSA model, where there is one. */
export async function openEmbeddedReranker(
  artefact: ArtefactReader,
  firstStage?: FirstStage,
  embedder?: Embedder,
): Promise<Reranker> {
  return createFeaturesReranker(await openFeatures(artefact, embedder), firstStage);
}
