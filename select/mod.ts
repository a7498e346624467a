/** The selection library: choose the documents that reach a generator with few reranker calls. `select()` is the way in. */
export {
  createPool,
  type DocumentPool,
  type EmbedTogether,
  fittedOnPool,
  type PoolInput,
  type PoolSource,
  poolFromDocuments,
  poolFromIndex,
} from './pool.ts';
export { type PoolDocuments, type PoolQuery, parsePool } from './pool-file.ts';
export { type SelectAnswer, type SelectedEntry, type SelectOptions, select } from './select.ts';
export { type BoundaryMorphOptions, createBoundaryMorph } from './selectors/boundary-morph.ts';
export {
  chooseSelector,
  createSelector,
  defaultSelector,
  SELECTORS,
  type SelectorName,
  type SelectorSpec,
} from './selectors/registry.ts';
export { createSingleStage } from './selectors/single-stage.ts';
