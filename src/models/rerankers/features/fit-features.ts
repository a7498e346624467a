import { type DocumentText, documentText } from '../../../data/mod.ts';
import { createRng, deriveSeed, shuffle } from '../../../kernels/rng.ts';
import type { Embedder, RetrievalIndex } from '../../../ports.ts';
import { type AnalyzerName, createAnalyzer } from '../../../text/mod.ts';
import type { Corpus, Qrels, Query } from '../../../types.ts';
import type { Texts } from '../../embedders/mod.ts';
import { createPairFeatures, type PairFeatures } from './analyse.ts';
import { type Candidates, crossValidate, fitScorer, fusionScorer, judge, textsOnly, withScale } from './fit-scorer.ts';
import type { FeatureSources, FeaturesModel } from './model.ts';
import { termStatistics } from './term-statistics.ts';

export interface FitFeaturesInput {
  readonly corpus: Corpus;
  readonly documentText?: DocumentText;
  /** Training queries, never test queries. */
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  /** The first stage over this corpus: its candidates are what there will be to rerank. */
  readonly index: RetrievalIndex;
  /** Fitted on the originals. */
  readonly lsa: Embedder;
  readonly analyzer?: AnalyzerName;
  readonly seed: number;
}

/** Fewer labelled queries than this do not carry a regression: fusion instead. */
const FEWEST_QUERIES = 20;
/** More add nothing to so few coefficients. */
const MOST_QUERIES = 500;
/** Candidates per query. All of the first NEAR are used, of the rest one in SPARSE, standing for SPARSE. */
const DEPTH = 200;
const NEAR = 50;
const SPARSE = 3;
const BACKGROUND = 256;
const PSEUDO_QUERIES = 50;

/**
 * Fits the embedded scorer: with at least 20 labelled queries a ridge logistic regression on judged relevant documents
 * against other candidates of the first stage, weighted back to their true share so that a score is a probability;
 * with fewer, standardised scores in equal parts: first stage and LSA, and BM25 where the first stage is not lexical.
 */
export async function fitFeatures(input: FitFeaturesInput): Promise<FeaturesModel> {
  const { corpus, index, queries, qrels, seed } = input;
  const sources = await prepareSources(input);
  const pairFeatures = createPairFeatures(sources, { index, corpus });

  const labelled = queries.filter(({ id }) => hasRelevant(qrels, id, corpus));
  const chosen = shuffle([...labelled], createRng(deriveSeed(seed, 'features'))).slice(0, MOST_QUERIES);
  const groups: Candidates[] = [];
  for (const query of chosen) groups.push(await candidatesOf(input, query, pairFeatures));
  const usable = groups.filter(({ y }) => y.includes(1) && y.includes(0));
  if (usable.length >= FEWEST_QUERIES) {
    const foreign = usable.map(textsOnly);
    const foreignScorer = withScale(fitScorer(foreign), foreign);
    const scorer = withScale(fitScorer(usable), usable);
    return { ...sources, scorer, foreignScorer, evidence: crossValidate(usable) };
  }

  const unlabelled = groups.length > 0 ? groups : await pseudoCandidates(input, pairFeatures);
  const isLexical = index.embeddings === undefined;
  const fused = isLexical ? (['firstStage', 'cosine'] as const) : (['firstStage', 'cosine', 'bm25'] as const);
  const foreign = unlabelled.map(textsOnly);
  const scorer = withScale(fusionScorer(unlabelled, fused), unlabelled);
  const foreignScorer = withScale(fusionScorer(foreign, ['bm25', 'cosine']), foreign);
  return { ...sources, scorer, foreignScorer, evidence: judge(usable, () => scorer) };
}

async function prepareSources(input: FitFeaturesInput): Promise<FeatureSources> {
  const { corpus, lsa, seed, analyzer: name = 'english', documentText: mode = 'title+text' } = input;
  const analyzer = createAnalyzer(name);
  const originals = originalTexts(input);
  const indexTexts: Texts = { length: corpus.size, at: (position) => corpus.indexText(position) };
  let rewritten = false;
  for (let i = 0; i < corpus.size && !rewritten; i++) rewritten = indexTexts.at(i) !== originals.at(i);
  return {
    analyzer: name,
    documentText: mode,
    statistics: termStatistics(originals, analyzer),
    indexStatistics: rewritten ? termStatistics(indexTexts, analyzer) : undefined,
    lsa,
    background: await sampleVectors(originals, lsa, seed),
  };
}

function originalTexts({ corpus, documentText: mode }: FitFeaturesInput): Texts {
  return { length: corpus.size, at: (position) => documentText(corpus.original(position), mode) };
}

async function candidatesOf(
  { corpus, qrels, index, seed }: FitFeaturesInput,
  query: Query,
  pairFeatures: PairFeatures,
): Promise<Candidates> {
  const rng = createRng(deriveSeed(seed, 'candidates', query.id));
  const judged = qrels.get(query.id);
  const [{ ids }] = await index.search([query], DEPTH);
  const rows = ids.flatMap((id, rank) => {
    const position = corpus.positionOf(id);
    if (position === undefined) return [];
    const y = (judged?.get(id) ?? 0) > 0 ? 1 : 0;
    const kept = y === 1 || rank < NEAR || rng.int(SPARSE) === 0;
    return kept ? [{ position, y, rank, weight: y === 1 || rank < NEAR ? 1 : SPARSE }] : [];
  });
  const { x } = await pairFeatures(
    query,
    rows.map(({ position }) => corpus.original(position)),
  );
  return {
    x,
    y: Float64Array.from(rows, ({ y }) => y),
    weights: Float64Array.from(rows, ({ weight }) => weight),
    ranks: Float64Array.from(rows, ({ rank }) => rank),
  };
}

/** Without queries, the first words of sampled documents ask in their place: the spread of scores is all that is needed. */
async function pseudoCandidates(input: FitFeaturesInput, pairFeatures: PairFeatures): Promise<Candidates[]> {
  const texts = originalTexts(input);
  const groups: Candidates[] = [];
  for (const position of samplePositions(texts.length, PSEUDO_QUERIES, deriveSeed(input.seed, 'pseudo-queries'))) {
    const text = (texts.at(position) ?? '').slice(0, 200).split(/\s+/).slice(0, 8).join(' ');
    groups.push(await candidatesOf(input, { id: `document ${position}`, text }, pairFeatures));
  }
  return groups;
}

async function sampleVectors(texts: Texts, lsa: Embedder, seed: number): Promise<Float32Array> {
  const positions = samplePositions(texts.length, BACKGROUND, deriveSeed(seed, 'background'));
  const { data } = await lsa.embed(
    positions.map((position) => texts.at(position) ?? ''),
    'document',
  );
  return new Float32Array(data);
}

function samplePositions(count: number, wanted: number, seed: number): number[] {
  const rng = createRng(seed);
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, wanted)) chosen.add(count <= wanted ? chosen.size : rng.int(count));
  return [...chosen];
}

function hasRelevant(qrels: Qrels, queryId: string, corpus: Corpus): boolean {
  for (const [id, grade] of qrels.get(queryId) ?? []) {
    if (grade > 0 && corpus.positionOf(id) !== undefined) return true;
  }
  return false;
}
