/**
 * docopt-ir in process: what the commands do, as functions.
 *
 *   import { createRetriever, evaluate, loadDataset, select, train } from 'docopt-ir';
 *
 * Drivers are swapped by implementing a port (`Retriever`, `Policy`, `Reranker`, `Selector`, `Embedder`).
 */
import type { z } from 'zod';
import { createRetriever as createFromBlock } from './index/mod.ts';
import { expandShortForm, retrieverSchema } from './src/config/specs.ts';
import type { Retriever } from './src/ports.ts';

/** A retriever from its short form ('bm25') or block ({driver: 'bm25', k1: 1.2}); what is left out has its default. */
export function createRetriever(spec: string | z.input<typeof retrieverSchema>): Retriever {
  return createFromBlock(retrieverSchema.parse(typeof spec === 'string' ? expandShortForm('retriever', spec) : spec));
}

export {
  buildIndex,
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
export { createPolicy, type EditPolicy, type PolicyContext } from './src/models/policies/mod.ts';
export { createReranker, openEmbeddedReranker } from './src/models/rerankers/mod.ts';
export type * from './src/ports.ts';
export { silentLog } from './src/run/log.ts';
export { createArtefact, openArtefact } from './src/store/artefact.ts';
export { subReader, subWriter } from './src/store/sub-artefact.ts';
export type * from './src/types.ts';
export * from './train/mod.ts';
