import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { writeFault } from './write-fault.ts';

/**
 * A name beside the path, on the same file system so that rename is atomic. Random: a process id may come again after a
 * kill that left its temporary file.
 */
export function temporaryName(path: string): string {
  return `${path}.tmp-${randomUUID().slice(0, 8)}`;
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
  return path.replace(/\.tmp-[0-9a-f]{8}/, '');
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
