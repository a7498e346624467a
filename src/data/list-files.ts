import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compareIds } from '../kernels/compare.ts';
import { dataError } from './problem.ts';

export interface ListedFiles {
  /** Paths below the folder, with `/`, ascending. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Left out, and why: links to folders (which may lead in a circle), broken links, folders that cannot be read. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * The files below a folder that `wanted` takes. Hidden files and folders and node_modules are left out; links to files are
 * followed, links to folders never.
 */
export async function listFiles(folder: string, wanted: (path: string) => boolean): Promise<ListedFiles> {
  const files: { path: string; bytes: number }[] = [];
  const skipped: { path: string; reason: string }[] = [];
  const pending = [''];
  while (pending.length > 0) {
    const prefix = pending.pop()!;
    let entries: Dirent[];
    try {
      entries = await readdir(join(folder, prefix), { withFileTypes: true });
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      if (prefix === '') throw dataError(folder, `cannot be read (${code})`, 'Check its permissions.', error);
      skipped.push({ path: prefix, reason: `cannot be read (${code})` });
      continue;
    }
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = `${prefix}${entry.name}`;
      if (entry.isDirectory()) {
        pending.push(`${path}/`);
        continue;
      }
      if (!entry.isFile() && !entry.isSymbolicLink()) continue;
      const found = await stat(join(folder, path)).catch((error: NodeJS.ErrnoException) => error);
      if (found instanceof Error) {
        if (wanted(path) || !entry.name.includes('.'))
          skipped.push({ path, reason: found.code === 'ELOOP' ? 'a link that leads in a circle' : 'a broken link' });
      } else if (found.isDirectory()) skipped.push({ path: `${path}/`, reason: 'a link to a folder' });
      else if (found.isFile() && wanted(path)) files.push({ path, bytes: found.size });
    }
  }
  const byPath = (a: { path: string }, b: { path: string }): number => compareIds(a.path, b.path);
  return { files: files.sort(byPath), skipped: skipped.sort(byPath) };
}

/** A path below a folder as an id: ids have no white space, so it is written as in a URL there. */
export function pathToId(path: string): string {
  return path.replace(/[%\s\p{Cc}]/gu, (character) => encodeURIComponent(character));
}
