/** Work that a dead process left: the journal of an artefact that never appeared, a training without its report. */
import { createReadStream, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { lockPath } from './artefact.ts';
import { journalPath } from './journal.ts';
import { isLocked } from './lock.ts';
import { kindFolder } from './workspace.ts';

/**
 * The artefact below `folder` that was begun last, never finished, is nobody's work now, and whose journal holds one of
 * the keys; undefined when there is none. A journal without any of them belongs to other work and is left alone.
 */
export async function findUnfinished(folder: string, keys: ReadonlySet<string>): Promise<string | undefined> {
  if (!existsSync(folder)) return undefined;
  const names = (await readdir(folder))
    .map((entry) => /^\.(.+)\.journal\.jsonl$/.exec(entry)?.[1])
    .filter((name) => name !== undefined)
    .sort()
    .reverse();
  for (const name of names) {
    const artefact = join(folder, name);
    if (existsSync(artefact) || (await isLocked(lockPath(artefact)))) continue;
    if (await holdsOneOf(journalPath(artefact), keys)) return artefact;
  }
  return undefined;
}

/** The training below `.docopt/` that was begun last, is nobody's work now and has no report; undefined when there is none. */
export async function unfinishedExperiment(projectFolder: string): Promise<string | undefined> {
  const root = kindFolder(projectFolder, 'experiment');
  if (!existsSync(root)) return undefined;
  for (const name of (await readdir(root)).sort().reverse()) {
    const folder = join(root, name);
    const begun = existsSync(join(folder, 'config.json')) && !existsSync(join(folder, 'report.json'));
    if (begun && !(await isLocked(join(folder, 'lock')))) return folder;
  }
  return undefined;
}

async function holdsOneOf(path: string, keys: ReadonlySet<string>): Promise<boolean> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) {
      // Keys are hashes and stand first; what stands behind them need not be read.
      const key = /^\["([^"\\]+)"/.exec(line)?.[1];
      if (key !== undefined && keys.has(key)) return true;
    }
    return false;
  } finally {
    lines.close();
  }
}
