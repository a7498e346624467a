import type { DocumentText } from '../src/data/corpora.ts';
import { splitFields } from '../src/data/judgements.ts';
import { type FolderLayout, folderLayout } from '../src/data/layout.ts';
import { kindAt, locateCorpus, locateQueries } from '../src/data/locate.ts';
import { DataError, type Problem, type Report } from '../src/data/problem.ts';
import { scanQueryIds } from '../src/data/split-files.ts';
import { firstLine } from '../src/data/table.ts';
import { type CheckedQuery, checkCorpus, checkQrels, checkQueries, checkRun } from './check-files.ts';

export interface Validation {
  /** No errors; there may be warnings. */
  readonly ok: boolean;
  /** In reading order, by line within a file. */
  readonly problems: readonly Problem[];
  readonly counts: {
    readonly documents: number;
    readonly queries: number;
    readonly judgements: number;
    /** Of a run: queries that it answers, and its lines. */
    readonly rankings?: number;
    readonly retrieved?: number;
    readonly errors: number;
    readonly warnings: number;
  };
}

/**
 * Every problem of a data set, or of a single corpus, qrels or run file: what would stop a load (errors) and what a load
 * would take silently (warnings). Reads everything; throws only when there is nothing at the path.
 */
export async function validateDataset(
  path: string,
  options: { documentText?: DocumentText } = {},
): Promise<Validation> {
  const problems: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const mode = options.documentText ?? 'title+text';
  const kind = await kindAt(path, 'a data set: a folder with corpus.jsonl, queries.jsonl and qrels/');
  const { files, ...counts } =
    kind === 'folder' ? await checkFolder(path, mode, report) : await checkSingleFile(path, mode, report);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return {
    ok: errors === 0,
    problems: inFileOrder(problems, files),
    counts: { ...counts, errors, warnings: problems.length - errors },
  };
}

interface Found {
  readonly documents: number;
  readonly queries: number;
  readonly judgements: number;
  readonly rankings?: number;
  readonly retrieved?: number;
  /** In the order people think of them. */
  readonly files: readonly string[];
}

async function checkFolder(folder: string, mode: DocumentText, report: Report): Promise<Found> {
  const layout = await folderLayout(folder);
  const problem = (severity: Problem['severity'], file: string, message: string, hint: string): void =>
    report({ severity, file, line: null, id: null, message, hint });

  const documents = await guarded(report, async () => checkCorpus(await locateCorpus(folder), mode, report));
  const hasQueries = layout.queries !== undefined;
  const queries = hasQueries
    ? await guarded(report, async () => checkQueries(await locateQueries(folder), report))
    : undefined;
  for (const file of layout.otherQrels) problem('warning', file, 'not read', 'Known names: train, dev and test.');
  let judgements = 0;
  if (layout.qrels.length > 0) {
    if (!hasQueries) problem('error', folder, 'there are judgements but no queries', 'Add queries.jsonl.');
    judgements = (await guarded(report, () => checkQrels(layout.qrels, documents, queries, report))) ?? 0;
  } else if (hasQueries) {
    const hint = 'Training and evaluation need qrels/test.tsv.';
    problem('warning', folder, 'there are queries but no judgements', hint);
  }
  if (queries !== undefined) await checkSplits(layout.splits, queries, report);
  for (const run of layout.runs) await guarded(report, () => checkRun(run, documents, queries, report));
  const files = [folder, layout.corpus, layout.queries, ...layout.qrels].filter((file) => file !== undefined);
  return { documents: documents?.size ?? 0, queries: queries?.size ?? 0, judgements, files };
}

async function checkSingleFile(path: string, mode: DocumentText, report: Report): Promise<Found> {
  const nothing: Found = { documents: 0, queries: 0, judgements: 0, files: [path] };
  switch (await kindOfFile(path)) {
    case 'run':
      return { ...nothing, ...(await guarded(report, () => checkRun(path, undefined, undefined, report))) };
    case 'qrels':
      return {
        ...nothing,
        judgements: (await guarded(report, () => checkQrels([path], undefined, undefined, report))) ?? 0,
      };
    case 'corpus': {
      const documents = await guarded(report, async () => checkCorpus(await locateCorpus(path), mode, report));
      return { ...nothing, documents: documents?.size ?? 0 };
    }
  }
}

/** Qrels and runs are known by their columns, as their names say little. */
async function kindOfFile(path: string): Promise<'corpus' | 'qrels' | 'run'> {
  const name = path.replace(/\.gz$/, '').toLowerCase();
  if (/\.(jsonl|ndjson|csv)$/.test(name)) return 'corpus';
  if (/\.qrels?$/.test(name)) return 'qrels';
  if (/\.(trec|run)$/.test(name)) return 'run';
  const fields = splitFields((await firstLine(path)) ?? '');
  if (fields.length === 6 && /^q0$/i.test(fields[1])) return 'run';
  if (/^query[-_ ]?id$/i.test(fields[0])) return 'qrels';
  if ((fields.length === 3 || fields.length === 4) && /^[+-]?\d+$/.test(fields.at(-1)!)) return 'qrels';
  return 'corpus';
}

async function checkSplits(
  files: FolderLayout['splits'],
  queries: ReadonlyMap<string, CheckedQuery>,
  report: Report,
): Promise<void> {
  const known = new Set(queries.keys());
  const partOf = new Map<string, string>();
  for (const { part, file } of files) {
    for (const id of (await guarded(report, () => scanQueryIds(file, known, report))) ?? []) {
      const other = partOf.get(id);
      if (other !== undefined) {
        const message = `query '${id}' is also in ${other}.txt`;
        report({ severity: 'error', file, line: null, id, message, hint: 'A query belongs to one part only.' });
      }
      partOf.set(id, part);
    }
  }
}

/** What stops a reader for good is a problem like the others. */
async function guarded<T>(report: Report, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    report(error.problem);
    return undefined;
  }
}

function inFileOrder(problems: readonly Problem[], files: readonly string[]): Problem[] {
  const order = new Map(files.map((file, i) => [file, i]));
  for (const { file } of problems) if (!order.has(file)) order.set(file, order.size);
  return [...problems].sort((a, b) => order.get(a.file)! - order.get(b.file)! || (a.line ?? 0) - (b.line ?? 0));
}
