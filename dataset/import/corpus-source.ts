/** Where the documents come from: files found, formats told apart, one stream of documents out of all of them. */
import { byteChunks, statOrUndefined } from '../../src/data/bytes.ts';
import { decodedChunks } from '../../src/data/encoding.ts';
import { globTest } from '../../src/data/glob.ts';
import { inputChunks, inputName, STDIN } from '../../src/data/input.ts';
import { listFiles } from '../../src/data/list-files.ts';
import { findRowFile } from '../../src/data/locate.ts';
import { loadCorpus } from '../../src/data/mod.ts';
import { parquetRows } from '../../src/data/parquet-rows.ts';
import { dataError, strictReport } from '../../src/data/problem.ts';
import { type JsonObject, parseJsonObject } from '../../src/data/row.ts';
import { tableRows } from '../../src/data/table-rows.ts';
import { textLines } from '../../src/data/text-lines.ts';
import { DocOptError } from '../../src/errors.ts';
import type { CorpusColumns } from './columns.ts';
import { type FileFormat, type Format, formatOf, isRowFormat, type RowFormat, unknownFormat } from './formats.ts';
import { parseHtml } from './html.ts';
import { parseMarkdown } from './markdown.ts';
import { documentOfRow, neededColumns } from './rows.ts';
import type { SourceDocument } from './source-document.ts';

export interface CorpusSourceOptions {
  /** A file, a folder, or - for standard input. */
  readonly path: string;
  readonly format?: Format;
  readonly glob?: string;
  readonly columns: CorpusColumns;
  readonly encoding: string;
  /** Larger documents are refused. */
  readonly maxDocumentBytes: number;
}

export interface CorpusSource {
  /** How many files of which format. */
  readonly formats: Readonly<Partial<Record<Format, number>>>;
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  readonly documents: AsyncIterable<SourceDocument>;
}

interface InputFile {
  readonly file: string;
  /** The path below the folder, or the file's own name: what ids are made of. */
  readonly path: string;
  readonly format: Exclude<Format, 'beir'>;
}

/** Throws USAGE for a format that cannot be told, DATA when there is no file. */
export async function openCorpusSource(options: CorpusSourceOptions): Promise<CorpusSource> {
  const { path, format, glob } = options;
  if (path === STDIN) return ofFiles([standardInput(format)], [], options);
  const stats = await statOrUndefined(path);
  if (stats === undefined) throw dataError(path, 'no such file or folder', 'Check the path.');
  if (!stats.isDirectory()) {
    if (format === 'beir')
      throw new DocOptError('USAGE', `${path}: is a file; --format beir expects a folder`, {
        hint: 'Give the folder with corpus.jsonl, or --format jsonl for the file alone.',
      });
    const own = format ?? formatOf(path);
    if (own === undefined) throw unknownFormat(path);
    return ofFiles([{ file: path, path: path.split(/[\\/]/).at(-1)!, format: own }], [], options);
  }
  if (format === 'beir' || (format === undefined && glob === undefined && (await findRowFile(path, 'corpus'))))
    return { formats: { beir: 1 }, skipped: [], documents: beirDocuments(path) };

  const matches = glob === undefined ? undefined : globTest(glob);
  const { files, skipped } = await listFiles(path, (name) =>
    matches === undefined
      ? formatOf(name) !== undefined && (format === undefined || formatOf(name) === format)
      : matches(name),
  );
  const inputs = files.map(({ path: below }): InputFile => {
    const own = format ?? formatOf(below);
    if (own === undefined) throw unknownFormat(`${path}/${below}`);
    return { file: `${path.replace(/\/+$/, '')}/${below}`, path: below, format: own };
  });
  if (inputs.length === 0) {
    const what = glob === undefined ? (format ?? 'a known format') : `--glob '${glob}'`;
    throw dataError(path, `the folder holds no file of ${what}`, 'Check the path, --glob and --format.');
  }
  return ofFiles(inputs, skipped, options);
}

