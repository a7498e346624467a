/** Reads single tensors of a .safetensors file: a length, a JSON header, and the numbers as they lie in memory. */
import { open } from 'node:fs/promises';
import { DocOptError } from '../errors.ts';
import { halvesToFloats } from '../kernels/float16.ts';

export interface FloatTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** F32, F16 and BF16 as float32. DATA when the file is damaged, NOT_FOUND naming what it has when the tensor is not there. */
export async function readSafetensor(path: string, name: string): Promise<FloatTensor> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const read = async (start: number, bytes: number): Promise<Buffer> => {
      const buffer = Buffer.alloc(bytes);
      if (start + bytes > size || (await file.read(buffer, 0, bytes, start)).bytesRead !== bytes) throw damaged(path);
      return buffer;
    };
    const headerBytes = Number((await read(0, 8)).readBigUInt64LE(0));
    if (headerBytes > size) throw damaged(path);
    const header = parse((await read(8, headerBytes)).toString('utf8'), path);
    const entry = header[name];
    if (entry === undefined) {
      const names = Object.keys(header).slice(0, 8).join(', ');
      throw new DocOptError('NOT_FOUND', `${path} holds no tensor '${name}'; its first ones: ${names}`);
    }
    const [start, end] = entry.data_offsets;
    const bytes = await read(8 + headerBytes + start, end - start);
    const data = toFloats(bytes, entry.dtype, path);
    if (data.length !== entry.shape.reduce((product, length) => product * length, 1)) throw damaged(path);
    return { shape: entry.shape, data };
  } finally {
    await file.close();
  }
}

function parse(json: string, path: string): Record<string, HeaderEntry> {
  try {
    const { __metadata__, ...entries } = JSON.parse(json);
    return entries;
  } catch {
    throw damaged(path);
  }
}

function toFloats(bytes: Buffer, dtype: string, path: string): Float32Array {
  const own = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  if (dtype === 'F32') return new Float32Array(own);
  if (dtype === 'F16') return halvesToFloats(new Uint16Array(own));
  if (dtype === 'BF16') {
    const out = new Float32Array(own.byteLength / 2);
    const bits = new Uint32Array(out.buffer);
    new Uint16Array(own).forEach((half, i) => {
      bits[i] = half << 16;
    });
    return out;
  }
  throw new DocOptError('DATA', `${path}: tensors of type ${dtype} are not read here; expected F32, F16 or BF16`);
}

function damaged(path: string): DocOptError {
  return new DocOptError('DATA', `${path} is no whole safetensors file`, { hint: 'Fetch it again.' });
}
