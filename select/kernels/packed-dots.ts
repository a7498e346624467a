/**
 * The machine under packed-rows.ts: 16-bit rows, how they are made and multiplied. In WebAssembly SIMD where there is room for
 * it, else in plain loops; both give the same bits.
 */
import * as wasm from '../../src/kernels/wasm.ts';

/** Elements that are added up in 32 bits; rows are multiples of it long. */
export const CHUNK = 64;
/** Vectors that `multiply` takes, and rows that `measure` and `quantise` take. */
export const MOST_VECTORS = 8;
export const MOST_ROWS = 32;

export interface PackedDots {
  /** Room for MOST_ROWS rows of numbers, each padded with zeros, and for the centre that is taken from them. */
  readonly source: Float32Array;
  readonly centre: Float64Array;
  /** Of the first rows in `source`, y = x - centre: the largest |y|, the largest y.y of a chunk, and x.centre, three a row. */
  measure(count: number): Float64Array;
  /** Packs the first rows of `source` at `row`: y times the scale, to the nearest integer (even of two). */
  quantise(count: number, scales: Float64Array, row: number): void;
  copy(from: number, to: number): void;
  /** outs[i][r] = packed row r . packed row vectors[i], for r = start .. start + count - 1, both multiples of 4. */
  multiply(start: number, count: number, vectors: readonly number[]): void;
  readonly outs: readonly Float64Array[];
}

/** Room for `rows` packed rows (a multiple of 4), zeroed, of `width` elements (a multiple of CHUNK). */
export function createPackedDots(rows: number, width: number, simd = true): PackedDots {
  return (simd ? createSimdDots(rows, width) : undefined) ?? createPlainDots(rows, width);
}

/** Adding it leaves the nearest integer in the low bits. */
const ROUND = 1.5 * 2 ** 52;

function createPlainDots(rows: number, width: number): PackedDots {
  const source = new Float32Array(MOST_ROWS * width);
  const centre = new Float64Array(width);
  const measured = new Float64Array(MOST_ROWS * 3);
  const packed = new Int16Array(rows * width);
  const outs = Array.from({ length: MOST_VECTORS }, () => new Float64Array(rows));
  return {
    source,
    centre,
    outs,
    measure(count) {
      for (let r = 0; r < count; r++) {
        let most = 0;
        let mostSquares = 0;
        // Even and odd columns apart, as the two lanes of a vector have them.
        const along = [0, 0];
        for (let from = 0; from < width; from += CHUNK) {
          const squares = [0, 0];
          for (let j = from; j < from + CHUNK; j++) {
            const x = source[r * width + j];
            const y = x - centre[j];
            most = Math.max(most, Math.abs(y));
            squares[j & 1] += y * y;
            along[j & 1] += x * centre[j];
          }
          mostSquares = Math.max(mostSquares, squares[0] + squares[1]);
        }
        measured.set([most, mostSquares, along[0] + along[1]], 3 * r);
      }
      return measured;
    },
    quantise(count, scales, row) {
      for (let r = 0; r < count; r++) {
        for (let j = 0; j < width; j++)
          packed[(row + r) * width + j] = (source[r * width + j] - centre[j]) * scales[r] + ROUND - ROUND;
      }
    },
    copy: (from, to) => void packed.copyWithin(to * width, from * width, (from + 1) * width),
    multiply(start, count, vectors) {
      vectors.forEach((vector, i) => {
        const b = vector * width;
        for (let r = start; r < start + count; r++) {
          const a = r * width;
          let sum = 0;
          for (let j = 0; j < width; j++) sum += packed[a + j] * packed[b + j];
          outs[i][r] = sum;
        }
      });
    },
  };
}

