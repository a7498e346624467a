/**
 * docopt-ir in process: what the commands do, as functions.
 *
 *   import { createRetriever, evaluate, loadDataset, select, train } from 'docopt-ir';
 *
 * Drivers are swapped by implementing a port (`Retriever`, `Policy`, `Reranker`, `Selector`, `Embedder`).
 */
export {
  buildIndex,
  createRetriever,
  type EvaluationReport,
  type EvaluationSettings,
  evaluateSystems as evaluate,
  evaluationTable,
  type OpenIndex,
  openIndex,
  type System,
} from './index/mod.ts';
export * from './rewrite/mod.ts';
export {
  createPool,
  createSelector,
  parsePool,
  poolFromDocuments,
  poolFromIndex,
  type SelectAnswer,
  type SelectOptions,
  select,
} from './select/mod.ts';
export {
  arrayCorpus,
  corpusWithTexts,
  type Dataset,
  documentText,
  loadCorpus,
  loadDataset,
  loadQrels,
  loadQueries,
  loadRun,
  resolveSplits,
  type Splits,
  writeBeir,
  writeRun,
} from './src/data/mod.ts';
export { DocOptError, type ErrorCode } from './src/errors.ts';
export { type Measure, parseMeasure, parseMeasures } from './src/metrics/mod.ts';
export { fitLsa } from './src/models/embedders/mod.ts';
export { createReranker } from './src/models/rerankers/mod.ts';
export type * from './src/ports.ts';
export { silentLog } from './src/run/log.ts';
export type * from './src/types.ts';
export * from './train/mod.ts';
