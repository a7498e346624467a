/** One writer at a time: a lock file that names its process. A lock whose process is gone is taken over. */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { writeFault } from '../data/write-fault.ts';
import { DocOptError } from '../errors.ts';

export interface Lock {
  /** Idempotent. */
  release(): Promise<void>;
}

/** Locks of this very process: after a restart a new process may carry the number of the dead one. */
const held = new Set<string>();

/** Throws ENVIRONMENT when a living process holds the lock, or when it cannot be written. */
export async function acquireLock(path: string, purpose: string): Promise<Lock> {
  const own = JSON.stringify({ pid: process.pid, host: hostname(), since: new Date().toISOString(), purpose });
  for (let attempt = 0; attempt < 5; attempt++) {
    if (await createWhole(path, own)) {
      held.add(path);
      return {
        release: async () => {
          held.delete(path);
          await rm(path, { force: true });
        },
      };
    }
    const found = await readFile(path, 'utf8').catch(() => undefined);
    if (found === undefined) continue; // Released in the meantime.
    const holder = parseHolder(found);
    if (holder !== undefined && isAlive(holder, path)) {
      throw new DocOptError(
        'ENVIRONMENT',
        `another process (pid ${holder.pid} on ${holder.host}, since ${holder.since}) is ${holder.purpose}`,
        {
          hint: `Wait for it, or choose another --out. If it is surely gone, delete ${path}.`,
        },
      );
    }
    await takeAway(path, found);
  }
  throw new DocOptError('ENVIRONMENT', `could not take the lock ${path}`, {
    hint: 'Another process keeps taking it; try again.',
  });
}

/** Whether a living process holds the lock. */
export async function isLocked(path: string): Promise<boolean> {
  const found = await readFile(path, 'utf8').catch(() => undefined);
  const holder = found === undefined ? undefined : parseHolder(found);
  return holder !== undefined && isAlive(holder, path);
}

/** The file with all of its content, or false when there is one already: nobody ever reads half a lock. */
async function createWhole(path: string, content: string): Promise<boolean> {
  const temporary = `${path}-${randomUUID().slice(0, 8)}`;
  try {
    await writeFile(temporary, content, { flag: 'wx' });
    await link(temporary, path);
    return true;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // Some file systems have no hard links; there the moment between making and filling the file has to do.
    if (syscall === 'link' && (code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS')) {
      return writeFile(path, content, { flag: 'wx' }).then(
        () => true,
        (second) => {
          if ((second as NodeJS.ErrnoException).code === 'EEXIST') return false;
          throw writeFault(path, second);
        },
      );
    }
    throw writeFault(path, error);
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

/** Removes the dead lock that was read; one that a faster process put in its place meanwhile is put back. */
async function takeAway(path: string, dead: string): Promise<void> {
  const aside = `${path}-${randomUUID().slice(0, 8)}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw writeFault(path, error);
  }
  if ((await readFile(aside, 'utf8')) !== dead) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

interface Holder {
  pid: number;
  host: string;
  since: string;
  purpose: string;
}

/** undefined for what no writer of ours left whole. */
function parseHolder(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Holder;
    return typeof holder.pid === 'number' ? holder : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder, path: string): boolean {
  if (holder.host !== hostname()) return true;
  if (holder.pid === process.pid) return held.has(path);
  try {
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
