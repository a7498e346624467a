/** What a rewrite did to a corpus, in numbers. */
import type { ChatUsage } from '../src/models/policies/mod.ts';
import type { SourceChanges } from './previous-corpus.ts';
import type { RewrittenRow } from './rewrite-corpus.ts';

export type RewriteCost = ChatUsage & {
  readonly usd: number /** Answers that batch jobs brought now. */;
  readonly byBatch?: number;
};

export interface RewriteReport {
  documents: number;
  rewritten: number;
  /** Of the rewritten: those whose text came back as it was. */
  unchanged: number;
  kept: number;
  failed: number;
  /** Longer than the policy reads, so that it saw their beginning; absent where it does not say. */
  truncatedPrompts?: number;
  /** reason -> count, over kept and failed documents and rewrites that were cut. */
  reasons: Record<string, number>;
  /** Where the answers came from. */
  from: { policy: number; journal: number; previous: number };
  /** Characters of source and indexed texts. */
  characters: { original: LengthStatistics; indexed: LengthStatistics };
  seconds: number;
  /** Since the previous corpus, where one was given and all documents were rewritten. */
  changes?: SourceChanges;
  /** Answers, tokens and US dollars, of policies that are services. */
  cost?: RewriteCost;
}

export interface LengthStatistics {
  readonly mean: number;
  readonly median: number;
  readonly max: number;
}

export function createReportBuilder(): {
  add(row: RewrittenRow, source: string, truncated: boolean | undefined): void;
  finish(seconds: number): RewriteReport;
} {
  const report: Omit<RewriteReport, 'characters' | 'seconds' | 'changes' | 'cost'> = {
    documents: 0,
    rewritten: 0,
    unchanged: 0,
    kept: 0,
    failed: 0,
    reasons: {},
    from: { policy: 0, journal: 0, previous: 0 },
  };
  const before: number[] = [];
  const after: number[] = [];
  return {
    add(row, source, truncated) {
      if (truncated !== undefined) report.truncatedPrompts = (report.truncatedPrompts ?? 0) + Number(truncated);
      report.documents++;
      report[row.rewrite.status]++;
      report.from[row.from]++;
      if (row.rewrite.status === 'rewritten' && row.rewrite.text === source) report.unchanged++;
      // Reasons carry numbers ('23 times as long'); they count together.
      const reason = row.rewrite.reason.replace(/\d+/g, 'N');
      if (reason !== '') report.reasons[reason] = (report.reasons[reason] ?? 0) + 1;
      before.push(source.length);
      after.push(row.rewrite.text.length);
    },
    finish: (seconds) => ({ ...report, characters: { original: lengths(before), indexed: lengths(after) }, seconds }),
  };
}

function lengths(values: number[]): LengthStatistics {
  if (values.length === 0) return { mean: 0, median: 0, max: 0 };
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return {
    mean: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
    median: sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
    max: sorted[sorted.length - 1],
  };
}
