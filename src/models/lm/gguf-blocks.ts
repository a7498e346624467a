/** The block formats of GGUF tensors, dequantised to single precision: bit for bit what the reference implementation gives. */
import { fromBfloat16, fromFloat, fromHalf, halfTable } from './half.ts';

export interface BlockFormat {
  readonly name: string;
  /** Values of one block and bytes that hold them. */
  readonly values: number;
  readonly bytes: number;
  /** Whole blocks. */
  dequantise(source: Uint8Array, target: Float32Array): void;
}

/** By ggml's type number. */
export const BLOCK_FORMATS: Readonly<Record<number, BlockFormat>> = {
  0: { name: 'F32', values: 1, bytes: 4, dequantise: fromFloat },
  1: { name: 'F16', values: 1, bytes: 2, dequantise: fromHalf },
  2: { name: 'Q4_0', values: 32, bytes: 18, dequantise: dequantiseQ40 },
  3: { name: 'Q4_1', values: 32, bytes: 20, dequantise: dequantiseQ41 },
  8: { name: 'Q8_0', values: 32, bytes: 34, dequantise: dequantiseQ80 },
  12: { name: 'Q4_K', values: 256, bytes: 144, dequantise: dequantiseQ4K },
  14: { name: 'Q6_K', values: 256, bytes: 210, dequantise: dequantiseQ6K },
  30: { name: 'BF16', values: 1, bytes: 2, dequantise: fromBfloat16 },
};

function half(source: Uint8Array, at: number, table: Float32Array): number {
  return table[source[at] | (source[at + 1] << 8)];
}

/** f16 d, 16 bytes of two nibbles: d (q - 8); the low nibbles are the first sixteen values. */
function dequantiseQ40(source: Uint8Array, target: Float32Array): void {
  const table = halfTable();
  for (let at = 0, to = 0; to < target.length; at += 18, to += 32) {
    const d = half(source, at, table);
    for (let j = 0; j < 16; j++) {
      const q = source[at + 2 + j];
      target[to + j] = d * ((q & 15) - 8);
      target[to + j + 16] = d * ((q >> 4) - 8);
    }
  }
}

/** f16 d, f16 m, 16 bytes of two nibbles: d q + m. */
function dequantiseQ41(source: Uint8Array, target: Float32Array): void {
  const table = halfTable();
  for (let at = 0, to = 0; to < target.length; at += 20, to += 32) {
    const d = half(source, at, table);
    const m = half(source, at + 2, table);
    for (let j = 0; j < 16; j++) {
      const q = source[at + 4 + j];
      target[to + j] = d * (q & 15) + m;
      target[to + j + 16] = d * (q >> 4) + m;
    }
  }
}

/** f16 d, 32 signed bytes: d q. */
function dequantiseQ80(source: Uint8Array, target: Float32Array): void {
  const table = halfTable();
  for (let at = 0, to = 0; to < target.length; at += 34, to += 32) {
    const d = half(source, at, table);
    for (let j = 0; j < 32; j++) target[to + j] = d * ((source[at + 2 + j] << 24) >> 24);
  }
}

/**
 * f16 d, f16 dmin, eight 6-bit scales and minima in 12 bytes, 128 bytes of two nibbles: eight runs of 32 values, each
 * d scale q - dmin minimum.
 */
function dequantiseQ4K(source: Uint8Array, target: Float32Array): void {
  const table = halfTable();
  for (let at = 0, to = 0; to < target.length; at += 144, to += 256) {
    const d = half(source, at, table);
    const dmin = half(source, at + 2, table);
    const packed = at + 4;
    for (let run = 0; run < 8; run++) {
      let scale = source[packed + run] & 63;
      let minimum = source[packed + run + 4] & 63;
      if (run >= 4) {
        scale = (source[packed + run + 4] & 15) | ((source[packed + run - 4] >> 6) << 4);
        minimum = (source[packed + run + 4] >> 4) | ((source[packed + run] >> 6) << 4);
      }
      const step = d * scale;
      const low = Math.fround(dmin * minimum);
      const from = at + 16 + (run >> 1) * 32;
      const shift = (run & 1) * 4;
      for (let j = 0; j < 32; j++) target[to + run * 32 + j] = step * ((source[from + j] >> shift) & 15) - low;
    }
  }
}

/** 128 bytes of low nibbles, 64 of upper pairs of bits, 16 signed scales, f16 d: d scale (q - 32). */
function dequantiseQ6K(source: Uint8Array, target: Float32Array): void {
  const table = halfTable();
  for (let at = 0, to = 0; to < target.length; at += 210, to += 256) {
    const d = half(source, at + 208, table);
    for (let part = 0; part < 2; part++) {
      const low = at + part * 64;
      const high = at + 128 + part * 32;
      const scales = at + 192 + part * 8;
      for (let run = 0; run < 4; run++) {
        for (let j = 0; j < 32; j++) {
          const nibble = (source[low + j + (run & 1) * 32] >> ((run >> 1) * 4)) & 15;
          const q = nibble | (((source[high + j] >> (2 * run)) & 3) << 4);
          const scale = (source[scales + 2 * run + (j >> 4)] << 24) >> 24;
          target[to + part * 128 + run * 32 + j] = Math.fround(d * scale) * (q - 32);
        }
      }
    }
  }
}
