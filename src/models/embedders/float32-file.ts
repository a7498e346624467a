/** Vectors on disk: plain little-endian float32, nothing else in the file; its length is checked against what is expected. */
import { DocOptError } from '../../errors.ts';
import type { ArtefactReader, ArtefactWriter } from '../../ports.ts';

/** Values per chunk: 1 MiB. */
const CHUNK = 1 << 18;
const LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export async function writeFloat32(artefact: ArtefactWriter, name: string, data: Float32Array): Promise<void> {
  const chunks = function* (): Iterable<Uint8Array> {
    for (let start = 0; start < data.length; start += CHUNK) {
      const part = data.subarray(start, start + CHUNK);
      const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      yield LITTLE ? bytes : swapped(bytes);
    }
  };
  await artefact.writeStream(name, chunks());
}

/** Exactly `length` finite values; ARTEFACT when the file is missing, shorter, longer or holds NaN or an infinity. */
export async function readFloat32(artefact: ArtefactReader, name: string, length: number): Promise<Float32Array> {
  if (!artefact.has(name)) throw damaged(artefact, name, 'it is missing');
  const expected = length * 4;
  // Before there is room made for it: what a damaged header asks for may be anything.
  if (artefact.bytes(name) !== expected) {
    throw damaged(artefact, name, `it holds ${artefact.bytes(name)} bytes where ${expected} were expected`);
  }
  const data = new Float32Array(length);
  const bytes = new Uint8Array(data.buffer);
  let filled = 0;
  for await (const chunk of artefact.stream(name)) {
    if (filled + chunk.length <= expected) bytes.set(chunk, filled);
    filled += chunk.length;
  }
  if (filled !== expected) throw damaged(artefact, name, `it holds ${filled} bytes where ${expected} were expected`);
  if (!LITTLE) bytes.set(swapped(bytes));
  for (let i = 0; i < length; i++) {
    if (!Number.isFinite(data[i])) {
      throw damaged(artefact, name, `value ${i} is ${data[i]} where a finite number was expected`);
    }
  }
  return data;
}

export function damaged(artefact: ArtefactReader, name: string, what: string, cause?: unknown): DocOptError {
  return new DocOptError('ARTEFACT', `the index is damaged: ${name} in ${artefact.folder}: ${what}.`, {
    hint: 'Build the index again with: docopt index ... --out INDEX',
    cause,
  });
}

function swapped(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) out[i] = bytes[(i & ~3) + 3 - (i & 3)];
  return out;
}
