import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DocOptError } from '../errors.ts';
import { removeLeftovers, syncFolder, temporaryName, writeDurably } from './atomic.ts';
import { statOrUndefined } from './bytes.ts';
import { makeFolder } from './make-folder.ts';

/** Writes one file of the folder; `name` may lie in a folder inside it. */
export type WriteInside = (
  name: string,
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
) => Promise<void>;

/**
 * A folder that appears whole or not at all. One that holds anything already is refused with USAGE, or with `replace` stays
 * until the new one is complete.
 */
export async function writeFolder(
  folder: string,
  fill: (write: WriteInside) => Promise<void>,
  { replace = false }: { replace?: boolean } = {},
): Promise<void> {
  if (!replace) await refuseContent(folder);
  await makeFolder(dirname(folder));
  await removeLeftovers(folder);
  const temporary = temporaryName(folder);
  const inner = new Set<string>();
  try {
    await makeFolder(temporary);
    await fill(async (name, chunks) => {
      const path = join(temporary, name);
      if (dirname(path) !== temporary) inner.add(dirname(path));
      await makeFolder(dirname(path));
      await writeDurably(path, chunks);
    });
    for (const path of inner) await syncFolder(path);
    await syncFolder(temporary);
    if (replace) await putInPlace(temporary, folder);
    else {
      await refuseContent(folder);
      // Renaming over an empty folder is not possible everywhere.
      if (await statOrUndefined(folder)) await rmdir(folder);
      await rename(temporary, folder);
    }
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
  await syncFolder(dirname(folder));
}

async function putInPlace(temporary: string, folder: string): Promise<void> {
  const earlier = temporaryName(folder);
  const stood = (await statOrUndefined(folder)) !== undefined;
  if (stood) await rename(folder, earlier);
  await rename(temporary, folder);
  if (stood) await rm(earlier, { recursive: true, force: true });
}

async function refuseContent(folder: string): Promise<void> {
  const stats = await statOrUndefined(folder);
  if (stats === undefined || (stats.isDirectory() && (await readdir(folder)).length === 0)) return;
  const what = stats.isDirectory() ? 'the folder exists and is not empty' : 'is a file; expected a new folder';
  throw new DocOptError('USAGE', `${folder}: ${what}`, { hint: 'Choose another --out, or remove it first.' });
}
