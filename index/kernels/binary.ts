/** Typed arrays to little-endian bytes and back, whatever this machine's own order is. */
const LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

type Numbers = Int32Array | Uint16Array;

/** The array's own bytes where the machine is little-endian: no copy. */
export function toBytes(array: Numbers): Uint8Array {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return LITTLE ? bytes : swapped(bytes, array.BYTES_PER_ELEMENT);
}

export function toInt32(bytes: Uint8Array): Int32Array {
  const own = aligned(bytes, 4);
  return new Int32Array(own.buffer, own.byteOffset, own.byteLength / 4);
}

export function toUint16(bytes: Uint8Array): Uint16Array {
  const own = aligned(bytes, 2);
  return new Uint16Array(own.buffer, own.byteOffset, own.byteLength / 2);
}

/** Readers may hand out a slice of a pool that starts anywhere; typed arrays may not. */
function aligned(bytes: Uint8Array, size: number): Uint8Array {
  if (!LITTLE) return swapped(bytes, size);
  return bytes.byteOffset % size === 0 ? bytes : bytes.slice();
}

function swapped(bytes: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) out[i] = bytes[i - (i % size) + size - 1 - (i % size)];
  return out;
}
