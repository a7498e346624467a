import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { writeFault } from './write-fault.ts';

/** Machines that share a file system clean up after themselves only. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 4);
const SUFFIX = /\.tmp-([0-9a-f]{4})-(\d+)-[0-9a-f]{6}$/;

/** Of this very process: after a restart a new process may carry the number of the dead one. */
const own = new Set<string>();

/** A name beside the path, on the same file system so that rename is atomic. It says whose it is. */
export function temporaryName(path: string): string {
  const name = `${path}.tmp-${HOST}-${process.pid}-${randomUUID().slice(0, 6)}`;
  own.add(basename(name));
  return name;
}

/** Removes what processes that were killed on this machine left beside the path. */
export async function removeLeftovers(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names) {
    const [suffix, host, pid] = SUFFIX.exec(name) ?? [];
    if (suffix === undefined || name.slice(0, -suffix.length) !== basename(path)) continue;
    if (host === HOST && !own.has(name) && !isAlive(Number(pid))) {
      await rm(join(dirname(path), name), { recursive: true, force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Writes a file so that it is there whole or not at all: into a temporary file, flushed to disk, then renamed. Makes the
 * folder when it is missing. A failure removes the temporary file and leaves an earlier version as it was.
 */
export async function writeFileAtomic(
  path: string,
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  await makeFolder(dirname(path));
  await removeLeftovers(path);
  const temporary = temporaryName(path);
  try {
    await writeDurably(temporary, chunks);
    await rename(temporary, path).catch((error) => {
      throw writeFault(path, error);
    });
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Writes and flushes; strings are gathered into larger writes. */
export async function writeDurably(
  path: string,
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  const file = await open(path, 'wx').catch((error) => {
    throw writeFault(withoutSuffix(path), error);
  });
  try {
    let pending: string[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (pending.length > 0) await file.writeFile(pending.join(''));
      pending = [];
      size = 0;
    };
    for await (const chunk of chunks) {
      if (typeof chunk === 'string') {
        pending.push(chunk);
        size += chunk.length;
        if (size > 1 << 18) await flush();
      } else {
        await flush();
        await file.writeFile(chunk);
      }
    }
    await flush();
    await file.sync();
  } catch (error) {
    // What failed may also be a read, by whoever makes the chunks.
    const { syscall } = error as NodeJS.ErrnoException;
    throw syscall === 'write' || syscall === 'fsync' ? writeFault(withoutSuffix(path), error) : error;
  } finally {
    await file.close();
  }
}

/** The name that people know: of the file or folder that will stand there. */
function withoutSuffix(path: string): string {
  return path.replace(/\.tmp-[0-9a-f]{4}-\d+-[0-9a-f]{6}/, '');
}

/** Makes a rename durable; platforms that cannot flush a folder lose nothing but that. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Windows cannot open folders.
  }
}

/** Whether files may be made in a folder. A folder whose write bits were all taken away is read-only for root, too. */
export async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK);
    return ((await stat(folder)).mode & 0o222) !== 0;
  } catch {
    return false;
  }
}
