/**
 * The block of flat-scores.ts in WebAssembly SIMD. Sums still run from the first element to the last, so the bits are those of
 * the plain loop: the two lanes of a vector are two queries, or two rows, never two parts of one sum.
 */
import * as wasm from '../../src/kernels/wasm.ts';

/** Rows of a block, and queries that meet it. */
export const BLOCK_ROWS = 64;
export const BLOCK_QUERIES = 8;

export interface SimdBlock {
  /** Takes over some of the queries (row-major, as wide as the block). */
  setQueries(queries: Float64Array, first: number, count: number): void;
  /** Takes over rows, and answers all of their scores: out[q * BLOCK_ROWS + r]. */
  score(rows: Float32Array, start: number, count: number): Float64Array;
}

/** One block is kept; callers are synchronous and leave nothing in it. */
let kept: { readonly width: number; readonly block: SimdBlock | undefined } | undefined;

/** undefined where there is no SIMD. */
export function simdBlock(width: number): SimdBlock | undefined {
  if (kept?.width !== width) kept = { width, block: createBlock(width) };
  return kept.block;
}

function createBlock(width: number): SimdBlock | undefined {
  // Four columns a turn; what is missing is zeros, which change no sum.
  const padded = Math.ceil(width / 4) * 4;
  code ??= { compiled: wasm.assemble({ single, two: pairs(1), four: pairs(2) }) };
  const outAt = BLOCK_QUERIES * padded * 8;
  const rowsAt = outAt + BLOCK_QUERIES * BLOCK_ROWS * 8;
  const memory = wasm.createMemory(rowsAt + BLOCK_ROWS * padded * 4);
  if (code.compiled === undefined || memory === undefined) return undefined;
  const run = code.compiled.link(memory);
  const queryView = new Float64Array(memory.buffer, 0, BLOCK_QUERIES * padded);
  const out = new Float64Array(memory.buffer, outAt, BLOCK_QUERIES * BLOCK_ROWS);
  const rowView = new Float32Array(memory.buffer, rowsAt, BLOCK_ROWS * padded);
  let queryCount = 0;
  return {
    setQueries(queries, first, count) {
      queryCount = count;
      const paired = count & ~1;
      // Of two queries the elements alternate; one that is left over follows as it is.
      for (let q = 0; q < count; q++) {
        const from = (first + q) * width;
        const step = q < paired ? 2 : 1;
        const at = q < paired ? (q & ~1) * padded + (q & 1) : q * padded;
        for (let j = 0; j < width; j++) queryView[at + step * j] = queries[from + j];
      }
    },
    score(rows, start, count) {
      if (padded === width) rowView.set(rows.subarray(start * width, (start + count) * width));
      else
        for (let r = 0; r < count; r++)
          rowView.set(rows.subarray((start + r) * width, (start + r + 1) * width), r * padded);
      const at = (q: number): [number, number] => [q * padded * 8, outAt + q * BLOCK_ROWS * 8];
      let q = 0;
      for (; q + 4 <= queryCount; q += 4) run.four(rowsAt, count, padded * 4, ...at(q));
      for (; q + 2 <= queryCount; q += 2) run.two(rowsAt, count, padded * 4, ...at(q));
      if (q < queryCount) run.single(rowsAt, count, padded * 4, ...at(q));
      return out;
    },
  };
}

let code: { readonly compiled: wasm.Compiled | undefined } | undefined;

const range = (count: number): number[] => [...Array(count).keys()];
const PARAMETERS = ['i32', 'i32', 'i32', 'i32', 'i32'] as const;
const addProduct = (sum: wasm.Local, a: wasm.Code, b: wasm.Code): wasm.Code =>
  sum.set(wasm.addF64x2(sum.get, wasm.mulF64x2(a, b)));

