/** GGUF files (versions 2 and 3, little endian): metadata, and tensors read one at a time by their range. */
import { type FileHandle, open } from 'node:fs/promises';
import { DocOptError } from '../../errors.ts';
import { BLOCK_FORMATS } from './gguf-blocks.ts';

export type GgufValue = number | boolean | string | readonly GgufValue[];

interface GgufTensor {
  /** Row-major, slowest axis first: the file has it the other way round. */
  readonly shape: readonly number[];
  readonly type: number;
  /** From the start of the file. */
  readonly offset: number;
}

export interface GgufFile {
  readonly path: string;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** Dequantised. Throws DATA for a tensor that is not there or has a format that is not read. */
  read(name: string): Promise<Float32Array>;
  /** The tensor's bytes as they are stored. */
  readBlocks(name: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

const ALIGNMENT = 32;

/** Throws DATA when the file is no GGUF, cut short, or of another version. */
export async function openGguf(path: string): Promise<GgufFile> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const header = await readHeader(file, path, size);
    checkComplete(header, path, size);
    return {
      path,
      metadata: header.metadata,
      tensors: header.tensors,
      read: (name) => readTensor(file, path, header.tensors, name),
      readBlocks: (name) => readStored(file, path, header.tensors, name),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function damaged(path: string, what: string): DocOptError {
  return new DocOptError('DATA', `${path}: ${what}`, { hint: 'Expected a complete GGUF file; get it again.' });
}

interface Header {
  readonly metadata: Map<string, GgufValue>;
  readonly tensors: Map<string, GgufTensor>;
}

/** The header says its length only by being read: a larger piece is taken until it fits. */
async function readHeader(file: FileHandle, path: string, size: number): Promise<Header> {
  for (let length = Math.min(size, 1 << 24); ; length = Math.min(size, length * 4)) {
    const bytes = await readRange(file, path, 0, length);
    try {
      return parseHeader(bytes, path);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (length >= size) throw damaged(path, 'the header ends in the middle');
    }
  }
}

function parseHeader(bytes: Uint8Array, path: string): Header {
  const cursor = new Cursor(bytes);
  if (cursor.text(4) !== 'GGUF') throw damaged(path, 'this is not a GGUF file');
  const version = cursor.u32();
  if (version !== 2 && version !== 3) throw damaged(path, `GGUF version ${version}; versions 2 and 3 are read`);
  const tensorCount = cursor.u64();
  const entryCount = cursor.u64();
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < entryCount; i++) {
    const key = cursor.string();
    metadata.set(key, cursor.value(cursor.u32(), path));
  }
  const found: [string, GgufTensor][] = [];
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.string();
    const shape = Array.from({ length: cursor.u32() }, () => cursor.u64()).reverse();
    found.push([name, { shape, type: cursor.u32(), offset: cursor.u64() }]);
  }
  const alignment = Number(metadata.get('general.alignment') ?? ALIGNMENT);
  const start = Math.ceil(cursor.position / alignment) * alignment;
  return {
    metadata,
    tensors: new Map(found.map(([name, tensor]) => [name, { ...tensor, offset: start + tensor.offset }])),
  };
}

function bytesOf({ shape, type }: GgufTensor, name: string, path: string): number {
  const format = BLOCK_FORMATS[type];
  if (format === undefined) {
    const known = Object.values(BLOCK_FORMATS).map(({ name }) => name);
    throw new DocOptError('DATA', `${path}: tensor '${name}' has ggml type ${type}, which is not read`, {
      hint: `Take a file in one of ${known.join(', ')}.`,
    });
  }
  const size = shape.reduce((product, dimension) => product * dimension, 1);
  if (size % format.values !== 0)
    throw damaged(path, `tensor '${name}' does not consist of whole ${format.name} blocks`);
  return (size / format.values) * format.bytes;
}

function checkComplete({ tensors }: Header, path: string, size: number): void {
  for (const [name, tensor] of tensors) {
    if (BLOCK_FORMATS[tensor.type] !== undefined && tensor.offset + bytesOf(tensor, name, path) > size) {
      throw damaged(path, `the file ends before tensor '${name}' does`);
    }
  }
}

async function readTensor(
  file: FileHandle,
  path: string,
  tensors: ReadonlyMap<string, GgufTensor>,
  name: string,
): Promise<Float32Array> {
  const bytes = await readStored(file, path, tensors, name);
  const tensor = tensors.get(name)!;
  const values = new Float32Array(tensor.shape.reduce((product, dimension) => product * dimension, 1));
  BLOCK_FORMATS[tensor.type].dequantise(bytes, values);
  return values;
}

async function readStored(
  file: FileHandle,
  path: string,
  tensors: ReadonlyMap<string, GgufTensor>,
  name: string,
): Promise<Uint8Array> {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw damaged(path, `there is no tensor '${name}'`);
  return readRange(file, path, tensor.offset, bytesOf(tensor, name, path));
}

/** Reads may come back short, and a single one is limited: it goes on until the range is whole. */
export async function readRange(file: FileHandle, path: string, start: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(length - at, 1 << 30), start + at);
    if (bytesRead === 0) throw damaged(path, 'the file ends too early');
    at += bytesRead;
  }
  return bytes;
}

/** Walks the header; reading past the end throws RangeError. */
class Cursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #decoder = new TextDecoder();
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #advance(size: number): number {
    const at = this.position;
    this.position += size;
    return at;
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  u64(): number {
    return Number(this.#view.getBigUint64(this.#advance(8), true));
  }

  text(length: number): string {
    const at = this.#advance(length);
    if (this.position > this.#bytes.length) throw new RangeError('beyond the end');
    return this.#decoder.decode(this.#bytes.subarray(at, this.position));
  }

  string(): string {
    return this.text(this.u64());
  }

  value(type: number, path: string): GgufValue {
    const view = this.#view;
    switch (type) {
      case 0:
        return view.getUint8(this.#advance(1));
      case 1:
        return view.getInt8(this.#advance(1));
      case 2:
        return view.getUint16(this.#advance(2), true);
      case 3:
        return view.getInt16(this.#advance(2), true);
      case 4:
        return this.u32();
      case 5:
        return view.getInt32(this.#advance(4), true);
      case 6:
        return view.getFloat32(this.#advance(4), true);
      case 7:
        return view.getUint8(this.#advance(1)) !== 0;
      case 8:
        return this.string();
      case 9: {
        const element = this.u32();
        const length = this.u64();
        const values: GgufValue[] = [];
        for (let i = 0; i < length; i++) values.push(this.value(element, path));
        return values;
      }
      case 10:
        return this.u64();
      case 11:
        return Number(view.getBigInt64(this.#advance(8), true));
      case 12:
        return view.getFloat64(this.#advance(8), true);
      default:
        throw damaged(path, `metadata of the unknown type ${type}`);
    }
  }
}
