import type { DocumentText } from '../../../data/mod.ts';
import type { Embedder } from '../../../ports.ts';
import type { AnalyzerName } from '../../../text/mod.ts';
import type { ScoreScale } from '../../../types.ts';
import { FEATURES, type FeatureName } from './feature-vector.ts';
import type { TermStatistics } from './term-statistics.ts';

/** What features are computed with: everything but the scorers. */
export interface FeatureSources {
  readonly analyzer: AnalyzerName;
  /** Whether the scorer reads titles. */
  readonly documentText: DocumentText;
  /** Of the originals. */
  readonly statistics: TermStatistics;
  /** Of the index texts; absent where they are the originals. */
  readonly indexStatistics?: TermStatistics;
  readonly lsa: Embedder;
  /** Vectors of a seeded sample of the collection, row-major: the background that a query's cosines are compared with. */
  readonly background: Float32Array;
}

/** A fitted feature scorer. */
export interface FeaturesModel extends FeatureSources {
  /** For documents of the index. */
  readonly scorer: FeatureScorer;
  /** For documents that the index does not hold: the same fit without INDEX_FEATURES. */
  readonly foreignScorer: FeatureScorer;
  readonly evidence: FitEvidence;
}

/** score = sigmoid(intercept + sum coefficient (value - mean) / deviation); one entry per FEATURES. */
export interface FeatureScorer {
  /** logistic: fitted, a probability. fusion: a few standardised scores in equal parts, an order, no probability. */
  readonly kind: 'logistic' | 'fusion';
  readonly means: Float64Array;
  readonly deviations: Float64Array;
  readonly coefficients: Float64Array;
  readonly intercept: number;
  /** Of its scores over the candidates it was fitted on. */
  readonly scale?: ScoreScale;
}

/** What the fit rests on. */
export interface FitEvidence {
  /** Training queries with a relevant document among their candidates. */
  readonly labelledQueries: number;
  readonly pairs: number;
  /**
   * Mean AUC over training queries whose judgements the scorer had not seen (5 folds; a fusion sees none), and of the
   * first stage on the same. Absent with too few of them.
   */
  readonly heldOutAuc?: number;
  readonly firstStageAuc?: number;
}

/** The logit of the feature values at `at`. */
export function scoreFeatures(scorer: FeatureScorer, x: Float64Array, at: number): number {
  let z = scorer.intercept;
  for (let f = 0; f < FEATURES.length; f++) {
    z += (scorer.coefficients[f] * (x[at + f] - scorer.means[f])) / scorer.deviations[f];
  }
  return z;
}

/** One line for manifests and logs. */
export function describeFeatures({ scorer, evidence }: FeaturesModel): string {
  const { labelledQueries, heldOutAuc: own, firstStageAuc: first } = evidence;
  const auc = own === undefined ? '' : `, held-out AUC ${own.toFixed(3)}, first stage ${first!.toFixed(3)}`;
  if (scorer.kind === 'logistic') return `features (logistic on ${labelledQueries} training queries${auc})`;
  const parts = FUSED.filter(([name]) => scorer.coefficients[FEATURES.indexOf(name)] !== 0).map(([, words]) => words);
  return `features (fusion of ${parts.join(' + ')}, not calibrated: ${labelledQueries} labelled queries${auc})`;
}

const FUSED: readonly (readonly [FeatureName, string])[] = [
  ['firstStage', 'first stage'],
  ['cosine', 'LSA'],
  ['bm25', 'BM25'],
];

/** What whoever uses the scorer must hear. */
export function featureWarnings({ evidence }: FeaturesModel): string[] {
  const { heldOutAuc: own, firstStageAuc: first } = evidence;
  if (own === undefined || first === undefined || own >= first) return [];
  return [
    `The embedded reranker does not earn its calls here: on held-out training queries its AUC is ${own.toFixed(3)}, the ` +
      `first stage's ${first.toFixed(3)}. Take the first stage's order (docopt search, or a budget of 0), give it more ` +
      `labelled queries (docopt index --train 0.5), or bring the scores of a better reranker (--reranker recorded).`,
  ];
}
