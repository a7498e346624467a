/**
 * Float32 rows times a float64 vector in WebAssembly SIMD. It keeps the order of additions of `innerSingle` (lanes s0 s1 and s2
 * s3, multiply then add), so that both answer the same bits.
 */
import * as wasm from '../../src/kernels/wasm.ts';

export interface SimdRows {
  /** Takes over all rows, back to back. */
  setRows(data: Float32Array): void;
  /** out[r] = row r . vector, for every row r >= from. */
  times(vector: Float64Array, out: Float64Array, from?: number): void;
}

/** Room for float32 rows beside the code that multiplies them; undefined where there is no SIMD, or no room. */
export function createSimdRows(rows: number, columns: number): SimdRows | undefined {
  code ??= { compiled: wasm.assemble({ multiply }) };
  // Four rows and four columns at a time: what is missing is zeros, which change no sum.
  const width = Math.ceil(columns / 4) * 4;
  const count = Math.ceil(rows / 4) * 4;
  const outAt = width * 8;
  const rowsAt = outAt + count * 8;
  if (code.compiled === undefined || width === 0 || count === 0) return undefined;
  const memory = wasm.createMemory(rowsAt + count * width * 4);
  if (memory === undefined) return undefined;
  const run = code.compiled.link(memory);
  const vectorView = new Float64Array(memory.buffer, 0, width);
  const outView = new Float64Array(memory.buffer, outAt, rows);
  const rowView = new Float32Array(memory.buffer, rowsAt, count * width);
  return {
    setRows(data) {
      if (width === columns) rowView.set(data);
      else for (let r = 0; r < rows; r++) rowView.set(data.subarray(r * columns, (r + 1) * columns), r * width);
    },
    times(vector, out, from = 0) {
      // Whole groups of four; the few rows before `from` in its group are computed and not handed out.
      const first = from & ~3;
      vectorView.set(vector);
      if (first < count) run.multiply(rowsAt + first * width * 4, count - first, width * 4, 0, outAt + first * 8);
      out.set(from === 0 ? outView : outView.subarray(from), from);
    },
  };
}

let code: { readonly compiled: wasm.Compiled | undefined } | undefined;

/** (rows, count, bytes a row, vector, out): four rows a turn, four columns a turn within it. */
const multiply = wasm.fn(['i32', 'i32', 'i32', 'i32', 'i32'], ([rows, count, bytes, vector, out], local) => {
  const four = [0, 1, 2, 3];
  const row = [rows, ...[1, 2, 3].map(() => local('i32'))];
  const [at, end] = [local('i32'), local('i32')];
  const [low, high] = [local('v128'), local('v128')];
  const [a, b] = [four.map(() => local('v128')), four.map(() => local('v128'))];
  const addProduct = (sum: wasm.Local, pointer: wasm.Local, offset: number, factor: wasm.Local): wasm.Code =>
    sum.set(wasm.addF64x2(sum.get, wasm.mulF64x2(wasm.promoteF32x4(wasm.load64Zero(pointer.get, offset)), factor.get)));
  const lanes = (sum: wasm.Local): wasm.Code => wasm.addF64(wasm.laneF64(sum.get, 0), wasm.laneF64(sum.get, 1));
  return [
    wasm.loop(
      ...[1, 2, 3].map((r) => row[r].set(wasm.addI32(row[r - 1].get, bytes.get))),
      ...[...a, ...b].map((sum) => sum.set(wasm.zeroV128)),
      at.set(vector.get),
      end.set(wasm.addI32(rows.get, bytes.get)),
      wasm.loop(
        low.set(wasm.loadV128(at.get, 0)),
        high.set(wasm.loadV128(at.get, 16)),
        ...four.flatMap((r) => [addProduct(a[r], row[r], 0, low), addProduct(b[r], row[r], 8, high)]),
        at.add(32),
        ...row.map((pointer) => pointer.add(16)),
        wasm.againIf(wasm.ltU32(rows.get, end.get)),
      ),
      ...four.map((r) => wasm.storeF64(out.get, wasm.addF64(lanes(a[r]), lanes(b[r])), 8 * r)),
      out.add(32),
      rows.set(row[3].get),
      count.add(-4),
      wasm.againIf(wasm.gtI32(count.get, wasm.i32(0))),
    ),
  ];
});
