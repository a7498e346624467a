/**
 * `.docopt/` beside the configuration file: default places for artefacts and a note of the latest of each kind, so that
 * after a training bare `docopt rewrite-corpus` and `morph serve` know what to take.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { writeFileAtomic } from '../data/atomic.ts';
import { lockPath } from './artefact.ts';

export type ArtefactKind = 'experiment' | 'corpus' | 'index';

const FOLDERS: Readonly<Record<ArtefactKind, string>> = {
  experiment: 'experiments',
  corpus: 'corpora',
  index: 'indexes',
};

/** By which a later command is given one. */
const FLAGS: Readonly<Record<ArtefactKind, string>> = { experiment: 'policy', corpus: 'corpus', index: 'index' };

/** Where artefacts of a kind lie that nobody chose a place for. */
export function kindFolder(projectFolder: string, kind: ArtefactKind): string {
  return join(projectFolder, '.docopt', FOLDERS[kind]);
}

/** A new default folder: .docopt/corpora/20260131-142501. */
export function defaultFolder(projectFolder: string, kind: ArtefactKind, now: Date): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const base = join(kindFolder(projectFolder, kind), stamp);
  for (let n = 1; ; n++) {
    const folder = n === 1 ? base : `${base}-${n}`;
    // Somebody who began in the same second has no folder yet.
    if (!existsSync(folder) && !existsSync(lockPath(folder))) return folder;
  }
}

/**
 * Remembers the newest artefact of a kind, wherever --out put it. With `warn`, a place that cannot be written is no
 * failure: the artefact is there, and only has to be named by later commands.
 */
export async function rememberLatest(
  projectFolder: string,
  kind: ArtefactKind,
  folder: string,
  warn?: (message: string) => void,
): Promise<void> {
  const notes = readNotes(projectFolder);
  const inside = relative(projectFolder, resolve(folder));
  notes[kind] = inside.startsWith('..') || isAbsolute(inside) ? resolve(folder) : inside;
  try {
    await writeFileAtomic(notesPath(projectFolder), [`${JSON.stringify(notes, null, 2)}\n`]);
  } catch (error) {
    if (warn === undefined) throw error;
    warn(
      `the ${kind} is finished but not noted as the latest, name it with --${FLAGS[kind]}: ${(error as Error).message}`,
    );
  }
}

/** The latest finished artefact of a kind, or undefined when there is none or it is gone. */
export function latest(projectFolder: string, kind: ArtefactKind): string | undefined {
  const noted = readNotes(projectFolder)[kind];
  if (noted === undefined) return undefined;
  const folder = resolve(projectFolder, noted);
  return existsSync(folder) ? folder : undefined;
}

function notesPath(projectFolder: string): string {
  return join(projectFolder, '.docopt', 'latest.json');
}

function readNotes(projectFolder: string): Partial<Record<ArtefactKind, string>> {
  try {
    return JSON.parse(readFileSync(notesPath(projectFolder), 'utf8')) as Partial<Record<ArtefactKind, string>>;
  } catch {
    return {};
  }
}
