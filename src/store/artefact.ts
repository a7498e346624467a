/**
 * Artefacts: write-once folders. Content goes into a hidden sibling folder; the manifest is written last; one rename
 * makes it visible. A build that died leaves only the hidden folder, which nobody opens and the next build removes.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { makeFolder } from '../data/make-folder.ts';
import { writeFault } from '../data/write-fault.ts';
import { DocOptError } from '../errors.ts';
import type { ArtefactReader, ArtefactWriter } from '../ports.ts';
import { version } from '../run/version.ts';
import type { Manifest } from '../types.ts';
import { acquireLock } from './lock.ts';
import { FORMATS, isArtefact, MANIFEST, REMEDY, readManifest } from './manifest.ts';

export { MANIFEST } from './manifest.ts';

export interface ArtefactDraft extends ArtefactWriter {
  /** Hashes everything written, writes the manifest, and makes the folder visible. */
  finish(facts: { parents?: Record<string, string>; info?: Record<string, unknown> }): Promise<Manifest>;
  /** Throws away what was written. Safe to call after finish. */
  discard(): Promise<void>;
}

/**
 * Starts an artefact at `folder`, which must not hold one yet (unless `replace`). Throws ENVIRONMENT when the place
 * cannot be written or another process is building there.
 */
export async function createArtefact(
  folder: string,
  kind: Manifest['kind'],
  options: { replace?: boolean } = {},
): Promise<ArtefactDraft> {
  const target = resolve(folder);
  const draft = besidePath(target, 'partial');
  await refuseOccupied(target, options.replace === true);
  await makeFolder(dirname(target));
  const lock = await acquireLock(lockPath(target), `building ${target}`);
  try {
    await restoreReplaced(draft, target);
    await refuseOccupied(target, options.replace === true);
    await rm(draft, { recursive: true, force: true });
    await makeFolder(draft);
  } catch (error) {
    await lock.release();
    throw error;
  }

  const pathOf = (name: string): string => join(draft, checkedName(name));
  const writeStream = async (
    name: string,
    chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  ): Promise<void> => {
    const path = pathOf(name);
    await makeFolder(dirname(path));
    const fault = (error: unknown): unknown => writeFault(join(target, name), error);
    const file = await open(path, 'w').catch((error) => {
      throw fault(error);
    });
    try {
      for await (const chunk of gathered(chunks)) {
        await file.writeFile(chunk).catch((error) => {
          throw fault(error);
        });
      }
      await file.sync().catch((error) => {
        throw fault(error);
      });
    } finally {
      await file.close();
    }
  };

  return {
    path: pathOf,
    write: (name, content) => writeStream(name, [content]),
    writeStream,
    async finish({ parents = {}, info = {} }) {
      const files: Record<string, { bytes: number; sha256: string }> = {};
      for (const path of (await listFiles(draft)).sort()) {
        files[relative(draft, path).split(sep).join('/')] = {
          bytes: (await stat(path)).size,
          sha256: await hashFile(path),
        };
      }
      const manifest: Manifest = {
        kind,
        format: FORMATS[kind],
        createdBy: `docopt-ir ${version}`,
        createdAt: new Date().toISOString(),
        fingerprint: fingerprintOf(kind, files),
        parents,
        files,
        info,
      };
      await writeStream(MANIFEST, [`${JSON.stringify(manifest, null, 2)}\n`]);
      await publish(draft, target, options.replace === true);
      await lock.release();
      return manifest;
    },
    async discard() {
      await rm(draft, { recursive: true, force: true });
      await lock.release();
    },
  };
}

/** The lock of whoever builds an artefact. */
export function lockPath(folder: string): string {
  return besidePath(resolve(folder), 'lock');
}

/** The manifest of a corpus artefact, undefined where plain data lies. Throws ARTEFACT for another kind of artefact. */
export async function corpusManifest(path: string): Promise<Manifest | undefined> {
  return (await isArtefact(path)) ? (await openArtefact(path, 'corpus')).manifest : undefined;
}

/**
 * Opens an artefact. Throws ARTEFACT when it is missing, unfinished, of another kind, of a newer format, or when a file
 * has not the size that its manifest names (`verify: true` also compares hashes).
 */
