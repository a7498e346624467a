/**
 * Reads zip archives (wheels and jars are such) entry by entry, streamed: the central directory at the end of the file
 * says where each entry lies. Stored and deflated entries, ZIP64 sizes; sizes and CRC-32 are checked. No encryption.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { DocOptError } from '../errors.ts';
import { writeFileAtomic } from './atomic.ts';

export interface ZipEntry {
  readonly name: string;
  /** Uncompressed. */
  readonly bytes: number;
  readonly crc32: number;
}

export interface Zip {
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** Writes one entry to a file, whole or not at all. NOT_FOUND when the archive has none of that name. */
  extract(name: string, to: string): Promise<void>;
  close(): Promise<void>;
}

interface StoredEntry extends ZipEntry {
  readonly method: number;
  readonly flags: number;
  readonly compressed: number;
  /** Of the local header. */
  readonly offset: number;
}

const END = 0x06054b50;
const END64_LOCATOR = 0x07064b50;
const END64 = 0x06064b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
/** The end record, and the longest comment after it. */
const TAIL = 22 + 0xffff;
const CHUNK = 1 << 20;

/** Opens an archive and reads its directory. DATA when the file is no zip archive or is cut short. */
export async function openZip(path: string): Promise<Zip> {
  const file = await open(path, 'r');
  try {
    const entries = await readDirectory(file, path);
    return {
      entries,
      close: () => file.close(),
      async extract(name, to) {
        const entry = entries.get(name);
        if (entry === undefined) {
          throw new DocOptError('NOT_FOUND', `${path} holds no '${name}'`, { hint: 'Is it the right version?' });
        }
        await writeFileAtomic(to, contentOf(file, path, entry));
      },
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readDirectory(file: FileHandle, path: string): Promise<Map<string, StoredEntry>> {
  const { size } = await file.stat();
  const tailStart = Math.max(0, size - TAIL);
  const tail = await readAt(file, path, tailStart, size - tailStart);
  let at = tail.length - 22;
  while (at >= 0 && tail.readUInt32LE(at) !== END) at--;
  if (at < 0) throw notZip(path, 'it has no directory at its end');
  let count = tail.readUInt16LE(at + 10);
  let bytes = tail.readUInt32LE(at + 12);
  let start = tail.readUInt32LE(at + 16);
  if (at >= 20 && tail.readUInt32LE(at - 20) === END64_LOCATOR) {
    const end = await readAt(file, path, Number(tail.readBigUInt64LE(at - 20 + 8)), 56);
    if (end.readUInt32LE(0) !== END64) throw notZip(path, 'its ZIP64 directory is not where it says');
    count = Number(end.readBigUInt64LE(32));
    bytes = Number(end.readBigUInt64LE(40));
    start = Number(end.readBigUInt64LE(48));
  }
  if (start + bytes > size) throw notZip(path, 'its directory lies beyond its end');
  const directory = await readAt(file, path, start, bytes);
  const entries = new Map<string, StoredEntry>();
  for (let next = 0, i = 0; i < count; i++) {
    if (next + 46 > bytes || directory.readUInt32LE(next) !== CENTRAL) throw notZip(path, `entry ${i} is damaged`);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => directory.readUInt16LE(next + field));
    if (next + 46 + nameLength + extraLength > bytes) throw notZip(path, `entry ${i} is damaged`);
    const name = directory.toString('utf8', next + 46, next + 46 + nameLength);
    const extra = directory.subarray(next + 46 + nameLength, next + 46 + nameLength + extraLength);
    const [offset, compressed, plain] = longFields(
      extra,
      [42, 20, 24].map((field) => directory.readUInt32LE(next + field)),
    );
    entries.set(name, {
      name,
      bytes: plain,
      crc32: directory.readUInt32LE(next + 16),
      method: directory.readUInt16LE(next + 10),
      flags: directory.readUInt16LE(next + 8),
      compressed,
      offset,
    });
    next += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}

/** [offset, compressed, plain], those that are all ones taken from the ZIP64 field, which lists plain, compressed, offset. */
function longFields(extra: Buffer, [offset, compressed, plain]: readonly number[]): [number, number, number] {
  const fields: [number, number, number] = [offset, compressed, plain];
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let next = at + 4;
    for (const i of [2, 1, 0]) {
      if (fields[i] !== 0xffffffff || next + 8 > extra.length) continue;
      fields[i] = Number(extra.readBigUInt64LE(next));
      next += 8;
    }
  }
  return fields;
}

async function* contentOf(file: FileHandle, path: string, entry: StoredEntry): AsyncGenerator<Uint8Array> {
  if ((entry.flags & 1) !== 0) throw notZip(path, `'${entry.name}' is encrypted`);
  if (entry.method !== 0 && entry.method !== 8) {
    throw notZip(path, `'${entry.name}' is packed by method ${entry.method}, which is not read here`);
  }
  const local = await readAt(file, path, entry.offset, 30);
  if (local.readUInt32LE(0) !== LOCAL) throw notZip(path, `'${entry.name}' is not where the directory says`);
  const start = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = readRange(file, path, start, entry.compressed);
  let bytes = 0;
  let crc = 0xffffffff;
  for await (const chunk of entry.method === 0 ? packed : inflated(packed, path, entry.name)) {
    bytes += chunk.length;
    // Stops an archive that unpacks to more than it declares.
    if (bytes > entry.bytes) break;
    crc = crc32(crc, chunk);
    yield chunk;
  }
  if (bytes !== entry.bytes || ~crc >>> 0 !== entry.crc32) {
    throw notZip(path, `'${entry.name}' does not unpack to what the directory says`);
  }
}

async function* inflated(packed: AsyncIterable<Uint8Array>, path: string, name: string): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw({ chunkSize: CHUNK });
  // What goes wrong while reading or inflating comes out of the iteration.
  pipeline(Readable.from(packed), inflate, () => {});
  try {
    yield* inflate;
  } catch (cause) {
    throw cause instanceof DocOptError ? cause : notZip(path, `'${name}' does not unpack`, cause);
  }
}

async function* readRange(file: FileHandle, path: string, start: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < bytes; done += CHUNK)
    yield await readAt(file, path, start + done, Math.min(CHUNK, bytes - done));
}

async function readAt(file: FileHandle, path: string, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, position);
  if (bytesRead !== bytes) throw notZip(path, 'it is cut short');
  return buffer;
}

function notZip(path: string, what: string, cause?: unknown): DocOptError {
  return new DocOptError('DATA', `${path} is no readable zip archive: ${what}`, {
    hint: 'Remove it and fetch it again.',
    cause,
  });
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

/** One step of the running CRC; starts at all ones and is inverted at the end. */
function crc32(crc: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) crc = CRC_TABLE[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8);
  return crc;
}
