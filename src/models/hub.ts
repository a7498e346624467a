/**
 * Models of the Hugging Face hub (or a mirror of it: HF_ENDPOINT), fetched once into the models folder. Each file is fetched
 * in pieces through the wire, goes on where it was interrupted, and is checked against the hub's own checksum. A finished
 * folder is opened without any connection.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileAtomic } from '../data/atomic.ts';
import { makeFolder } from '../data/make-folder.ts';
import { DocOptError } from '../errors.ts';
import { acquireLock, isLocked, type Lock } from '../store/lock.ts';
import { modelsFolder } from './models-folder.ts';
import { envOf, type ModelServices, wireOf } from './services.ts';

interface HubFile {
  readonly name: string;
  readonly size: number;
  /** sha256 of large files; git's blob sha1 of the others. */
  readonly checksum: string;
}

/** Bytes of one request: what an interruption can cost, and what is in memory. */
const PIECE = 16 << 20;
const DONE = 'hub.json';

export function isHubName(path: string): boolean {
  return path.startsWith('hf:');
}

/**
 * The folder of hf:ORG/NAME[@REVISION] with the files that `wanted` chooses of the repository's names. CONFIG for a name that
 * is none, what the wire throws, DATA when a file does not have its checksum.
 */
export async function hubFolder(
  name: string,
  wanted: (names: readonly string[]) => readonly string[],
  services: ModelServices = {},
): Promise<string> {
  const match = /^hf:([\w.-]+\/[\w.-]+)(?:@([\w./-]+))?$/.exec(name);
  if (match === null || name.includes('..')) {
    throw new DocOptError('CONFIG', `'${name}' names no model of the hub`, {
      hint: 'Expected hf:ORG/NAME or hf:ORG/NAME@REVISION.',
    });
  }
  const [, id, revision = 'main'] = match;
  const environment = envOf(services);
  const folder = join(modelsFolder(environment), 'hub', `${id.replace('/', '--')}@${revision.replaceAll('/', '--')}`);
  const there = (): boolean => {
    const known = fetchedBefore(folder);
    return (
      known !== undefined &&
      wanted(known.names).every((file) => known.fetched.includes(file) && existsSync(join(folder, file)))
    );
  };
  if (there()) return folder;
  await makeFolder(dirname(folder));
  const lock = await waitForLock(`${folder}.lock`, `fetching ${id}`, services);
  try {
    if (!there()) await fetchInto(folder, id, revision, wanted, await hubOf(environment, services), services);
  } finally {
    await lock.release();
  }
  return folder;
}

/** How often a process looks whether the other one is done. */
const LOOK_MS = 250;

/** One process fetches, the others wait for it and then find the files. */
async function waitForLock(path: string, purpose: string, { log, signal }: ModelServices): Promise<Lock> {
  let free = 0;
  for (let told = false; ; told = true) {
    try {
      return await acquireLock(path, purpose);
    } catch (error) {
      // It may have been released just now; when nobody has it time and again, the place is at fault.
      if (!(await isLocked(path)) && ++free > 3) throw error;
      if (!told) log?.info(`another process is ${purpose}; waiting for it`);
      await sleep(LOOK_MS, undefined, { signal });
    }
  }
}

async function fetchInto(
  folder: string,
  id: string,
  revision: string,
  wanted: (names: readonly string[]) => readonly string[],
  hub: Hub,
  { log }: ModelServices,
): Promise<void> {
  const { commit, files } = await hub.list(id, revision);
  const chosen = wanted(files.map((file) => file.name));
  const needed = files.filter((file) => chosen.includes(file.name));
  const missing = needed.filter(
    (file) => !(existsSync(join(folder, file.name)) && statSync(join(folder, file.name)).size === file.size),
  );
  const bytes = missing.reduce((sum, { size }) => sum + size, 0);
  log?.info(`fetching ${id} from the hub: ${missing.length} files, ${(bytes / 1e6).toFixed(1)} MB, into ${folder}`);
  const progress = log?.progress(`fetching ${id} (kB)`, Math.ceil(bytes / 1000));
  try {
    for (const file of missing) {
      await fetchFile(
        file,
        join(folder, file.name),
        (range) => hub.piece(id, commit, file, range),
        (done) => progress?.tick(done / 1000),
      );
    }
  } finally {
    progress?.end();
  }
  const note = { id, commit, names: files.map((file) => file.name), fetched: needed.map((file) => file.name) };
  await writeFileAtomic(join(folder, DONE), [`${JSON.stringify(note, null, 2)}\n`]);
}

function fetchedBefore(
  folder: string,
): { readonly names: readonly string[]; readonly fetched: readonly string[] } | undefined {
  try {
    const { names, fetched } = JSON.parse(readFileSync(join(folder, DONE), 'utf8'));
    return Array.isArray(names) && Array.isArray(fetched) ? { names, fetched } : undefined;
  } catch {
    return undefined;
  }
}

