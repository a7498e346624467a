import { createReadStream, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { dataError } from './problem.ts';

const BLOCK = 1 << 20;

export const isGzip = (path: string): boolean => path.endsWith('.gz');

/** What is at the path; undefined when nothing is. */
export async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** The file's stat; a DATA error when it is missing or a folder. `what` names it for people: "a qrels file". */
export async function expectFile(path: string, what: string): Promise<Stats> {
  const stats = await statOrUndefined(path);
  if (stats === undefined) throw dataError(path, `no such file; expected ${what}`, 'Check the path.');
  if (stats.isDirectory()) throw dataError(path, `is a folder; expected ${what}`, 'Give the path of the file itself.');
  return stats;
}

/**
 * The bytes of a file in order, `.gz` unpacked. Each chunk is valid only until the next one is asked for: the buffer is
 * used again.
 */
export async function* byteChunks(path: string): AsyncGenerator<Buffer> {
  if ((await statOrUndefined(path))?.isDirectory())
    throw dataError(path, 'is a folder; expected a file', 'Move it away, or name the file itself.');
  if (isGzip(path)) {
    yield* gunzipChunks(path);
    return;
  }
  const file = await open(path, 'r');
  try {
    // Two blocks in turn: the next one is read while the caller works on this one.
    let block = Buffer.allocUnsafeSlow(BLOCK);
    let spare = Buffer.allocUnsafeSlow(BLOCK);
    let reading = file.read(block, 0, BLOCK, null);
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) return;
      reading = file.read(spare, 0, BLOCK, null);
      reading.catch(() => {}); // Seen by the next await, unless the caller stops before.
      yield block.subarray(0, bytesRead);
      [block, spare] = [spare, block];
    }
  } finally {
    await file.close();
  }
}

async function* gunzipChunks(path: string): AsyncGenerator<Buffer> {
  const source = createReadStream(path, { highWaterMark: BLOCK });
  const unzipped = createGunzip({ chunkSize: BLOCK });
  source.on('error', (error) => unzipped.destroy(error));
  source.pipe(unzipped);
  try {
    for await (const chunk of unzipped) yield chunk as Buffer;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw error;
    const message =
      code === 'Z_BUF_ERROR'
        ? 'the gzip file ends too early (truncated)'
        : `not a readable gzip file (${(error as Error).message})`;
    throw dataError(path, message, 'Copy or download the file again, or unpack it and give the unpacked file.', error);
  } finally {
    source.destroy();
    unzipped.destroy();
  }
}
