import { type DocumentText, documentText } from '../../../data/mod.ts';
import { fitLogistic } from '../../../kernels/logistic.ts';
import { createRng, deriveSeed, shuffle } from '../../../kernels/rng.ts';
import { areaUnderCurve } from '../../../kernels/stats.ts';
import type { Embedder } from '../../../ports.ts';
import { type AnalyzerName, createAnalyzer } from '../../../text/mod.ts';
import type { Corpus, Qrels, Query } from '../../../types.ts';
import type { Texts } from '../../embedders/mod.ts';
import { createPairAnalysis, type PairAnalysis } from './analyse.ts';
import { FEATURES, featuresInto } from './feature-vector.ts';
import type { FeatureScorer, FeaturesModel, FitEvidence } from './model.ts';
import { termStatistics } from './term-statistics.ts';

export interface FitFeaturesInput {
  readonly corpus: Corpus;
  readonly documentText?: DocumentText;
  /** Training queries, never test queries. */
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  /** Ids of the first stage's best n, best first: what there will be to rerank. */
  readonly searchTop: (query: Query, n: number) => Promise<readonly string[]>;
  /** Fitted on the originals. */
  readonly lsa: Embedder;
  readonly analyzer?: AnalyzerName;
  readonly seed: number;
}

/** Fewer labelled queries than this do not carry a regression: fusion instead. */
const FEWEST_QUERIES = 20;
/** More add nothing to ten coefficients. */
const MOST_QUERIES = 500;
/** Candidates per query. All of the first NEAR are used, of the rest one in SPARSE, standing for SPARSE. */
const DEPTH = 200;
const NEAR = 50;
const SPARSE = 3;
/** On standardised features; 20 to 80 measured alike on four collections. */
const RIDGE = 30;
const BACKGROUND = 256;
const PSEUDO_QUERIES = 50;
const FOLDS = 5;

/**
 * Fits the embedded scorer: with at least 20 labelled queries a ridge logistic regression on judged relevant documents
 * against other candidates of the first stage, weighted back to their true share so that a score is a probability;
 * with fewer, the standardised lexical and LSA scores in equal parts.
 */
export async function fitFeatures(input: FitFeaturesInput): Promise<FeaturesModel> {
  const { corpus, lsa, seed, analyzer = 'english', documentText: mode = 'title+text' } = input;
  const texts: Texts = { length: corpus.size, at: (position) => documentText(corpus.original(position), mode) };
  const statistics = termStatistics(texts, createAnalyzer(analyzer));
  const background = await sampleVectors(texts, lsa, seed);
  const base = { analyzer, documentText: mode, statistics, lsa, background };
  const analysis = createPairAnalysis(base);

  const labelled = input.queries.filter(({ id }) => hasRelevant(input.qrels, id, corpus));
  const chosen = shuffle([...labelled], createRng(deriveSeed(seed, 'features'))).slice(0, MOST_QUERIES);
  const groups: Candidates[] = [];
  for (const query of chosen) groups.push(await candidatesOf(input, query, analysis, statistics.averageLength));
  const usable = groups.filter(({ y }) => y.includes(1) && y.includes(0));
  if (usable.length >= FEWEST_QUERIES) {
    return { ...base, scorer: fitScorer(usable), evidence: crossValidate(usable) };
  }

  const unlabelled =
    groups.length > 0 ? groups : await pseudoCandidates(input, texts, analysis, statistics.averageLength);
  const evidence = { labelledQueries: usable.length, pairs: unlabelled.reduce((sum, { y }) => sum + y.length, 0) };
  return { ...base, scorer: fusionScorer(unlabelled), evidence };
}

