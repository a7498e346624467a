import { fitLogistic, sigmoid } from '../../../kernels/logistic.ts';
import { areaUnderCurve } from '../../../kernels/stats.ts';
import { FEATURES, type FeatureName, TEXT_FEATURES } from './feature-vector.ts';
import { type FeatureScorer, type FitEvidence, scoreFeatures } from './model.ts';

/** The candidates of one query that are used, best first. */
export interface Candidates {
  /** y.length x FEATURES.length. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly weights: Float64Array;
  /** First-stage ranks, 0-based. */
  readonly ranks: Float64Array;
}

/** On standardised features; 20 to 80 measured alike on four collections. */
const RIDGE = 30;
const FOLDS = 5;
/** On fewer queries an AUC says nothing. */
const FEWEST_JUDGED = 5;

/** The same pairs as if the index did not hold their documents. */
export function textsOnly(candidates: Candidates): Candidates {
  const columns = FEATURES.length;
  return { ...candidates, x: candidates.x.map((value, i) => (i % columns < TEXT_FEATURES.length ? value : 0)) };
}

/** Ridge logistic regression. */
export function fitScorer(groups: readonly Candidates[]): FeatureScorer {
  const columns = FEATURES.length;
  const { means, deviations } = spread(groups);
  const y = concatenate(groups.map((group) => group.y));
  const x = concatenate(groups.map((group) => group.x)).map(
    (value, i) => (value - means[i % columns]) / deviations[i % columns],
  );
  const beta = fitLogistic({ x, columns, y, weights: concatenate(groups.map((group) => group.weights)) }, RIDGE);
  return { kind: 'logistic', means, deviations, coefficients: beta.slice(0, columns), intercept: beta[columns] };
}

/** Typical candidates get sigmoid(-2) = .12, those outstanding on every side come near 1. */
const FUSION_INTERCEPT = -2;

/** The named features, standardised, in equal parts. Looks at no judgement. */
export function fusionScorer(groups: readonly Candidates[], fused: readonly FeatureName[]): FeatureScorer {
  const coefficients = Float64Array.from(FEATURES, (name) => (fused.includes(name) ? 1 : 0));
  return { kind: 'fusion', ...spread(groups), coefficients, intercept: FUSION_INTERCEPT };
}

/**
 * The scorer with the scale of its scores: weighted least squares of the score on ln(1 + rank). Where scores do not fall with
 * the rank, their mean at every rank.
 */
export function withScale(scorer: FeatureScorer, groups: readonly Candidates[]): FeatureScorer {
  let [sum, sumX, sumY, sumXX, sumXY] = [0, 0, 0, 0, 0];
  for (const { x, y, weights, ranks } of groups) {
    for (let row = 0; row < y.length; row++) {
      const at = Math.log(1 + ranks[row]);
      const score = sigmoid(scoreFeatures(scorer, x, row * FEATURES.length));
      const weight = weights[row];
      sum += weight;
      sumX += weight * at;
      sumY += weight * score;
      sumXX += weight * at * at;
      sumXY += weight * at * score;
    }
  }
  if (sum === 0) return scorer;
  const spread = sumXX - (sumX * sumX) / sum;
  const fall = spread > 1e-12 ? Math.max(0, -(sumXY - (sumX * sumY) / sum) / spread) : 0;
  return { ...scorer, scale: { top: Math.min(1, (sumY + fall * sumX) / sum), fall } };
}

/** Mean and deviation of every feature; a constant one gets deviation 1. */
function spread(groups: readonly Candidates[]): { means: Float64Array; deviations: Float64Array } {
  const columns = FEATURES.length;
  const means = new Float64Array(columns);
  const deviations = new Float64Array(columns);
  const rows = countPairs(groups);
  if (rows === 0) return { means, deviations: deviations.fill(1) };
  for (const { x } of groups) for (let i = 0; i < x.length; i++) means[i % columns] += x[i] / rows;
  for (const { x } of groups) {
    for (let i = 0; i < x.length; i++) deviations[i % columns] += (x[i] - means[i % columns]) ** 2 / rows;
  }
  return { means, deviations: deviations.map((variance) => (variance > 1e-12 ? Math.sqrt(variance) : 1)) };
}

/**
 * How well the scorer separates the pairs of each query, and the first stage does. `scorerOf(group)` must not have seen
 * the judgements of that group.
 */
export function judge(groups: readonly Candidates[], scorerOf: (group: number) => FeatureScorer): FitEvidence {
  let own = 0;
  let first = 0;
  groups.forEach(({ x, y }, group) => {
    const scorer = scorerOf(group);
    const scores = Float64Array.from(y, (_, row) => scoreFeatures(scorer, x, row * FEATURES.length));
    const ranks = Float64Array.from(y, (_, row) => -row);
    own += areaUnderCurve(scores, y);
    first += areaUnderCurve(ranks, y);
  });
  const counts = { labelledQueries: groups.length, pairs: countPairs(groups) };
  if (groups.length < FEWEST_JUDGED) return counts;
  return { ...counts, heldOutAuc: own / groups.length, firstStageAuc: first / groups.length };
}

/** Every query judged by the fit on the other folds. */
export function crossValidate(groups: readonly Candidates[]): FitEvidence {
  const scorers = Array.from({ length: FOLDS }, (_, fold) => fitScorer(groups.filter((_, i) => i % FOLDS !== fold)));
  return judge(groups, (group) => scorers[group % FOLDS]);
}

function countPairs(groups: readonly Candidates[]): number {
  return groups.reduce((sum, { y }) => sum + y.length, 0);
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
