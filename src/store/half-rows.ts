/** Rows of half precision numbers, too many to hold as floats: in memory or in a file, read in ranges. */
import { open } from 'node:fs/promises';
import { DocOptError } from '../errors.ts';
import { halvesToFloats } from '../kernels/float16.ts';

export interface HalfRows {
  readonly width: number;
  /** Rows first..last-1 as float32, back to back. */
  read(first: number, last: number): Promise<Float32Array>;
  /** All of it, in parts, as it lies on disk. */
  bytes(): AsyncIterable<Uint8Array>;
}

const LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
/** Of one part, in numbers. */
const PART = 1 << 20;

/** `parts` back to back; each holds whole rows. */
export function halfRowsInMemory(parts: readonly Uint16Array[], width: number): HalfRows {
  const starts = new Float64Array(parts.length + 1);
  parts.forEach((part, i) => {
    starts[i + 1] = starts[i] + part.length / Math.max(1, width);
  });
  return {
    width,
    async read(first, last) {
      const out = new Float32Array((last - first) * width);
      let part = partOf(starts, first);
      for (let at = first; at < last; part++) {
        const end = Math.min(last, starts[part + 1]);
        if (end > at) {
          const halves = parts[part].subarray((at - starts[part]) * width, (end - starts[part]) * width);
          halvesToFloats(halves, out.subarray((at - first) * width, (end - first) * width));
          at = end;
        }
      }
      return out;
    },
    async *bytes() {
      for (const part of parts) {
        const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
        yield LITTLE ? bytes : swapped(bytes);
      }
    },
  };
}

/** Of a file that holds exactly `rows` rows. ARTEFACT when it does not. */
export async function halfRowsInFile(path: string, rows: number, width: number): Promise<HalfRows> {
  const wanted = rows * width * 2;
  const withFile = async <T>(
    work: (read: (start: number, bytes: number) => Promise<Uint8Array>) => Promise<T>,
  ): Promise<T> => {
    const file = await open(path, 'r');
    try {
      return await work(async (start, bytes) => {
        const buffer = new Uint8Array(bytes);
        const { bytesRead } = await file.read(buffer, 0, bytes, start);
        if (bytesRead !== bytes) throw tooShort(path, wanted);
        return LITTLE ? buffer : swapped(buffer);
      });
    } finally {
      await file.close();
    }
  };
  const file = await open(path, 'r');
  try {
    if ((await file.stat()).size !== wanted) throw tooShort(path, wanted);
  } finally {
    await file.close();
  }
  return {
    width,
    read: (first, last) =>
      withFile(async (read) => {
        const bytes = await read(first * width * 2, (last - first) * width * 2);
        return halvesToFloats(new Uint16Array(bytes.buffer));
      }),
    async *bytes() {
      for (let start = 0; start < wanted; start += 2 * PART) {
        yield await withFile((read) => read(start, Math.min(2 * PART, wanted - start)));
      }
    },
  };
}

/** The part that holds a row: the last one that starts at or before it and is not empty before it. */
function partOf(starts: Float64Array, row: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

function tooShort(path: string, wanted: number): DocOptError {
  return new DocOptError('ARTEFACT', `the index is damaged: ${path} does not hold the ${wanted} bytes that it should`, {
    hint: 'Build the index again with: docopt index ... --out INDEX',
  });
}

function swapped(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) out[i] = bytes[i ^ 1];
  return out;
}
