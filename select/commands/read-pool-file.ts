import { readFile, stat } from 'node:fs/promises';
import { badUtf8Offset, decodeUtf8 } from '../../src/data/utf8.ts';
import { DocOptError } from '../../src/errors.ts';
import { type PoolDocuments, parsePool } from '../pool-file.ts';

/** A pool file from disk. DATA with what is wrong and where, USAGE when there is no such file. */
export async function readPoolFile(path: string): Promise<PoolDocuments> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) {
    throw new DocOptError('USAGE', `the pool file '${path}' does not exist`, {
      hint: 'Check the path. (A number means the pool size over an index: --pool 500.)',
    });
  }
  if (info.isDirectory()) {
    throw new DocOptError('USAGE', `'${path}' is a folder; --pool wants a JSON file`, {
      hint: 'For an index folder: morph select --index INDEX "text"',
    });
  }
  const bytes = await readFile(path);
  const text = decodeUtf8(bytes)?.replace(/^\uFEFF/, '');
  if (text === undefined) {
    throw new DocOptError('DATA', `${path}: bad UTF-8 at byte ${badUtf8Offset(bytes)}`, {
      hint: 'Convert the file to UTF-8, e.g. with: iconv -f latin1 -t utf-8',
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const isNumber = /\b(NaN|Infinity)\b/.test(text);
    throw new DocOptError('DATA', `${path}: not JSON: ${(error as Error).message}`, {
      hint: isNumber ? 'NaN and Infinity are no JSON; a failed score is written null.' : 'Write the file again.',
      cause: error,
    });
  }
  return parsePool(value, path);
}