/** (rows, count, bytes a row, queries, out): one or two pairs of queries, a pair to a vector; four rows a turn. */
function pairs(count: 1 | 2): wasm.WasmFunction {
  return wasm.fn(PARAMETERS, ([rows, left, bytes, queries, out], local) => {
    const four = range(4);
    const row = [rows, ...[1, 2, 3].map(() => local('i32'))];
    const query = range(count).map(() => local('i32'));
    const end = local('i32');
    const value = local('v128');
    const factor = query.map(() => local('v128'));
    const sums = four.map(() => query.map(() => local('v128')));
    const column = (j: number): wasm.Code[] => [
      ...query.map((at, p) => factor[p].set(wasm.loadV128(at.get, 16 * j))),
      ...four.flatMap((r) => [
        value.set(wasm.promoteF32x4(wasm.loadSplat32(row[r].get, 4 * j))),
        ...sums[r].map((sum, p) => addProduct(sum, value.get, factor[p].get)),
      ]),
    ];
    const lane = (p: number, l: number): wasm.Code[] =>
      four.map((r) => wasm.storeF64(out.get, wasm.laneF64(sums[r][p].get, l), (2 * p + l) * BLOCK_ROWS * 8 + 8 * r));
    return [
      wasm.loop(
        ...[1, 2, 3].map((r) => row[r].set(wasm.addI32(row[r - 1].get, bytes.get))),
        ...sums.flat().map((sum) => sum.set(wasm.zeroV128)),
        query[0].set(queries.get),
        // A pair of queries takes four times the bytes of a row.
        ...query.slice(1).map((at) => at.set(wasm.addI32(queries.get, wasm.shlI32(bytes.get, wasm.i32(2))))),
        end.set(wasm.addI32(rows.get, bytes.get)),
        wasm.loop(
          ...four.flatMap(column),
          ...query.map((at) => at.add(64)),
          ...row.map((at) => at.add(16)),
          wasm.againIf(wasm.ltU32(rows.get, end.get)),
        ),
        ...query.flatMap((_, p) => [...lane(p, 0), ...lane(p, 1)]),
        out.add(32),
        rows.set(row[3].get),
        left.add(-4),
        wasm.againIf(wasm.gtI32(left.get, wasm.i32(0))),
      ),
    ];
  });
}

/** (rows, count, bytes a row, query, out): two rows to a vector, eight rows a turn. */
const single = wasm.fn(PARAMETERS, ([rows, left, bytes, query, out], local) => {
  const row = [rows, ...range(7).map(() => local('i32'))];
  const [at, end] = [local('i32'), local('i32')];
  const factor = range(4).map(() => local('v128'));
  const sums = range(4).map(() => local('v128'));
  const [a, b, ab] = [local('v128'), local('v128'), local('v128')];
  const bytesOf = (lanes: readonly number[]): number[] => lanes.flatMap((lane) => range(4).map((i) => 4 * lane + i));
  /** (a0 b0 a1 b1) and (a2 b2 a3 b3); then the upper half, to be promoted. */
  const [low, high, upper] = [
    [0, 4, 1, 5],
    [2, 6, 3, 7],
    [2, 3, 2, 3],
  ].map(bytesOf);
  const two = (p: number): wasm.Code[] => [
    a.set(wasm.loadV128(row[2 * p].get)),
    b.set(wasm.loadV128(row[2 * p + 1].get)),
    ...[low, high].flatMap((half, h) => [
      ab.set(wasm.shuffle(half, a.get, b.get)),
      addProduct(sums[p], wasm.promoteF32x4(ab.get), factor[2 * h].get),
      addProduct(sums[p], wasm.promoteF32x4(wasm.shuffle(upper, ab.get, ab.get)), factor[2 * h + 1].get),
    ]),
  ];
  return [
    wasm.loop(
      ...range(7).map((r) => row[r + 1].set(wasm.addI32(row[r].get, bytes.get))),
      ...sums.map((sum) => sum.set(wasm.zeroV128)),
      at.set(query.get),
      end.set(wasm.addI32(rows.get, bytes.get)),
      wasm.loop(
        ...factor.map((f, j) => f.set(wasm.loadSplat64(at.get, 8 * j))),
        ...range(4).flatMap(two),
        at.add(32),
        ...row.map((pointer) => pointer.add(16)),
        wasm.againIf(wasm.ltU32(rows.get, end.get)),
      ),
      ...sums.map((sum, p) => wasm.storeV128(out.get, sum.get, 16 * p)),
      out.add(64),
      rows.set(row[7].get),
      left.add(-8),
      wasm.againIf(wasm.gtI32(left.get, wasm.i32(0))),
    ),
  ];
});
