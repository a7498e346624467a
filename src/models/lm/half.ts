/** Sixteen-bit floats as single precision. */
let table: Float32Array | undefined;

/** IEEE half -> float for all 65,536 bit patterns. */
export function halfTable(): Float32Array {
  if (table !== undefined) return table;
  table = new Float32Array(65_536);
  for (let bits = 0; bits < table.length; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) table[bits] = fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    else if (exponent === 0) table[bits] = sign * fraction * 2 ** -24;
    else table[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return table;
}

export function fromHalf(source: Uint8Array, target: Float32Array): void {
  const values = halfTable();
  for (let i = 0; i < target.length; i++) target[i] = values[source[2 * i] | (source[2 * i + 1] << 8)];
}

/** bfloat16 is the upper half of a float. */
export function fromBfloat16(source: Uint8Array, target: Float32Array): void {
  const bits = new Uint32Array(target.buffer, target.byteOffset, target.length);
  for (let i = 0; i < bits.length; i++) bits[i] = ((source[2 * i] << 16) | (source[2 * i + 1] << 24)) >>> 0;
}

export function fromFloat(source: Uint8Array, target: Float32Array): void {
  new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(source);
}
