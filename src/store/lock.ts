/** One writer at a time: a lock file that names its process. A lock whose process is gone is taken over. */
import { open, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { DocOptError } from '../errors.ts';

export interface Lock {
  /** Idempotent. */
  release(): Promise<void>;
}

/** Locks of this very process: after a restart a new process may carry the number of the dead one. */
const held = new Set<string>();

/** Throws ENVIRONMENT when a living process holds the lock. */
export async function acquireLock(path: string, purpose: string): Promise<Lock> {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(
        JSON.stringify({ pid: process.pid, host: hostname(), since: new Date().toISOString(), purpose }),
      );
      await file.close();
      held.add(path);
      return {
        release: async () => {
          held.delete(path);
          await rm(path, { force: true });
        },
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const holder = await readHolder(path);
      if (holder !== undefined && isAlive(holder, path)) {
        throw new DocOptError(
          'ENVIRONMENT',
          `another process (pid ${holder.pid} on ${holder.host}, since ${holder.since}) is ${holder.purpose}`,
          {
            hint: `Wait for it, or choose another --out. If it is surely gone, delete ${path}.`,
          },
        );
      }
      await rm(path, { force: true });
    }
  }
  throw new DocOptError('ENVIRONMENT', `could not take the lock ${path}`, {
    hint: 'Another process keeps taking it; try again.',
  });
}

interface Holder {
  pid: number;
  host: string;
  since: string;
  purpose: string;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8')) as Holder;
    return typeof holder.pid === 'number' ? holder : undefined;
  } catch {
    // Empty or cut: its writer died between creating and filling it.
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
