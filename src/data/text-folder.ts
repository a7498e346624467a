import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compareIds } from '../kernels/compare.ts';
import type { Document } from '../types.ts';
import { byteChunks } from './bytes.ts';
import { pathToId } from './list-files.ts';
import { isTextFile } from './locate.ts';
import type { Report } from './problem.ts';
import { badUtf8Offset, decodeUtf8 } from './utf8.ts';

/**
 * Each text file under a folder as a document, in order of path. The id is the path below the folder with `/`, white
 * space and `%` written as in a URL (ids cannot have white space); the path itself is kept as metadata.path.
 * Hidden files and folders and node_modules are left out.
 */
export async function scanTextFolder(
  folder: string,
  report: Report,
  visit: (document: Document, file: string) => void,
): Promise<void> {
  for (const path of await listTextFiles(folder, '')) {
    const file = join(folder, path);
    const text = await readText(file, report);
    if (text !== undefined) visit({ id: pathToId(path), title: '', text, metadata: { path } }, file);
  }
}

async function listTextFiles(folder: string, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    // A link to a folder may lead back up: only links to files are followed.
    if (entry.isDirectory()) found.push(...(await listTextFiles(folder, path)));
    else if (isTextFile(entry.name) && (entry.isFile() || (await isLinkToFile(join(folder, path))))) found.push(path);
  }
  return prefix === '' ? found.sort(compareIds) : found;
}

async function isLinkToFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function readText(file: string, report: Report): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of byteChunks(file)) chunks.push(Buffer.from(chunk));
  let bytes = Buffer.concat(chunks);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
  const text = decodeUtf8(bytes);
  if (text !== undefined) return text;
  const message = `bad UTF-8 at byte ${badUtf8Offset(bytes)}`;
  report({
    severity: 'error',
    file,
    line: null,
    id: null,
    message,
    hint: 'Convert the file to UTF-8, or move it away when it is not text.',
  });
  return undefined;
}