function standardInput(format: Format | undefined): InputFile {
  if (format !== undefined && format !== 'parquet' && isRowFormat(format)) return { file: STDIN, path: STDIN, format };
  throw new DocOptError(
    'USAGE',
    format === undefined
      ? '--corpus - reads standard input, whose format has no name to be told from'
      : `--corpus - cannot be read as ${format}, which needs files`,
    { hint: 'Say the format of the rows: --format csv|tsv|jsonl' },
  );
}

function ofFiles(
  inputs: readonly InputFile[],
  skipped: CorpusSource['skipped'],
  options: CorpusSourceOptions,
): CorpusSource {
  const formats: Partial<Record<Format, number>> = {};
  for (const { format } of inputs) formats[format] = (formats[format] ?? 0) + 1;
  return { formats, skipped, documents: allDocuments(inputs, options) };
}

async function* allDocuments(
  inputs: readonly InputFile[],
  options: CorpusSourceOptions,
): AsyncGenerator<SourceDocument> {
  for (const input of inputs) {
    const { format } = input;
    if (!isRowFormat(format)) {
      yield await fileDocument(input, format, options);
      continue;
    }
    const { encoding, maxDocumentBytes, columns } = options;
    const name = inputName(input.file);
    for await (const { row, line } of rowsOf(input.file, format, encoding, maxDocumentBytes, (all) =>
      neededColumns(all, columns),
    ))
      yield documentOfRow(row, columns, { file: name, line });
  }
}

/** Rows of any row format, one after the other. */
export async function* rowsOf(
  file: string,
  format: RowFormat,
  encoding: string,
  longest: number,
  wanted?: (columns: readonly string[]) => readonly string[],
): AsyncGenerator<{ readonly row: JsonObject; readonly line: number }> {
  if (format === 'parquet') {
    yield* parquetRows(file, wanted);
    return;
  }
  const name = inputName(file);
  const text = decodedChunks(inputChunks(file), name, encoding);
  if (format !== 'jsonl') {
    yield* tableRows(text, name, format === 'csv' ? ',' : '\t', longest);
    return;
  }
  const report = strictReport();
  for await (const lines of textLines(text, name, longest)) {
    for (const { text: json, line, terminated } of lines)
      yield { row: parseJsonObject(json, { file: name, line }, terminated, report)!, line };
  }
}

async function fileDocument(
  { file, path }: InputFile,
  format: FileFormat,
  { encoding, maxDocumentBytes }: CorpusSourceOptions,
): Promise<SourceDocument> {
  const source = await readWhole(file, encoding, maxDocumentBytes);
  const shared = { id: undefined, path, file, line: null, metadata: { path } };
  switch (format) {
    case 'markdown': {
      const { title, text, metadata } = parseMarkdown(source, file);
      return { ...shared, title, text, metadata: { path, ...metadata }, structure: 'markdown' };
    }
    case 'html':
      return { ...shared, ...parseHtml(source), structure: 'markdown' };
    case 'text':
      return { ...shared, title: '', text: source, structure: 'plain' };
    default:
      throw new Error(`unknown format ${format satisfies never}`);
  }
}

async function readWhole(file: string, encoding: string, most: number): Promise<string> {
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    const stats = await statOrUndefined(file);
    if (stats !== undefined && stats.size > most) throw tooLarge(file, stats.size, most);
    for await (const chunk of byteChunks(file)) {
      bytes += chunk.length;
      // A packed file may hold more than its size says.
      if (bytes > most) throw tooLarge(file, bytes, most);
      yield chunk;
    }
  };
  const parts: string[] = [];
  for await (const text of decodedChunks(counted(), file, encoding)) parts.push(text);
  return parts.join('');
}

function tooLarge(file: string, bytes: number, most: number): Error {
  const [found, limit] = [bytes, most].map((count) => count.toLocaleString('en'));
  return dataError(
    file,
    `the file is one document and has ${found} bytes or more; at most ${limit} are read as one`,
    'Leave it out by --glob, cut it into files, or raise --max-document-bytes.',
  );
}

async function* beirDocuments(path: string): AsyncGenerator<SourceDocument> {
  const corpus = await loadCorpus(path);
  for (let i = 0; i < corpus.size; i++) {
    const { id, title, text, metadata } = corpus.original(i);
    yield { id, title, text, metadata, file: path, line: i + 1, structure: 'plain' };
  }
}
