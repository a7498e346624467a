import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { writeFileAtomic } from './atomic.ts';
import { isGzip } from './bytes.ts';

/** Writes one JSON value a line, atomically; packed when the name ends in .gz. */
export async function writeJsonl(path: string, values: Iterable<unknown> | AsyncIterable<unknown>): Promise<void> {
  const lines = toLines(values);
  if (!isGzip(path)) return writeFileAtomic(path, lines);
  const packed = createGzip();
  const source = Readable.from(lines);
  source.on('error', (error) => packed.destroy(error));
  await writeFileAtomic(path, source.pipe(packed));
}

async function* toLines(values: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}
