import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compareIds } from '../kernels/compare.ts';
import { statOrUndefined } from './bytes.ts';
import { dataError } from './problem.ts';
import { decodeUtf8 } from './utf8.ts';

export interface SourceFolderOptions {
  /** Endings that count, with their dot: ['.js', '.py']. Other files are not even mentioned. */
  readonly extensions: readonly string[];
  /** Larger files are skipped. */
  readonly maxFileBytes: number;
}

/** The source files below a folder, in order of path. Paths are relative to it, with `/`. */
export interface SourceFolder {
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Folders (with a `/` at the end) and files left out. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** The text of a file without its byte order mark, or why it is not read. */
  read(path: string): Promise<{ readonly text: string } | { readonly skipped: string }>;
}

/** Other people's code. Give such a folder itself as the root to read it. */
const FOREIGN_FOLDERS: ReadonlyMap<string, string> = new Map([
  ['node_modules', 'dependencies'],
  ['bower_components', 'dependencies'],
  ['jspm_packages', 'dependencies'],
  ['site-packages', 'dependencies'],
  ['venv', 'dependencies'],
  ['vendor', 'vendored code'],
  ['third_party', 'vendored code'],
  ['__pycache__', 'compiled files'],
]);

/**
 * Lists the source files of a folder. Symbolic links are not followed (a link may lead back up, or to a copy); hidden
 * folders and dependencies are left out; what cannot be read is named, not fatal.
 * @throws DATA when the folder itself is missing, a file, or unreadable
 */
export async function openSourceFolder(folder: string, options: SourceFolderOptions): Promise<SourceFolder> {
  const stats = await statOrUndefined(folder);
  if (stats === undefined) throw dataError(folder, 'no such folder', 'Check the path.');
  if (!stats.isDirectory()) {
    throw dataError(folder, 'is a file; expected a folder with source code', 'Give the folder that holds it.');
  }
  const files: { path: string; bytes: number }[] = [];
  const skipped: { path: string; reason: string }[] = [];
  const isSource = (name: string): boolean => options.extensions.some((extension) => name.endsWith(extension));

  const pending = [''];
  while (pending.length > 0) {
    const prefix = pending.pop()!;
    let entries: Dirent[];
    try {
      entries = await readdir(join(folder, prefix), { withFileTypes: true });
    } catch (error) {
      if (prefix === '') throw dataError(folder, `cannot be read (${codeOf(error)})`, 'Check its permissions.', error);
      skipped.push({ path: prefix, reason: `cannot be read (${codeOf(error)})` });
      continue;
    }
    for (const entry of entries) {
      const path = prefix + entry.name;
      if (entry.isSymbolicLink()) {
        if (isSource(entry.name) || !entry.name.includes('.')) skipped.push({ path, reason: 'a symbolic link' });
      } else if (entry.isDirectory()) {
        const reason = entry.name.startsWith('.') ? 'hidden' : FOREIGN_FOLDERS.get(entry.name);
        if (reason === undefined) pending.push(`${path}/`);
        else skipped.push({ path: `${path}/`, reason });
      } else if (entry.isFile() && isSource(entry.name)) {
        const bytes = await sizeOf(join(folder, path));
        if (bytes === undefined) skipped.push({ path, reason: 'cannot be read' });
        else if (bytes > options.maxFileBytes) {
          skipped.push({ path, reason: `larger than ${options.maxFileBytes.toLocaleString('en')} bytes` });
        } else files.push({ path, bytes });
      }
    }
  }
  files.sort((a, b) => compareIds(a.path, b.path));
  skipped.sort((a, b) => compareIds(a.path, b.path));
  return { files, skipped, read: (path) => readSource(join(folder, path)) };
}

async function readSource(file: string): Promise<{ text: string } | { skipped: string }> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    return { skipped: `cannot be read (${codeOf(error)})` };
  }
  if (bytes.includes(0)) return { skipped: 'binary, or not UTF-8' };
  const text = decodeUtf8(bytes);
  if (text === undefined) return { skipped: 'not UTF-8' };
  if (isMinified(text)) return { skipped: 'minified' };
  return { text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text };
}

/** More than half of it, and not just a line or two, lies in lines that nobody would write by hand. */
function isMinified(text: string): boolean {
  let long = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (end - start > 500) long += end - start;
    start = end + 1;
  }
  return long > Math.max(text.length / 2, 5000);
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
