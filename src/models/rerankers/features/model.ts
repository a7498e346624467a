import type { DocumentText } from '../../../data/mod.ts';
import type { Embedder } from '../../../ports.ts';
import type { AnalyzerName } from '../../../text/mod.ts';
import type { TermStatistics } from './term-statistics.ts';

/** A fitted feature scorer. */
export interface FeaturesModel {
  readonly analyzer: AnalyzerName;
  /** Whether the scorer reads titles. */
  readonly documentText: DocumentText;
  readonly statistics: TermStatistics;
  readonly lsa: Embedder;
  /** Vectors of a seeded sample of the collection, row-major: the background that a query's cosines are compared with. */
  readonly background: Float32Array;
  readonly scorer: FeatureScorer;
  readonly evidence: FitEvidence;
}

/** score = sigmoid(intercept + sum coefficient (value - mean) / deviation); one entry per FEATURES. */
export interface FeatureScorer {
  /** logistic: fitted, a probability. fusion: standardised lexical and LSA score in equal parts, an order, no probability. */
  readonly kind: 'logistic' | 'fusion';
  readonly means: Float64Array;
  readonly deviations: Float64Array;
  readonly coefficients: Float64Array;
  readonly intercept: number;
}

/** What the fit rests on. */
export interface FitEvidence {
  /** Training queries with a relevant document among their candidates. */
  readonly labelledQueries: number;
  readonly pairs: number;
  /** Mean AUC over held-out training queries (5 folds), and of the first stage on the same; absent for a fusion. */
  readonly crossValidatedAuc?: number;
  readonly firstStageAuc?: number;
}

/** One line for manifests and logs. */
export function describeFeatures({ scorer, evidence }: FeaturesModel): string {
  if (scorer.kind === 'fusion') {
    return `features (fusion of lexical and LSA scores, not calibrated: ${evidence.labelledQueries} labelled queries)`;
  }
  const { crossValidatedAuc: own, firstStageAuc: first } = evidence;
  const auc = own === undefined ? '' : `, held-out AUC ${own.toFixed(3)}, first stage ${first!.toFixed(3)}`;
  return `features (logistic on ${evidence.labelledQueries} training queries${auc})`;
}
