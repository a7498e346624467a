/**
 * Matrices in few bits, as MatMulNBits of ONNX Runtime takes them: rows in blocks of 32 values, value = scale (q - middle) +
 * offset, with one scale a block. Offsets are what the asymmetric formats have; a product with them is a product with the sums of
 * the blocks of x, so no format loses anything here.
 */

export const BLOCK_SIZE = 32;

export interface NBits {
  readonly bits: 4 | 8;
  readonly rows: number;
  readonly columns: number;
  /** [rows, columns / 32, 32 bits / 8]: for 4 bits two neighbours a byte, the first one low. */
  readonly packed: Uint8Array;
  /** [rows, columns / 32]. */
  readonly scales: Float32Array;
  /** [rows, columns / 32]; undefined = none differs from 0. */
  readonly offsets?: Float32Array;
}

/**
 * Rounds a row-major matrix. 8 bits: symmetric, the largest of a block is 127. 4 bits: from the smallest of a block to its
 * largest in 15 steps. `columns` is a multiple of 32.
 */
export function quantise(values: Float32Array, columns: number, bits: 4 | 8): NBits {
  const blocks = values.length / BLOCK_SIZE;
  const scales = new Float32Array(blocks);
  const packed = new Uint8Array((values.length * bits) / 8);
  const offsets = bits === 4 ? new Float32Array(blocks) : undefined;
  for (let b = 0; b < blocks; b++) {
    const from = b * BLOCK_SIZE;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let i = from; i < from + BLOCK_SIZE; i++) {
      low = Math.min(low, values[i]);
      high = Math.max(high, values[i]);
    }
    if (offsets === undefined) {
      const scale = Math.fround(Math.max(-low, high) / 127);
      scales[b] = scale;
      for (let i = from; i < from + BLOCK_SIZE; i++)
        packed[i] = 128 + (scale === 0 ? 0 : Math.round(values[i] / scale));
      continue;
    }
    const scale = Math.fround((high - low) / 15);
    scales[b] = scale;
    offsets[b] = low + 8 * scale;
    for (let i = from; i < from + BLOCK_SIZE; i++) {
      const q = scale === 0 ? 8 : Math.min(15, Math.max(0, Math.round((values[i] - low) / scale)));
      packed[i >> 1] |= (i & 1) === 0 ? q : q << 4;
    }
  }
  return { bits, rows: values.length / columns, columns, packed, scales, offsets };
}

/** What the bits stand for, row-major. */
export function dequantise({ bits, packed, scales, offsets }: NBits): Float32Array {
  const values = new Float32Array((packed.length * 8) / bits);
  for (let i = 0; i < values.length; i++) {
    const block = Math.floor(i / BLOCK_SIZE);
    const q = bits === 8 ? packed[i] - 128 : ((packed[i >> 1] >> ((i & 1) * 4)) & 15) - 8;
    values[i] = scales[block] * q + (offsets?.[block] ?? 0);
  }
  return values;
}

/** Rows of several matrices below each other. All have the same bits and columns. */
export function stack(parts: readonly NBits[]): NBits {
  const [{ bits, columns }] = parts;
  const blocks = columns / BLOCK_SIZE;
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const packed = new Uint8Array((rows * columns * bits) / 8);
  const scales = new Float32Array(rows * blocks);
  const offsets = parts.some((part) => part.offsets !== undefined) ? new Float32Array(rows * blocks) : undefined;
  let row = 0;
  for (const part of parts) {
    packed.set(part.packed, (row * columns * bits) / 8);
    scales.set(part.scales, row * blocks);
    if (part.offsets !== undefined) offsets!.set(part.offsets, row * blocks);
    row += part.rows;
  }
  return { bits, rows, columns, packed, scales, offsets };
}