function createSimdDots(rows: number, width: number): PackedDots | undefined {
  code ??= { compiled: wasm.assemble({ measure, quantise, one: multiply(1), two: multiply(2) }) };
  if (code.compiled === undefined || rows === 0 || width === 0) return undefined;
  const outBytes = rows * 8;
  const rowBytes = width * 2;
  const measuredAt = MOST_VECTORS * outBytes;
  const scalesAt = measuredAt + MOST_ROWS * 24;
  const centreAt = scalesAt + MOST_ROWS * 8;
  const sourceAt = centreAt + width * 8;
  const packedAt = sourceAt + MOST_ROWS * width * 4;
  const memory = wasm.createMemory(packedAt + rows * rowBytes);
  if (memory === undefined) return undefined;
  const { buffer } = memory;
  const run = code.compiled.link(memory);
  const bytes = new Uint8Array(buffer);
  const measured = new Float64Array(buffer, measuredAt, MOST_ROWS * 3);
  const scalesView = new Float64Array(buffer, scalesAt, MOST_ROWS);
  return {
    source: new Float32Array(buffer, sourceAt, MOST_ROWS * width),
    centre: new Float64Array(buffer, centreAt, width),
    outs: Array.from({ length: MOST_VECTORS }, (_, i) => new Float64Array(buffer, i * outBytes, rows)),
    measure(count) {
      run.measure(sourceAt, count, width * 4, centreAt, measuredAt);
      return measured;
    },
    quantise(count, scales, row) {
      scalesView.set(scales.subarray(0, count));
      run.quantise(sourceAt, count, width * 4, centreAt, scalesAt, packedAt + row * rowBytes);
    },
    copy: (from, to) =>
      void bytes.copyWithin(packedAt + to * rowBytes, packedAt + from * rowBytes, packedAt + (from + 1) * rowBytes),
    multiply(start, count, vectors) {
      const from = packedAt + start * rowBytes;
      const at = (i: number): number => packedAt + vectors[i] * rowBytes;
      const outAt = (i: number): number => i * outBytes + start * 8;
      let i = 0;
      for (; i + 2 <= vectors.length; i += 2) run.two(from, count, rowBytes, outAt(i), outBytes, at(i), at(i + 1));
      if (i < vectors.length) run.one(from, count, rowBytes, outAt(i), outBytes, at(i));
    },
  };
}

let code: { readonly compiled: wasm.Compiled | undefined } | undefined;

/** Two numbers of a float32 row, `index` pairs on, as float64. */
const pairAt = (address: wasm.Local, index: number): wasm.Code =>
  wasm.promoteF32x4(wasm.load64Zero(address.get, 8 * index));
const lanesOf = (count: number): number[] => [...Array(count).keys()];

/** (rows, count, bytes a row, centre, out) */
const measure = wasm.fn(['i32', 'i32', 'i32', 'i32', 'i32'], ([at, count, bytes, centre, out], local) => {
  const [end, m] = [local('i32'), local('i32')];
  const [x, c, y, most, squares, along] = lanesOf(6).map(() => local('v128'));
  const mostSquares = local('f64');
  const laneSum = (v: wasm.Local): wasm.Code => wasm.addF64(wasm.laneF64(v.get, 0), wasm.laneF64(v.get, 1));
  return [
    wasm.loop(
      end.set(wasm.addI32(at.get, bytes.get)),
      m.set(centre.get),
      ...[most, along].map((v) => v.set(wasm.zeroV128)),
      mostSquares.set(wasm.f64(0)),
      wasm.loop(
        squares.set(wasm.zeroV128),
        ...lanesOf(CHUNK / 2).flatMap((i) => [
          x.set(pairAt(at, i)),
          c.set(wasm.loadV128(m.get, 16 * i)),
          y.set(wasm.subF64x2(x.get, c.get)),
          most.set(wasm.pmaxF64x2(most.get, wasm.absF64x2(y.get))),
          squares.set(wasm.addF64x2(squares.get, wasm.mulF64x2(y.get, y.get))),
          along.set(wasm.addF64x2(along.get, wasm.mulF64x2(x.get, c.get))),
        ]),
        mostSquares.set(wasm.maxF64(mostSquares.get, laneSum(squares))),
        at.add(4 * CHUNK),
        m.add(8 * CHUNK),
        wasm.againIf(wasm.ltU32(at.get, end.get)),
      ),
      wasm.storeF64(out.get, wasm.maxF64(wasm.laneF64(most.get, 0), wasm.laneF64(most.get, 1)), 0),
      wasm.storeF64(out.get, mostSquares.get, 8),
      wasm.storeF64(out.get, laneSum(along), 16),
      out.add(24),
      count.add(-1),
      wasm.againIf(wasm.gtI32(count.get, wasm.i32(0))),
    ),
  ];
});

