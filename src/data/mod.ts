/** Data sets in and out: corpora, queries, judgements, runs, splits. */

export { writeFileAtomic } from './atomic.ts';
export {
  arrayCorpus,
  type CorpusOptions,
  corpusWithOriginals,
  corpusWithTexts,
  type DocumentText,
  documentText,
} from './corpora.ts';
export { type LoadCorpusOptions, loadCorpus } from './load-corpus.ts';
export { type Dataset, type LoadDatasetOptions, loadDataset, loadTopics, type Topics } from './load-dataset.ts';
export { loadQrels } from './load-qrels.ts';
export { loadQueries } from './load-queries.ts';
export { loadRun } from './load-run.ts';
export { makeFolder } from './make-folder.ts';
export type { Problem, Report } from './problem.ts';
export { resolveSplits, SPLIT_DEFAULTS, type Splits, seededSplit, splitOfQrels } from './resolve-splits.ts';
export { formatRewrittenRow, type RewriteFacts } from './rewritten-row.ts';
export { formatDocumentRow } from './row.ts';
export { readQueryIds, saveSplit } from './split-files.ts';
export { normaliseQuery, type QuerySplit, type SplitOptions, splitQueries } from './splits.ts';
export { type BeirContent, writeBeir } from './write-beir.ts';
export { writeJsonl } from './write-jsonl.ts';
export { writeRun } from './write-run.ts';