interface Hub {
  list(id: string, revision: string): Promise<{ readonly commit: string; readonly files: readonly HubFile[] }>;
  piece(
    id: string,
    commit: string,
    file: HubFile,
    start: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly whole: boolean }>;
}

async function hubOf(environment: Readonly<Record<string, string | undefined>>, services: ModelServices): Promise<Hub> {
  const wire = await wireOf(services);
  const base = (environment.HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, '');
  const headers: Record<string, string> = environment.HF_TOKEN
    ? { authorization: `Bearer ${environment.HF_TOKEN}` }
    : {};
  const common = { service: 'Hugging Face hub', method: 'GET', repeat: 'always', signal: services.signal } as const;
  const at = (name: string): string => name.split('/').map(encodeURIComponent).join('/');
  return {
    list: (id, revision) =>
      wire.json(
        { ...common, url: `${base}/api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`, headers },
        (body) => listing(body, id),
      ),
    async piece(id, commit, file, start) {
      const end = Math.min(file.size, start + PIECE) - 1;
      const { bytes, status } = await wire.send({
        ...common,
        url: `${base}/${id}/resolve/${commit}/${at(file.name)}`,
        headers: { ...headers, range: `bytes=${start}-${end}` },
        elsewhere: true,
        maxBytes: Math.max(PIECE, file.size) + 1024,
      });
      return { bytes, whole: status === 200 };
    },
  };
}

function listing(body: unknown, id: string): { readonly commit: string; readonly files: readonly HubFile[] } {
  const { sha, siblings } = body as { sha?: unknown; siblings?: unknown };
  const files = Array.isArray(siblings) ? siblings.map(hubFile) : [];
  if (typeof sha === 'string' && files.length > 0 && files.every((file) => file !== undefined))
    return { commit: sha, files };
  throw new DocOptError('UPSTREAM', `the hub's list of the files of ${id} is not as expected`, {
    hint: 'Is HF_ENDPOINT the address of a hub? It should answer /api/models/ORG/NAME/revision/main?blobs=true.',
  });
}

function hubFile(entry: unknown): HubFile | undefined {
  const { rfilename, size, blobId, lfs } = entry as {
    rfilename?: unknown;
    size?: unknown;
    blobId?: unknown;
    lfs?: { sha256?: unknown };
  };
  const checksum = lfs?.sha256 ?? blobId;
  if (typeof rfilename !== 'string' || typeof checksum !== 'string') return undefined;
  // Nothing is ever written outside the folder.
  if (rfilename.startsWith('/') || rfilename.split('/').includes('..') || rfilename.includes('\\')) return undefined;
  if (!Number.isSafeInteger(size) || (size as number) < 0) return undefined;
  return { name: rfilename, size: size as number, checksum };
}

async function fetchFile(
  file: HubFile,
  path: string,
  piece: (start: number) => Promise<{ readonly bytes: Uint8Array; readonly whole: boolean }>,
  onBytes: (count: number) => void,
): Promise<void> {
  await makeFolder(dirname(path));
  const part = `${path}.part`;
  // More than there should be is of another version.
  if (existsSync(part) && statSync(part).size > file.size) await rm(part);
  const handle = await open(part, existsSync(part) ? 'r+' : 'w');
  try {
    let done = (await handle.stat()).size;
    onBytes(done);
    while (done < file.size) {
      const { bytes, whole } = await piece(done);
      // A server that knows no ranges answers everything.
      if (whole) done = 0;
      if (bytes.length === 0 || done + bytes.length > file.size) throw wrongSize(file, done + bytes.length);
      await handle.write(bytes, 0, bytes.length, done);
      done += bytes.length;
      onBytes(bytes.length);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if ((await checksumOf(part, file)) !== file.checksum) {
    await rm(part);
    throw new DocOptError('DATA', `${file.name} came with another checksum than the hub states; it was thrown away`, {
      hint: 'Run the same command again; if it happens again, the mirror is at fault.',
    });
  }
  await rename(part, path);
}

/** 64 hex digits: sha256 of the content. 40: git's name of a blob, sha1 of a header and the content. */
async function checksumOf(path: string, { checksum, size }: HubFile): Promise<string> {
  const hash = createHash(checksum.length === 64 ? 'sha256' : 'sha1');
  if (checksum.length !== 64) hash.update(`blob ${size}\u0000`);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function wrongSize(file: HubFile, got: number): DocOptError {
  return new DocOptError('UPSTREAM', `the hub sent ${got} bytes of ${file.name}, which has ${file.size}`, {
    hint: 'Run the same command again.',
  });
}
