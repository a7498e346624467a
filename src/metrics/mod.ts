/** Measures of rankings and tests between them. Pure: numbers in, numbers out. */
export { type EvaluateOptions, type Evaluation, evaluate, evaluatedQueries } from './evaluate.ts';
export { isTotal, MEASURE_KINDS, type Measure, type MeasureKind } from './measures.ts';
export { dcg, discount, idealDcg, ndcg } from './ndcg.ts';
export { evaluationOrder, type Ties } from './order.ts';
export { parseMeasure, parseMeasures, splitOutsideBrackets } from './parse-measure.ts';
export {
  benjaminiHochberg,
  bootstrapInterval,
  meanOf,
  pairedT,
  pairedTest,
  type Resampling,
  randomisation,
  type Tally,
  type TestName,
  type TestResult,
  tally,
  wilcoxon,
} from './significance.ts';
