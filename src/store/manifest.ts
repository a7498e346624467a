/** The manifest of an artefact: which kinds and formats there are, and whether a file is one. */
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocOptError } from '../errors.ts';
import type { Manifest } from '../types.ts';

export const MANIFEST = 'manifest.json';

/** Newest format of each kind that this build writes and reads; it reads all older ones from 1. */
export const FORMATS: Readonly<Record<Manifest['kind'], number>> = {
  corpus: 1,
  index: 1,
  experiment: 1,
  checkpoint: 1,
};

/** The command that makes an artefact of the kind. */
export const REMEDY: Readonly<Record<Manifest['kind'], string>> = {
  corpus: 'docopt rewrite-corpus --data DATA --policy POLICY --out CORPUS',
  index: 'docopt index --data DATA --retriever RETRIEVER --out INDEX',
  experiment: 'docopt train --data DATA --retriever RETRIEVER --out EXPERIMENT',
  checkpoint: 'docopt train --data DATA --retriever RETRIEVER --out EXPERIMENT',
};

/** Whether a folder holds a manifest of ours, be it damaged; other tools write files of that name, too. */
export async function isArtefact(folder: string): Promise<boolean> {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) return false;
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isObject(value) && isKind(value.kind) && 'format' in value;
  } catch {
    return true;
  }
}

/** The checked manifest of a folder. Throws ARTEFACT when it is missing, damaged, of another kind or of a newer format. */
export async function readManifest(folder: string, wanted?: Manifest['kind']): Promise<Manifest> {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) throw missing(folder, wanted);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new DocOptError('ARTEFACT', `${path} does not parse: ${(error as Error).message}`, {
      hint: wanted === undefined ? 'The artefact is damaged; make it again.' : `Make it again with: ${REMEDY[wanted]}`,
      cause: error,
    });
  }
  if (!isObject(value) || !isKind(value.kind) || !isCount(value.format) || value.format < 1) {
    throw new DocOptError('ARTEFACT', `${path} is no manifest of this project`, { hint: 'Check the path.' });
  }
  const { kind, format } = value;
  if (wanted !== undefined && kind !== wanted) {
    throw new DocOptError('ARTEFACT', `'${folder}' is of kind '${kind}', '${wanted}' is wanted`, {
      hint: `Make one with: ${REMEDY[wanted]}`,
    });
  }
  const newest = FORMATS[kind];
  if (format > newest) {
    const read = newest === 1 ? '1' : `1-${newest}`;
    throw new DocOptError('ARTEFACT', `${kind} '${folder}' has format ${format}; this build reads ${read}`, {
      hint: `Update docopt-ir, or rebuild it with: ${REMEDY[kind]}`,
    });
  }
  const wrong = wrongKey(value);
  if (wrong !== undefined) {
    throw new DocOptError('ARTEFACT', `${path}: '${wrong}' is missing or not what a manifest has there`, {
      hint: `The ${kind} is damaged. Make it again with: ${REMEDY[kind]}`,
    });
  }
  return value as unknown as Manifest;
}

function missing(folder: string, wanted: Manifest['kind'] | undefined): DocOptError {
  const what = wanted ?? 'artefact';
  const hint = wanted === undefined ? 'Check the path.' : `Make one with: ${REMEDY[wanted]}`;
  const found = !existsSync(folder)
    ? `${what} '${folder}' does not exist`
    : !statSync(folder).isDirectory()
      ? `'${folder}' is a file, the folder of a finished ${what} is wanted`
      : existsSync(join(folder, 'checkpoints'))
        ? `'${folder}' is a training, a finished ${what} is wanted`
        : `'${folder}' holds no ${MANIFEST}: it is no finished ${what}`;
  return new DocOptError('ARTEFACT', found, { hint });
}

/** The first key whose value a manifest cannot have. */
function wrongKey({ fingerprint, parents, info, files }: Record<string, unknown>): string | undefined {
  if (typeof fingerprint !== 'string') return 'fingerprint';
  if (!isObject(parents)) return 'parents';
  if (!isObject(info)) return 'info';
  if (!isObject(files)) return 'files';
  const isFile = (file: unknown) => isObject(file) && isCount(file.bytes) && typeof file.sha256 === 'string';
  const wrong = Object.keys(files).find((name) => !isFile(files[name]));
  return wrong === undefined ? undefined : `files.${wrong}`;
}

function isKind(value: unknown): value is Manifest['kind'] {
  return typeof value === 'string' && Object.hasOwn(FORMATS, value);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
