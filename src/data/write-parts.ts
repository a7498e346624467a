import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { writeFileAtomic } from './atomic.ts';

/** PATH.0001, PATH.0002, ... */
export function partPath(path: string, number: number): string {
  return `${path}.${String(number).padStart(4, '0')}`;
}

/**
 * Records into files of at most `partBytes` each, cut between records only; one that is longer has a file to itself. Each
 * file is there whole or not at all. Parts of an earlier, longer export that follow the last one are removed. Returns the paths.
 */
export async function writeParts(path: string, records: AsyncIterable<string>, partBytes: number): Promise<string[]> {
  const paths: string[] = [];
  let part: string[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const file = partPath(path, paths.length + 1);
    await writeFileAtomic(file, part);
    paths.push(file);
    [part, bytes] = [[], 0];
  };
  for await (const record of records) {
    const length = Buffer.byteLength(record);
    if (part.length > 0 && bytes + length > partBytes) await flush();
    part.push(record);
    bytes += length;
  }
  if (part.length > 0 || paths.length === 0) await flush();
  for (let n = paths.length + 1; existsSync(partPath(path, n)); n++) await rm(partPath(path, n));
  return paths;
}
