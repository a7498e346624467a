import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { statOrUndefined } from './bytes.ts';
import { findQrelsFiles, findRowFile } from './locate.ts';
import { PARTS } from './split-files.ts';

/** The files of a data set folder that this project reads, and those in qrels/ that it does not. */
export interface FolderLayout {
  /** undefined when the documents are text files, or there are none. */
  readonly corpus: string | undefined;
  readonly queries: string | undefined;
  readonly qrels: readonly string[];
  readonly otherQrels: readonly string[];
  readonly splits: readonly { readonly part: string; readonly file: string }[];
  readonly runs: readonly string[];
}

export async function folderLayout(folder: string): Promise<FolderLayout> {
  const qrels = Object.values(await findQrelsFiles(folder));
  const splits: { part: string; file: string }[] = [];
  for (const part of PARTS) {
    const file = join(folder, 'splits', `${part}.txt`);
    if (await statOrUndefined(file)) splits.push({ part, file });
  }
  return {
    corpus: await findRowFile(folder, 'corpus'),
    queries: await findRowFile(folder, 'queries'),
    qrels,
    otherQrels: (await filesIn(join(folder, 'qrels'))).filter((file) => !qrels.includes(file)),
    splits,
    runs: (await filesIn(join(folder, 'runs'))).filter((file) => /\.(trec|run|txt)(\.gz)?$/.test(file)),
  };
}

async function filesIn(folder: string): Promise<string[]> {
  if (!(await statOrUndefined(folder))?.isDirectory()) return [];
  return (await readdir(folder)).sort().map((name) => join(folder, name));
}
