/** The index library: retrievers by their block, index artefacts, and what evaluates them. */
export {
  type BuildIndexInput,
  type BuiltIndex,
  buildIndex,
  LEXICAL_DEFAULTS,
  type OriginalTexts,
  originalTexts,
} from './build-index.ts';
export { createRetriever } from './create-retriever.ts';
export { estimateLines, estimateRetrievers, indexTexts, type RetrievalEstimate } from './estimate.ts';
export {
  type EvaluationReport,
  type EvaluationSettings,
  evaluateSystems,
  type System,
} from './evaluate.ts';
export { evaluationTable } from './evaluation-table.ts';
export { type IndexInfo, type IndexVectors, isLexical, type OpenIndex, openIndex } from './open-index.ts';
export { createBm25Retriever } from './retrievers/bm25.ts';
export { createRebuildRetriever } from './retrievers/rebuild.ts';
