/** Measures of rankings and tests between them. Pure: numbers in, numbers out. */
export { type Agreement, type AgreementMeasure, agreementOf, parseAgreement } from './agreement.ts';
export { bootstrapInterval, type Resampling } from './bootstrap.ts';
export {
  type Comparison,
  type ComparisonSettings,
  compareSystems,
  type EvaluatedSystem,
} from './compare-systems.ts';
export { type EvaluateOptions, type Evaluation, evaluate, evaluatedQueries } from './evaluate.ts';
export { splitOutsideBrackets } from './measure-parameters.ts';
export { isTotal, MEASURE_KINDS, type Measure, type MeasureKind } from './measures.ts';
export { dcg, discount, idealDcg, ndcg } from './ndcg.ts';
export { evaluationOrder, type Ties } from './order.ts';
export { parseMeasure, parseMeasures } from './parse-measure.ts';
export {
  benjaminiHochberg,
  meanOf,
  pairedT,
  pairedTest,
  randomisation,
  type Tally,
  type TestName,
  type TestResult,
  tally,
  wilcoxon,
} from './significance.ts';
export { type Correlation, spearman } from './spearman.ts';
