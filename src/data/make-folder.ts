import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DocOptError } from '../errors.ts';
import { statOrUndefined } from './bytes.ts';
import { writeFault } from './write-fault.ts';

/**
 * Makes a folder, and the missing ones above it, one by one: `mkdir` with `recursive` never returns where the system
 * denies that an existing folder exists, as /proc does. Throws ENVIRONMENT naming what stands in the way.
 */
export async function makeFolder(path: string): Promise<void> {
  const missing: string[] = [];
  let current = resolve(path);
  let stats = await statOrUndefined(current);
  while (stats === undefined && dirname(current) !== current) {
    missing.push(current);
    current = dirname(current);
    stats = await statOrUndefined(current);
  }
  if (stats?.isDirectory() === false) throw fileInTheWay(current);
  for (const folder of missing.reverse()) {
    try {
      await mkdir(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw writeFault(folder, error);
      // Another process was faster, which is as good.
      if ((await statOrUndefined(folder))?.isDirectory() !== true) throw fileInTheWay(folder);
    }
  }
}

function fileInTheWay(path: string): DocOptError {
  return new DocOptError('ENVIRONMENT', `${path} is a file, a folder is wanted there`, {
    hint: 'Choose another place, or move the file away.',
  });
}