/** The candidates of one query that are used, best first. */
interface Candidates {
  /** y.length x FEATURES.length. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly weights: Float64Array;
}

async function candidatesOf(
  { corpus, qrels, searchTop, seed }: FitFeaturesInput,
  query: Query,
  analysis: PairAnalysis,
  averageLength: number,
): Promise<Candidates> {
  const rng = createRng(deriveSeed(seed, 'candidates', query.id));
  const judged = qrels.get(query.id);
  const rows = (await searchTop(query, DEPTH)).flatMap((id, rank) => {
    const position = corpus.positionOf(id);
    if (position === undefined) return [];
    const y = (judged?.get(id) ?? 0) > 0 ? 1 : 0;
    const kept = y === 1 || rank < NEAR || rng.int(SPARSE) === 0;
    return kept ? [{ position, y, weight: y === 1 || rank < NEAR ? 1 : SPARSE }] : [];
  });
  const analysed = await analysis.query(query.text);
  const documents = await analysis.documents(rows.map(({ position }) => corpus.original(position)));
  const x = new Float64Array(rows.length * FEATURES.length);
  documents.forEach((document, row) => {
    featuresInto(analysed, document, averageLength, x, row * FEATURES.length);
  });
  return { x, y: Float64Array.from(rows, ({ y }) => y), weights: Float64Array.from(rows, ({ weight }) => weight) };
}

function fitScorer(groups: readonly Candidates[]): FeatureScorer {
  const columns = FEATURES.length;
  const { means, deviations } = spread(groups);
  const y = concatenate(groups.map((group) => group.y));
  const x = concatenate(groups.map((group) => group.x)).map(
    (value, i) => (value - means[i % columns]) / deviations[i % columns],
  );
  const beta = fitLogistic({ x, columns, y, weights: concatenate(groups.map((group) => group.weights)) }, RIDGE);
  return { kind: 'logistic', means, deviations, coefficients: beta.slice(0, columns), intercept: beta[columns] };
}

/** Typical candidates get sigmoid(-2) = .12, those outstanding on both sides come near 1. */
const FUSION_INTERCEPT = -2;

function fusionScorer(groups: readonly Candidates[]): FeatureScorer {
  const coefficients = Float64Array.from(FEATURES, (name) => (name === 'bm25' || name === 'cosine' ? 1 : 0));
  return { kind: 'fusion', ...spread(groups), coefficients, intercept: FUSION_INTERCEPT };
}

/** Mean and deviation of every feature; a constant one gets deviation 1. */
function spread(groups: readonly Candidates[]): { means: Float64Array; deviations: Float64Array } {
  const columns = FEATURES.length;
  const means = new Float64Array(columns);
  const deviations = new Float64Array(columns);
  const rows = groups.reduce((sum, { y }) => sum + y.length, 0);
  if (rows === 0) return { means, deviations: deviations.fill(1) };
  for (const { x } of groups) for (let i = 0; i < x.length; i++) means[i % columns] += x[i] / rows;
  for (const { x } of groups) {
    for (let i = 0; i < x.length; i++) deviations[i % columns] += (x[i] - means[i % columns]) ** 2 / rows;
  }
  return { means, deviations: deviations.map((variance) => (variance > 1e-12 ? Math.sqrt(variance) : 1)) };
}

/** How well queries that a fit has not seen are separated, over FOLDS folds of the training queries. */
function crossValidate(groups: readonly Candidates[]): FitEvidence {
  const columns = FEATURES.length;
  let own = 0;
  let first = 0;
  for (let fold = 0; fold < FOLDS; fold++) {
    const scorer = fitScorer(groups.filter((_, i) => i % FOLDS !== fold));
    groups.forEach(({ x, y }, i) => {
      if (i % FOLDS !== fold) return;
      own += areaUnderCurve(
        Float64Array.from(y, (_, row) => scoreFeatures(scorer, x, row * columns)),
        y,
      );
      first += areaUnderCurve(
        Float64Array.from(y, (_, row) => -row),
        y,
      );
    });
  }
  return {
    labelledQueries: groups.length,
    pairs: groups.reduce((sum, { y }) => sum + y.length, 0),
    crossValidatedAuc: own / groups.length,
    firstStageAuc: first / groups.length,
  };
}

/** The logit of the feature values at `at`. */
export function scoreFeatures(scorer: FeatureScorer, x: Float64Array, at: number): number {
  let z = scorer.intercept;
  for (let f = 0; f < FEATURES.length; f++) {
    z += (scorer.coefficients[f] * (x[at + f] - scorer.means[f])) / scorer.deviations[f];
  }
  return z;
}

/** Without queries, the first words of sampled documents ask in their place: the spread of scores is all that is needed. */
async function pseudoCandidates(
  input: FitFeaturesInput,
  texts: Texts,
  analysis: PairAnalysis,
  averageLength: number,
): Promise<Candidates[]> {
  const groups: Candidates[] = [];
  for (const position of samplePositions(texts.length, PSEUDO_QUERIES, deriveSeed(input.seed, 'pseudo-queries'))) {
    const text = (texts.at(position) ?? '').slice(0, 200).split(/\s+/).slice(0, 8).join(' ');
    groups.push(await candidatesOf(input, { id: `document ${position}`, text }, analysis, averageLength));
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

function concatenate(parts: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
