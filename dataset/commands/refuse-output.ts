import { readdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isWritable } from '../../src/data/atomic.ts';
import { statOrUndefined } from '../../src/data/bytes.ts';
import { DocOptError } from '../../src/errors.ts';

/** What a data set folder may hold; anything else in it is the user's, and --force keeps away. */
const DATASET_FILES = new Set([
  'corpus.jsonl',
  'queries.jsonl',
  'qrels',
  'splits',
  'dataset.json',
  'import-report.json',
]);

/** USAGE for an --out that holds something, unless it is an earlier data set and `force`; ENVIRONMENT where nothing can be written. */
export async function refuseOutput(out: string, force: boolean): Promise<void> {
  await refuseReadOnly(out);
  const stats = await statOrUndefined(out);
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    throw new DocOptError('USAGE', `${out}: is a file; expected a new folder`, { hint: 'Choose another --out.' });
  }
  const entries = await readdir(out);
  if (entries.length === 0) return;
  const foreign = entries.filter((entry) => !DATASET_FILES.has(entry));
  if (foreign.length > 0) {
    throw new DocOptError('USAGE', `${out}: the folder holds '${foreign[0]}', which is no part of a data set`, {
      hint: 'Choose another --out.',
    });
  }
  if (!force) {
    throw new DocOptError('USAGE', `${out}: the folder exists and is not empty`, {
      hint: 'Choose another --out, or replace it with --force.',
    });
  }
}

/** Said before the work is done, not after. */
async function refuseReadOnly(out: string): Promise<void> {
  let parent = dirname(resolve(out));
  while ((await statOrUndefined(parent)) === undefined) parent = dirname(parent);
  if (await isWritable(parent)) return;
  throw new DocOptError('ENVIRONMENT', `${out}: cannot be made, ${parent} is read-only`, {
    hint: 'Choose another --out.',
  });
}
