/** NumPy's file format, version 1.0: numpy.load('vectors.npy')[row] belongs to line `row` of ids.txt. */
import type { Export } from './types.ts';

const LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** upserts x dimensions float32 in C order; a text without direction is a row of zeros. `onId` is told of each row. */
export async function* npyChunks(
  { upserts, dimensions = 0, documents }: Export,
  onId: (id: string) => void,
): AsyncGenerator<Uint8Array> {
  yield npyHeader(upserts, dimensions);
  for await (const { id, vector = new Float32Array(dimensions) } of documents()) {
    onId(id);
    yield littleEndian(vector);
  }
}

/** Magic, version and a dictionary, padded so that the data begin at a multiple of 64. */
export function npyHeader(rows: number, columns: number): Uint8Array {
  const dictionary = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`;
  const length = Math.ceil((10 + dictionary.length + 1) / 64) * 64;
  const header = Buffer.alloc(length, ' ', 'latin1');
  header.write('\x93NUMPY\x01\x00', 0, 'latin1');
  header.writeUInt16LE(length - 10, 8);
  header.write(dictionary, 10, 'latin1');
  header.write('\n', length - 1, 'latin1');
  return header;
}

function littleEndian(vector: Float32Array): Uint8Array {
  if (LITTLE) return new Uint8Array(vector.slice().buffer);
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => {
    bytes.writeFloatLE(value, i * 4);
  });
  return bytes;
}
