import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { statOrUndefined } from './bytes.ts';
import { dataError } from './problem.ts';

/** Where the rows of a corpus or of queries are, and in which format. */
export interface Source {
  readonly format: 'jsonl' | 'csv' | 'tsv' | 'folder';
  readonly path: string;
}

const ROW_FILES = ['.jsonl', '.jsonl.gz', '.ndjson', '.ndjson.gz', '.csv', '.csv.gz', '.tsv', '.tsv.gz'];
const TEXT_FILE = /\.(txt|text|md|mdx|markdown|rst|adoc|asciidoc|org|tex)(\.gz)?$/i;

export const isTextFile = (name: string): boolean => TEXT_FILE.test(name);

/** The corpus at a path: a file of rows, a folder with corpus.* (BEIR, or a rewritten corpus) or corpus/, or a folder of text files. */
export async function locateCorpus(path: string): Promise<Source> {
  const kind = await kindAt(path, 'a corpus: a .jsonl, .csv or .tsv file, or a folder');
  if (kind === 'file') return rowFile(path, 'a corpus');
  const inside = await findRowFile(path, 'corpus');
  if (inside !== undefined) return rowFile(inside, 'a corpus');
  const below = join(path, 'corpus');
  if ((await statOrUndefined(below))?.isDirectory()) return { format: 'folder', path: below };
  const isBeir = (await findRowFile(path, 'queries')) ?? (await statOrUndefined(join(path, 'qrels')));
  // Else the README of a data set without its corpus would become the corpus.
  if (isBeir)
    throw dataError(
      path,
      'the folder has queries or qrels but no corpus',
      'Expected corpus.jsonl, or text files in corpus/.',
    );
  if (await hasTextFiles(path)) return { format: 'folder', path };
  throw dataError(
    path,
    'the folder holds no corpus',
    'Expected corpus.jsonl (BEIR), or text files such as .txt and .md.',
  );
}

/** The queries at a path: a file of rows, or a folder with queries.*. */
export async function locateQueries(path: string): Promise<Source> {
  const kind = await kindAt(path, 'queries: a .jsonl, .csv or .tsv file, or a folder with queries.jsonl');
  if (kind === 'file') return rowFile(path, 'queries');
  const inside = await findRowFile(path, 'queries');
  if (inside !== undefined) return rowFile(inside, 'queries');
  throw dataError(
    path,
    'the folder has no queries file',
    'Expected queries.jsonl with rows {"_id": "...", "text": "..."}.',
  );
}

/** folder/NAME.{jsonl,ndjson,csv,tsv}[.gz], the first that exists. */
export async function findRowFile(folder: string, name: string): Promise<string | undefined> {
  for (const ending of ROW_FILES) {
    const path = join(folder, `${name}${ending}`);
    if (await statOrUndefined(path)) return path;
  }
  return undefined;
}

/** The judgement files of a BEIR folder by split; qrels.tsv beside the corpus counts as test. */
export async function findQrelsFiles(folder: string): Promise<{ train?: string; dev?: string; test?: string }> {
  const found: { train?: string; dev?: string; test?: string } = {};
  for (const split of ['train', 'dev', 'test'] as const) {
    for (const ending of ['.tsv', '.tsv.gz', '.txt', '.trec', '.qrels']) {
      const path = join(folder, 'qrels', `${split}${ending}`);
      if (found[split] === undefined && (await statOrUndefined(path))) found[split] = path;
    }
  }
  if (found.train ?? found.dev ?? found.test) return found;
  for (const name of ['qrels.tsv', 'qrels.tsv.gz', 'qrels.txt']) {
    const path = join(folder, name);
    if (await statOrUndefined(path)) return { test: path };
  }
  return found;
}

export async function kindAt(path: string, expected: string): Promise<'file' | 'folder'> {
  const stats = await statOrUndefined(path);
  if (stats === undefined) throw dataError(path, `no such file or folder; expected ${expected}`, 'Check the path.');
  return stats.isDirectory() ? 'folder' : 'file';
}

async function rowFile(path: string, what: string): Promise<Source> {
  if ((await kindAt(path, what)) === 'folder')
    throw dataError(path, `is a folder; expected the file with ${what}`, 'Move it away, or name the file itself.');
  const name = path.replace(/\.gz$/, '').toLowerCase();
  if (name.endsWith('.jsonl') || name.endsWith('.ndjson')) return { format: 'jsonl', path };
  if (name.endsWith('.csv')) return { format: 'csv', path };
  if (name.endsWith('.tsv')) return { format: 'tsv', path };
  const hint = isTextFile(path)
    ? 'For text files give their folder: each file becomes one document.'
    : 'Known endings: .jsonl, .ndjson, .csv, .tsv, each also with .gz; or a folder.';
  throw dataError(path, `cannot tell the format of ${what} from the file's name`, hint);
}

async function hasTextFiles(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true });
  return entries.some(isTextFile);
}
