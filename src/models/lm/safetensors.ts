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

/** Throws DATA when the file is damaged or cut short. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const damaged = (what: string): DocOptError =>
      new DocOptError('DATA', `${path}: ${what}`, { hint: 'Expected a complete safetensors file; get it again.' });
    if (size < 8) throw damaged('the file is too short');
    const length = Number(new DataView((await readRange(file, path, 0, 8)).buffer).getBigUint64(0, true));
    if (length > MAX_HEADER || 8 + length > size) throw damaged('this is not a safetensors file');
    const entries = parseEntries(await readRange(file, path, 8, length), damaged);
    const start = 8 + length;
    for (const [name, entry] of entries) {
      const values = entry.shape.reduce((product, dimension) => product * dimension, 1);
      const [from, to] = entry.data_offsets;
      const bytes = FORMATS[entry.dtype]?.bytes;
      if (start + to > size) throw damaged(`the file ends before tensor '${name}' does`);
      if (bytes !== undefined && to - from !== values * bytes)
        throw damaged(`tensor '${name}' has another size than its shape`);
    }
    return {
      shapes: new Map([...entries].map(([name, { shape }]) => [name, shape])),
      async read(name) {
        const entry = entries.get(name);
        if (entry === undefined) throw damaged(`there is no tensor '${name}'`);
        const format = FORMATS[entry.dtype];
        if (format === undefined) throw damaged(`tensor '${name}' is ${entry.dtype}; F32, F16 and BF16 are read`);
        const [from, to] = entry.data_offsets;
        const values = new Float32Array((to - from) / format.bytes);
        format.convert(await readRange(file, path, start + from, to - from), values);
        return values;
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
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
