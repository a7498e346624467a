/** The rewritten corpus as an artefact: corpus.jsonl (rewrite as text, original under `docopt`), report.json, manifest. */
import { formatRewrittenRow } from '../src/data/mod.ts';
import { createArtefact } from '../src/store/artefact.ts';
import { type Journal, journalPath, openJournal } from '../src/store/journal.ts';
import type { Corpus, Document, Manifest } from '../src/types.ts';
import { createReportBuilder, type RewriteCost, type RewriteReport } from './report.ts';
import { type RewriteCorpusInput, type RewrittenRow, rewriteRows, settingsKey } from './rewrite-corpus.ts';
import type { Rewrite } from './rewriter.ts';

export interface WriteCorpusInput extends Omit<RewriteCorpusInput, 'journal'> {
  /** Folder of the artefact; its journal lies beside it while it grows. */
  readonly folder: string;
  readonly replace: boolean;
  readonly parents: Readonly<Record<string, string>>;
  /** Goes into the manifest: policy, data, retriever it was trained for, ... */
  readonly info: Readonly<Record<string, unknown>>;
  /** Milliseconds, for the report. */
  readonly now: () => number;
  /** What services have cost by then, for the report. */
  readonly cost?: () => Promise<RewriteCost>;
  /** Told of every row, e.g. to show differences. */
  readonly onRow?: (row: RewrittenRow, original: Document, source: string) => void;
}

/**
 * Rewrites and writes. Interrupted or killed, the journal keeps every finished document: the same call goes on from
 * there. Returns the manifest and what changed.
 */
export async function writeCorpus(input: WriteCorpusInput): Promise<{ manifest: Manifest; report: RewriteReport }> {
  const { corpus, folder, log } = input;
  const started = input.now();
  const artefact = await createArtefact(folder, 'corpus', { replace: input.replace });
  let journal: Journal<Rewrite> | undefined;
  try {
    journal = await openJournal<Rewrite>(journalPath(folder));
    if (journal.recovered > 0) log.info(`${journal.recovered} documents were finished before; going on from there`);
    const report = createReportBuilder();
    const rows = rewriteRows({ ...input, journal });
    await artefact.writeStream('corpus.jsonl', corpusLines(rows, corpus, input, report.add));
    const { from, seconds, ...content } = report.finish((input.now() - started) / 1000);
    await artefact.write('report.json', `${JSON.stringify(content, null, 2)}\n`);
    // How it came about is no part of the content: an update has the fingerprint of a full run.
    const cost = await input.cost?.();
    const changes = input.limit === undefined ? input.previous?.changes() : undefined;
    const run = { from, ...(changes && { changes }), ...(cost && { cost }), seconds };
    const { documents } = content;
    const manifest = await artefact.finish({
      parents: input.parents,
      info: { documents, policy: input.policy.id, settings: settingsKey(input), ...input.info, run },
    });
    await journal.remove();
    return { manifest, report: { ...content, ...run } };
  } catch (error) {
    await journal?.close();
    await artefact.discard();
    throw error;
  }
}

async function* corpusLines(
  rows: AsyncIterable<RewrittenRow>,
  corpus: Corpus,
  input: WriteCorpusInput,
  count: (row: RewrittenRow, source: string, truncated: boolean | undefined) => void,
): AsyncGenerator<string> {
  for await (const row of rows) {
    const original = corpus.original(row.position);
    const source = corpus.indexText(row.position);
    count(row, source, input.policy.truncates?.({ document: { id: original.id, text: source } }));
    input.onRow?.(row, original, source);
    const { text, status, reason } = row.rewrite;
    const facts = { sourceHash: row.sourceHash, status, reason, policy: input.policyFingerprint };
    yield `${formatRewrittenRow(original, text, facts)}\n`;
  }
}
