import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DocOptError } from '../errors.ts';
import { compareIds } from '../kernels/compare.ts';
import type { Query } from '../types.ts';
import { removeLeftovers, syncFolder, temporaryName, writeDurably } from './atomic.ts';
import { expectFile, statOrUndefined } from './bytes.ts';
import { scanTextLines } from './lines.ts';
import { makeFolder } from './make-folder.ts';
import { type Report, strictReport } from './problem.ts';
import type { QuerySplit, SplitOptions } from './splits.ts';

export const PARTS = ['train', 'dev', 'test'] as const;

/** A split as its folder has it; the settings are there when this project made it. */
export interface SavedSplit {
  readonly train: string[];
  /** undefined: no dev.txt, which is not the same as an empty one. */
  readonly dev: string[] | undefined;
  readonly test: string[];
  readonly settings: SplitOptions;
}

/** The query ids of a file, one a line, ascending. Throws DATA for ids that the data set does not have. */
export async function readQueryIds(file: string, queries: readonly Query[]): Promise<string[]> {
  return scanQueryIds(file, new Set(queries.map(({ id }) => id)), strictReport());
}

/** Like readQueryIds, reporting unknown and repeated ids. */
export async function scanQueryIds(file: string, known: ReadonlySet<string>, report: Report): Promise<string[]> {
  await expectFile(file, 'a file of query ids, one a line');
  const seen = new Set<string>();
  await scanTextLines(file, report, (text, line) => {
    const id = text.trim();
    if (!known.has(id) || seen.has(id)) {
      const message = seen.has(id) ? `query id '${id}' for the second time` : `unknown query id '${id}'`;
      const hint = 'When the queries changed, make a new split: docopt dataset split DATA --force';
      report({ severity: 'error', file, line, id, message, hint });
    } else seen.add(id);
  });
  return [...seen].sort(compareIds);
}

/** The split saved in a folder; undefined when there is none. DATA when train.txt or test.txt is missing or parts overlap. */
export async function readSplit(folder: string, queries: readonly Query[]): Promise<SavedSplit | undefined> {
  const files = PARTS.map((part) => join(folder, `${part}.txt`));
  const present = await Promise.all(files.map(statOrUndefined));
  if (present.every((stats) => stats === undefined)) return undefined;
  const train = await readQueryIds(files[0], queries);
  const dev = present[1] === undefined ? undefined : await readQueryIds(files[1], queries);
  const test = await readQueryIds(files[2], queries);
  checkDisjoint({ train, dev: dev ?? [], test }, folder);
  return { train, dev, test, settings: await readSettings(folder) };
}

/**
 * Saves a split as train.txt, dev.txt, test.txt and split.json (its settings), all at once: written aside, then renamed,
 * so that a killed run leaves no half split. Without `replace` a folder that is there already stays: the answer is false.
 */
export async function saveSplit(
  folder: string,
  parts: QuerySplit,
  settings: SplitOptions,
  replace: boolean,
): Promise<boolean> {
  if (replace) await refuseOtherFiles(folder);
  await removeLeftovers(folder);
  const temporary = temporaryName(folder);
  const old = temporaryName(folder);
  await makeFolder(dirname(folder));
  try {
    await makeFolder(temporary);
    for (const part of PARTS) {
      const lines = parts[part].map((id) => `${id}\n`);
      await writeDurably(join(temporary, `${part}.txt`), lines);
    }
    await writeDurably(join(temporary, 'split.json'), [`${JSON.stringify(settings, null, 2)}\n`]);
    if (replace && (await statOrUndefined(folder))) await rename(folder, old);
    await rename(temporary, folder);
  } catch (error) {
    if (!replace && (await statOrUndefined(folder))) return false;
    throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
  await syncFolder(dirname(folder));
  return true;
}

/** Replacing a folder removes what is in it, so there may be nothing but a split. */
async function refuseOtherFiles(folder: string): Promise<void> {
  const stats = await statOrUndefined(folder);
  if (stats === undefined) return;
  const ours = new Set(['split.json', ...PARTS.map((part) => `${part}.txt`)]);
  const other = stats.isDirectory() ? (await readdir(folder)).find((name) => !ours.has(name)) : '';
  if (other === undefined) return;
  const message = other === '' ? `${folder} is a file; expected a folder` : `${folder} holds other files (${other})`;
  throw new DocOptError('USAGE', message, { hint: 'Choose another --out for the split files.' });
}

/** A query in two parts makes results too good: DATA. */
export function checkDisjoint(parts: QuerySplit, where: string): void {
  const seen = new Map<string, string>();
  for (const part of PARTS) {
    for (const id of parts[part]) {
      const other = seen.get(id);
      if (other !== undefined) {
        const hint = 'A query may be in one part only; results would be too good otherwise.';
        throw new DocOptError('DATA', `${where}: query '${id}' is in ${other} and in ${part}`, { hint });
      }
      seen.set(id, part);
    }
  }
}

async function readSettings(folder: string): Promise<SplitOptions> {
  try {
    return JSON.parse(await readFile(join(folder, 'split.json'), 'utf8'));
  } catch {
    return {}; // A split made by hand says nothing of settings.
  }
}
