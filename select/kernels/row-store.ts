/**
 * The rows V of posterior.ts, and the one operation on them that costs O(tN). In WebAssembly SIMD where there is room for it,
 * else in plain loops. Documents are independent of each other, and of a row's terms the first is always subtracted
 * first, so both give the same bits, in whatever portions a row is worked off.
 */
import { DocOptError } from '../../src/errors.ts';
import * as wasm from '../../src/kernels/wasm.ts';

export interface RowStore {
  /** By slot. Taking a slot may move all rows: look them up again, do not hold on to them. */
  readonly rows: readonly Float64Array[];
  /** A slot that is free; its row holds anything. */
  take(): number;
  free(slot: number): void;
  /** rows[targets[i]] -= sum_p factors[i][p] rows[sources[p]], in the order of p, for p = from, from + 1, ... */
  subtract(
    targets: readonly number[],
    sources: readonly number[],
    factors: readonly Float64Array[],
    from: number,
  ): void;
}

/** Documents that are worked off together, so that targets and sources stay in the cache. */
const TILE = 512;
/** Below this a memory of its own costs more than it gives. */
const WORTH = 256;

export function createRowStore(size: number, simd = true): RowStore {
  return (simd && size >= WORTH ? createSimdStore(size) : undefined) ?? createPlainStore(size);
}

function createPlainStore(size: number): RowStore {
  const rows: Float64Array[] = [];
  return {
    rows,
    ...slots((slot) => {
      rows[slot] = new Float64Array(size);
    }),
    subtract(targets, sources, factors, from) {
      targets.forEach((target, i) => {
        const out = rows[target];
        const l = factors[i];
        let p = from;
        // Four at a time: one load and store of `out` for four terms.
        for (; p + 4 <= sources.length; p += 4) {
          const [a, b, c, e] = [rows[sources[p]], rows[sources[p + 1]], rows[sources[p + 2]], rows[sources[p + 3]]];
          const [la, lb, lc, le] = [l[p], l[p + 1], l[p + 2], l[p + 3]];
          for (let d = 0; d < size; d++) out[d] = out[d] - la * a[d] - lb * b[d] - lc * c[d] - le * e[d];
        }
        for (; p < sources.length; p++) {
          const a = rows[sources[p]];
          const la = l[p];
          for (let d = 0; d < size; d++) out[d] -= la * a[d];
        }
      });
    },
  };
}

const FIRST_BYTES = 2 ** 20;
const MORE_BYTES = 2 ** 22;

function createSimdStore(size: number): RowStore | undefined {
  code ??= { compiled: wasm.assemble({ subtractFour }) };
  if (code.compiled === undefined) return undefined;
  // Four documents a turn; what is missing is never read by anyone else.
  const stride = Math.ceil(size / 4) * 32;
  const memory = wasm.createMemory(Math.max(FIRST_BYTES, stride));
  if (memory === undefined) return undefined;
  const run = code.compiled.link(memory);
  const rows: Float64Array[] = [];
  return {
    rows,
    ...slots((slot) => {
      const needed = (slot + 1) * stride;
      if (needed > memory.buffer.byteLength) {
        const more = Math.max(needed, Math.min(memory.buffer.byteLength + MORE_BYTES, wasm.MOST_BYTES));
        if (!wasm.growMemory(memory, more)) throw noRoom(slot + 1, size);
        for (let s = 0; s < slot; s++) rows[s] = new Float64Array(memory.buffer, s * stride, size);
      }
      rows[slot] = new Float64Array(memory.buffer, slot * stride, size);
    }),
    subtract(targets, sources, factors, from) {
      for (let start = 0; start < stride; start += TILE * 8) {
        const bytes = Math.min(TILE * 8, stride - start);
        for (let p = from; p < sources.length; p += 4) {
          // Where fewer than four are left, a factor of 0 adds nothing.
          const at = (i: number): number => (p + i < sources.length ? sources[p + i] : sources[p]) * stride + start;
          const [a, b, c, e] = [at(0), at(1), at(2), at(3)];
          for (let i = 0; i < targets.length; i++) {
            const l = factors[i];
            const by = (j: number): number => (p + j < sources.length ? l[p + j] : 0);
            run.subtractFour(targets[i] * stride + start, bytes, a, b, c, e, by(0), by(1), by(2), by(3));
          }
        }
      }
    },
  };
}

function noRoom(rows: number, size: number): DocOptError {
  return new DocOptError(
    'ENVIRONMENT',
    `There is no memory for ${rows} observations over a pool of ${size} documents.`,
    {
      hint: 'Take a smaller pool or a smaller budget.',
    },
  );
}

let code: { readonly compiled: wasm.Compiled | undefined } | undefined;

/** (out, bytes, four rows, four factors): out -= factor * row, one row after the other; four documents a turn. */
const subtractFour = wasm.fn(
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'f64', 'f64', 'f64', 'f64'],
  ([out, bytes, a, b, c, e, ...factors], local) => {
    const rows = [a, b, c, e];
    const by = rows.map(() => local('v128'));
    const end = local('i32');
    const less = (offset: number): wasm.Code =>
      rows.reduce<wasm.Code>(
        (rest, row, i) => wasm.subF64x2(rest, wasm.mulF64x2(wasm.loadV128(row.get, offset), by[i].get)),
        wasm.loadV128(out.get, offset),
      );
    return [
      ...by.map((factor, i) => factor.set(wasm.splatF64(factors[i].get))),
      end.set(wasm.addI32(out.get, bytes.get)),
      wasm.loop(
        wasm.storeV128(out.get, less(0), 0),
        wasm.storeV128(out.get, less(16), 16),
        ...[out, ...rows].map((pointer) => pointer.add(32)),
        wasm.againIf(wasm.ltU32(out.get, end.get)),
      ),
    ];
  },
);

/** Slots by number, the freed ones first. */
function slots(allocate: (slot: number) => void): Pick<RowStore, 'take' | 'free'> {
  const freed: number[] = [];
  let count = 0;
  return {
    take() {
      const slot = freed.pop();
      if (slot !== undefined) return slot;
      allocate(count);
      return count++;
    },
    free: (slot) => void freed.push(slot),
  };
}
