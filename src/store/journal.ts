/**
 * Answers that were paid for, by content: one JSON line each, flushed before it counts. A run that is killed starts again
 * from here and asks for nothing twice. What kill -9 cut off at the end is ignored and removed.
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { type FileHandle, open, rm, truncate } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { writeFault } from '../data/write-fault.ts';

export interface Journal<T> {
  /** Entries found when it was opened. */
  readonly recovered: number;
  get(key: string): T | undefined;
  /** Resolves once the entries are on disk. */
  append(entries: readonly (readonly [key: string, value: T])[]): Promise<void>;
  close(): Promise<void>;
  /** Delete it: the artefact now holds everything. */
  remove(): Promise<void>;
}

/** Where unfinished work on an artefact is kept: hidden beside it. */
export function journalPath(folder: string): string {
  const target = resolve(folder);
  return join(dirname(target), `.${basename(target)}.journal.jsonl`);
}

/** Opens or creates the journal at `path`. Values are whatever JSON carries. */
export async function openJournal<T>(path: string): Promise<Journal<T>> {
  const known = new Map<string, T>();
  // A cut last line would swallow the first line appended behind it.
  if (existsSync(path)) await truncate(path, await readEntries(path, known));
  const recovered = known.size;
  const file: FileHandle = await open(path, 'a').catch((error) => {
    throw writeFault(path, error);
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    await file.close();
  };
  // Batches finish in any order; their lines must not interleave.
  let queue: Promise<void> = Promise.resolve();
  return {
    recovered,
    get: (key) => known.get(key),
    append(entries) {
      queue = queue.then(async () => {
        try {
          await file.appendFile(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
          await file.datasync();
        } catch (error) {
          throw writeFault(path, error);
        }
        for (const [key, value] of entries) known.set(key, value);
      });
      return queue;
    },
    close,
    async remove() {
      await close();
      await rm(path, { force: true });
    },
  };
}

/** Fills `known`; returns the length in bytes of the intact part. */
async function readEntries<T>(path: string, known: Map<string, T>): Promise<number> {
  let intact = 0;
  let last = 0;
  let lastKey = '';
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    try {
      const [key, value] = JSON.parse(line) as [string, T];
      known.set(key, value);
      lastKey = key;
    } catch {
      break;
    }
    last = Buffer.byteLength(line) + 1;
    intact += last;
  }
  // A whole line without its line feed is cut too: the next append would run into it.
  if (intact > statSync(path).size) {
    intact -= last;
    known.delete(lastKey);
  }
  return intact;
}
