/**
 * What was rewritten so far, by content: one JSON line per document, flushed before it counts. A run that is killed
 * starts again from here and asks the policy for nothing twice. The last line may be cut; it is then ignored.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, open, rm, truncate } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Rewrite, RewriteStatus } from './rewriter.ts';

export interface Journal {
  /** Entries found when it was opened. */
  readonly recovered: number;
  get(key: string): Rewrite | undefined;
  append(entries: readonly (readonly [key: string, rewrite: Rewrite])[]): Promise<void>;
  close(): Promise<void>;
  /** Delete it: the artefact now holds everything. */
  remove(): Promise<void>;
}

/** Everything that decides a rewrite, hashed: policy, settings and source text. */
export function rewriteKey(policyFingerprint: string, settings: string, source: string): string {
  return createHash('sha256')
    .update(policyFingerprint)
    .update('\0')
    .update(settings)
    .update('\0')
    .update(source)
    .digest('base64url');
}

export async function openJournal(path: string): Promise<Journal> {
  const known = new Map<string, Rewrite>();
  if (existsSync(path)) {
    const intact = await readEntries(path, known);
    // A cut last line would otherwise swallow the first line appended behind it.
    await truncate(path, intact);
  }
  const recovered = known.size;
  const file: FileHandle = await open(path, 'a');
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
        const lines = entries.map(([key, r]) => `${JSON.stringify([key, r.status, r.reason, r.text])}\n`).join('');
        await file.appendFile(lines);
        await file.datasync();
        for (const [key, rewrite] of entries) known.set(key, rewrite);
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
async function readEntries(path: string, known: Map<string, Rewrite>): Promise<number> {
  let intact = 0;
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    try {
      const [key, status, reason, text] = JSON.parse(line) as [string, RewriteStatus, string, string];
      known.set(key, { text, status, reason });
    } catch {
      break;
    }
    intact += Buffer.byteLength(line) + 1;
  }
  const { size } = await import('node:fs').then((fs) => fs.statSync(path));
  return Math.min(intact, size);
}
