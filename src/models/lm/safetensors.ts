/** safetensors files: read by ranges, one tensor at a time, and written. F32, F16 and BF16 become single precision. */
import { open } from 'node:fs/promises';
import { DocOptError } from '../../errors.ts';
import { readRange } from './gguf.ts';
import { fromBfloat16, fromFloat, fromHalf } from './half.ts';

interface TensorEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

export interface SafetensorsFile {
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  /** As the file names them: F32, BF16, ... */
  readonly types: ReadonlyMap<string, string>;
  read(name: string): Promise<Float32Array>;
  close(): Promise<void>;
}

const FORMATS: Readonly<Record<string, { bytes: number; convert(source: Uint8Array, target: Float32Array): void }>> = {
  F32: { bytes: 4, convert: fromFloat },
  F16: { bytes: 2, convert: fromHalf },
  BF16: { bytes: 2, convert: fromBfloat16 },
};
/** A header beyond this is no header. */
const MAX_HEADER = 100_000_000;

/** Where bytes come from: a file, or memory. */
interface Source {
  readonly name: string;
  readonly size: number;
  read(start: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Throws DATA when the file is damaged or cut short. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const file = await open(path);
  const { size } = await file.stat();
  return fromSource({
    name: path,
    size,
    read: (start, length) => readRange(file, path, start, length),
    close: () => file.close(),
  });
}

/** All tensors of a file that lies in memory. `name` is for messages. */
export async function parseSafetensors(name: string, bytes: Uint8Array): Promise<Map<string, Float32Array>> {
  const file = await fromSource({
    name,
    size: bytes.length,
    read: async (start, length) => bytes.subarray(start, start + length),
    close: async () => {},
  });
  const tensors = new Map<string, Float32Array>();
  for (const tensor of file.shapes.keys()) tensors.set(tensor, await file.read(tensor));
  return tensors;
}

async function fromSource(source: Source): Promise<SafetensorsFile> {
  const { name: path, size } = source;
  try {
    const damaged = (what: string): DocOptError =>
      new DocOptError('DATA', `${path}: ${what}`, { hint: 'Expected a complete safetensors file; get it again.' });
    if (size < 8) throw damaged('the file is too short');
    const prefix = await source.read(0, 8);
    const length = Number(new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true));
    if (length > MAX_HEADER || 8 + length > size) throw damaged('this is not a safetensors file');
    const entries = parseEntries(await source.read(8, length), damaged);
    const start = 8 + length;
    for (const [name, entry] of entries) checkEntry(name, entry, size - start, damaged);
    return {
      shapes: new Map([...entries].map(([name, { shape }]) => [name, shape])),
      types: new Map([...entries].map(([name, { dtype }]) => [name, dtype])),
      async read(name) {
        const entry = entries.get(name);
        if (entry === undefined) throw damaged(`there is no tensor '${name}'`);
        const format = FORMATS[entry.dtype];
        if (format === undefined) throw damaged(`tensor '${name}' is ${entry.dtype}; F32, F16 and BF16 are read`);
        const [from, to] = entry.data_offsets;
        const values = new Float32Array((to - from) / format.bytes);
        format.convert(await source.read(start + from, to - from), values);
        return values;
      },
      close: () => source.close(),
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function checkEntry(
  name: string,
  { shape, dtype, data_offsets: [from, to] }: TensorEntry,
  dataSize: number,
  damaged: (what: string) => DocOptError,
): void {
  const values = shape.reduce((product, dimension) => product * dimension, 1);
  const bytes = FORMATS[dtype]?.bytes;
  if (to > dataSize) throw damaged(`the file ends before tensor '${name}' does`);
  if (bytes !== undefined && to - from !== values * bytes) {
    throw damaged(`tensor '${name}' has another size than its shape`);
  }
}

function parseEntries(bytes: Uint8Array, damaged: (what: string) => DocOptError): Map<string, TensorEntry> {
  let header: Record<string, TensorEntry>;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, TensorEntry>;
  } catch {
    throw damaged('the header does not parse');
  }
  return new Map(Object.entries(header).filter(([name]) => name !== '__metadata__'));
}

export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** The chunks of a file that holds these tensors in single precision, in this order. */
export function* safetensorsChunks(tensors: readonly NamedTensor[]): Generator<Uint8Array> {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + values.byteLength] };
    offset += values.byteLength;
  }
  const text = JSON.stringify(header);
  // Padded with spaces to eight bytes, so that the data is aligned.
  const bytes = new TextEncoder().encode(text + ' '.repeat((8 - (new TextEncoder().encode(text).length % 8)) % 8));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(bytes.length), true);
  yield length;
  yield bytes;
  for (const { values } of tensors) yield new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
