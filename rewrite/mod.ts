/** The rewriting library: a corpus through a policy, guarded, resumable. */
export { checkRewrite, type GuardAction, type GuardOptions, keptShare } from './guards.ts';
export { openPreviousCorpus, type PreviousCorpus, type SourceChanges } from './previous-corpus.ts';
export { createReportBuilder, type RewriteReport } from './report.ts';
export {
  type RewriteCorpusInput,
  type RewrittenRow,
  rewriteKey,
  rewriteRows,
  settingsKey,
  sourceHash,
} from './rewrite-corpus.ts';
export { type Rewrite, type RewriterOptions, rewriteBatch } from './rewriter.ts';
export { type DiffPart, wordDiff } from './word-diff.ts';
export { type WriteCorpusInput, writeCorpus } from './write-corpus.ts';
