import type { Corpus } from '../types.ts';
import { expectFile, isGzip } from './bytes.ts';
import { type CorpusOptions, rowCorpus } from './corpora.ts';
import { locateCorpus, type Source } from './locate.ts';
import { type Report, strictReport } from './problem.ts';
import { formatDocumentRow } from './row.ts';
import { FileRows, MemoryRows } from './rows.ts';
import { scanDocuments } from './scan-documents.ts';

export interface LoadCorpusOptions extends CorpusOptions {
  /** Told of what is odd but harmless; errors throw. */
  readonly onWarning?: Report;
}

/**
 * The corpus at a path: a BEIR folder, a rewritten corpus, a .jsonl/.csv/.tsv file (also .gz), or a folder of text files.
 * One streaming pass checks every row. A plain JSONL file then stays on disk and its rows are read when asked for; other
 * formats are kept as packed UTF-8. Throws DATA with file and line for the first row that would corrupt results.
 */
export async function loadCorpus(path: string, options: LoadCorpusOptions = {}): Promise<Corpus> {
  const source = await locateCorpus(path);
  const report = strictReport(options.onWarning);
  return source.format === 'jsonl' && !isGzip(source.path)
    ? fileCorpus(source, report, options)
    : memoryCorpus(source, report, options);
}

async function fileCorpus(source: Source, report: Report, options: CorpusOptions): Promise<Corpus> {
  const stats = await expectFile(source.path, 'a corpus');
  const starts: number[] = [];
  const lengths: number[] = [];
  const index = await scanDocuments(source, report, ({ bytes, offset }) => {
    starts.push(offset!);
    lengths.push(bytes!.length);
  });
  const rows = new FileRows(source.path, stats, Float64Array.from(starts), Float64Array.from(lengths));
  return rowCorpus(rows, index.ids, index.positions, source.path, options);
}

async function memoryCorpus(source: Source, report: Report, options: CorpusOptions): Promise<Corpus> {
  const rows = new MemoryRows();
  const index = await scanDocuments(source, report, ({ bytes, document }) =>
    rows.add(bytes ?? formatDocumentRow(document)),
  );
  return rowCorpus(rows, index.ids, index.positions, source.path, options);
}