/** (rows, count, bytes a row, centre, scales, out) */
const quantise = wasm.fn(
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  ([at, count, bytes, centre, scales, out], local) => {
    const [end, m] = [local('i32'), local('i32')];
    const [scale, round] = [local('v128'), local('v128')];
    /** Two integers, in the low 16 bits of each half. */
    const rounded = (i: number): wasm.Code =>
      wasm.addF64x2(wasm.mulF64x2(wasm.subF64x2(pairAt(at, i), wasm.loadV128(m.get, 16 * i)), scale.get), round.get);
    const low16 = [0, 1, 8, 9, 16, 17, 24, 25, 0, 1, 8, 9, 16, 17, 24, 25];
    const low64 = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
    const four = (i: number): wasm.Code => wasm.shuffle(low16, rounded(i), rounded(i + 1));
    return [
      round.set(wasm.splatF64(wasm.f64(ROUND))),
      wasm.loop(
        end.set(wasm.addI32(at.get, bytes.get)),
        m.set(centre.get),
        scale.set(wasm.loadSplat64(scales.get)),
        wasm.loop(
          wasm.storeV128(out.get, wasm.shuffle(low64, four(0), four(2))),
          at.add(32),
          m.add(64),
          out.add(16),
          wasm.againIf(wasm.ltU32(at.get, end.get)),
        ),
        scales.add(8),
        count.add(-1),
        wasm.againIf(wasm.gtI32(count.get, wasm.i32(0))),
      ),
    ];
  },
);

/**
 * (rows, count, bytes a row, out, bytes between two outs, vector addresses ...): four sums a turn (more would not stay in
 * registers, and take a third longer), CHUNK columns a turn within it. Sums of a chunk are 32-bit in four lanes, then added
 * to 64-bit sums.
 */
function multiply(vectors: 1 | 2): wasm.WasmFunction {
  const each = lanesOf(vectors);
  const some = lanesOf(4 / vectors);
  return wasm.fn(
    ['i32', 'i32', 'i32', 'i32', 'i32', ...each.map(() => 'i32' as const)],
    ([rows, count, bytes, out, gap, ...starts], local) => {
      const row = [rows, ...some.slice(1).map(() => local('i32'))];
      const at = each.map(() => local('i32'));
      const end = local('i32');
      const values = local('v128');
      const vector = each.map(() => local('v128'));
      const sums = some.map(() => each.map(() => local('v128')));
      const wide = some.map(() => each.map(() => local('v128')));
      const all = some.flatMap((r) => each.map((v) => [r, v] as const));
      const step = (i: number): wasm.Code[] => [
        ...each.map((v) => vector[v].set(wasm.loadV128(at[v].get, 16 * i))),
        ...some.flatMap((r) => [
          values.set(wasm.loadV128(row[r].get, 16 * i)),
          ...each.map((v) => {
            const products = wasm.dotI16x8(values.get, vector[v].get);
            return sums[r][v].set(i === 0 ? products : wasm.addI32x4(sums[r][v].get, products));
          }),
        ]),
      ];
      const widened = (sum: wasm.Local): wasm.Code =>
        wasm.addI64x2(wasm.extendLowI32x4(sum.get), wasm.extendHighI32x4(sum.get));
      const total = (sum: wasm.Local): wasm.Code =>
        wasm.f64FromI64(wasm.addI64(wasm.laneI64(sum.get, 0), wasm.laneI64(sum.get, 1)));
      return [
        wasm.loop(
          ...some.slice(1).map((r) => row[r].set(wasm.addI32(row[r - 1].get, bytes.get))),
          ...all.map(([r, v]) => wide[r][v].set(wasm.zeroV128)),
          ...each.map((v) => at[v].set(starts[v].get)),
          end.set(wasm.addI32(starts[0].get, bytes.get)),
          wasm.loop(
            ...lanesOf(CHUNK / 8).flatMap(step),
            ...all.map(([r, v]) => wide[r][v].set(wasm.addI64x2(wide[r][v].get, widened(sums[r][v])))),
            ...[...at, ...row].map((pointer) => pointer.add(2 * CHUNK)),
            wasm.againIf(wasm.ltU32(at[0].get, end.get)),
          ),
          ...some.map((r) => wasm.storeF64(out.get, total(wide[r][0]), 8 * r)),
          ...(vectors === 1
            ? []
            : some.map((r) => wasm.storeF64(wasm.addI32(out.get, gap.get), total(wide[r][1]), 8 * r))),
          out.add(8 * some.length),
          rows.set(row[some.length - 1].get),
          count.add(-some.length),
          wasm.againIf(wasm.gtI32(count.get, wasm.i32(0))),
        ),
      ];
    },
  );
}