export async function openArtefact(
  folder: string,
  kind?: Manifest['kind'],
  options: { verify?: boolean } = {},
): Promise<ArtefactReader> {
  const manifest = await readManifest(folder, kind);
  for (const [name, { bytes, sha256 }] of Object.entries(manifest.files)) {
    const path = join(folder, checkedName(name));
    const size = existsSync(path) ? (await stat(path)).size : -1;
    const damaged = size !== bytes || (options.verify === true && (await hashFile(path)) !== sha256);
    if (damaged) {
      throw new DocOptError(
        'ARTEFACT',
        `${path} ${size === -1 ? 'is missing' : size === bytes ? 'has changed' : `has ${size} bytes, expected ${bytes}`}`,
        {
          hint: `The ${manifest.kind} is damaged. Make it again with: ${REMEDY[manifest.kind]}`,
        },
      );
    }
  }
  const path = (name: string): string => join(folder, checkedName(name));
  return {
    manifest,
    folder,
    has: (name) => Object.hasOwn(manifest.files, name),
    path,
    bytes: (name) => manifest.files[name]?.bytes ?? 0,
    read: async (name) => new Uint8Array(await readFile(path(name))),
    stream: (name) => createReadStream(path(name), { highWaterMark: 1 << 20 }),
    readText: (name) => readFile(path(name), 'utf8'),
    readJson: async <T>(name: string) => parseJson<T>(await readFile(path(name), 'utf8'), path(name), manifest),
  };
}

/** sha256 over names and content hashes: equal content, equal fingerprint, whatever the time. */
export function fingerprintOf(kind: string, files: Readonly<Record<string, { sha256: string }>>): string {
  const hash = createHash('sha256').update(kind);
  for (const name of Object.keys(files).sort()) hash.update(`\n${name} ${files[name].sha256}`);
  return hash.digest('hex');
}

/** Only an artefact is ever replaced: a wrong --out must not cost anybody's files. */
async function refuseOccupied(target: string, replace: boolean): Promise<void> {
  if (!existsSync(target)) return;
  const info = await stat(target);
  if (!info.isDirectory())
    throw new DocOptError('USAGE', `${target} is a file, a folder is wanted there`, { hint: 'Choose another --out.' });
  const names = await readdir(target);
  if (names.length === 0 || (replace && names.includes(MANIFEST))) return;
  throw replace
    ? new DocOptError('USAGE', `${target} is not empty and holds no artefact that could be replaced`, {
        hint: 'Choose another --out.',
      })
    : new DocOptError('USAGE', `${target} exists and is not empty`, {
        hint: 'Artefacts are never changed in place: choose another --out, or pass --force to replace it.',
      });
}

/** A process that died between the two renames of `publish` left the old artefact aside. */
async function restoreReplaced(draft: string, target: string): Promise<void> {
  if (existsSync(asideName(draft)) && !existsSync(target)) await rename(asideName(draft), target);
}

const besidePath = (target: string, name: string): string => join(dirname(target), `.${basename(target)}.${name}`);
const asideName = (draft: string): string => `${draft}.old`;

function parseJson<T>(text: string, path: string, { kind }: Manifest): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new DocOptError('ARTEFACT', `${path} does not parse: ${(error as Error).message}`, {
      hint: `The ${kind} is damaged. Make it again with: ${REMEDY[kind]}`,
      cause: error,
    });
  }
}

/** The old artefact, if any, stays readable until the new one stands in its place. */
async function publish(draft: string, target: string, replace: boolean): Promise<void> {
  if (existsSync(target)) {
    const old = asideName(draft);
    await rm(old, { recursive: true, force: true });
    if (replace) {
      await rename(target, old);
      await rename(draft, target);
      await rm(old, { recursive: true, force: true });
      return;
    }
    await rm(target, { recursive: true });
  }
  await rename(draft, target);
  const folder = await open(dirname(target), 'r');
  await folder.sync().catch(() => {});
  await folder.close();
}

/** Rows of a corpus come one by one; a write for each would cost more than making it. */
const GATHER = 1 << 18;

async function* gathered(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  let pending = '';
  for await (const chunk of chunks) {
    if (typeof chunk !== 'string') {
      if (pending !== '') yield pending;
      pending = '';
      yield chunk;
    } else {
      pending += chunk;
      if (pending.length < GATHER) continue;
      yield pending;
      pending = '';
    }
  }
  if (pending !== '') yield pending;
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

/** Names come from manifests too, which are data: none may leave its folder. */
function checkedName(name: string): string {
  const parts = name.split(/[\\/]/);
  if (name === '' || name.startsWith('/') || parts.includes('..') || /^[A-Za-z]:/.test(name)) {
    throw new DocOptError('ARTEFACT', `file name '${name}' leaves the artefact's folder`, {
      hint: 'The manifest is damaged.',
    });
  }
  return name;
}
