/**
 * exp(-rate (1 - c)) for many cosines c at once: what turns a row of cosines into a row of the kernel. In WebAssembly SIMD where
 * there is room for it, else in a plain loop; the same steps in the same order, so the same bits, within an ulp or two of
 * Math.exp.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2; exp r by its Taylor series to r^13 (the next term is below 1e-17), times 2^n.
 */
import * as wasm from '../../src/kernels/wasm.ts';

const LOG2_E = Math.LOG2E;
/** ln 2 in two parts: the first is exact in products with any n. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
/** Adding it leaves the nearest integer in the low bits. */
const ROUND = 1.5 * 2 ** 52;
/** Below this exp is no longer a normal number; nobody misses it. */
const LEAST = -700;
const LEAST_POWER = -1012;
const TAYLOR: readonly number[] = Array.from({ length: 14 }, (_, i) => {
  let factorial = 1;
  for (let j = 2; j <= 13 - i; j++) factorial *= j;
  return 1 / factorial;
});
const POWERS = Float64Array.from({ length: 1 - LEAST_POWER }, (_, i) => 2 ** -i);

/** values[d] = exp(-rate (1 - values[d])), a value above 1 counting as 1. rate >= 0. */
export function decayInPlace(values: Float64Array, rate: number, simd = true): void {
  if (!simd || values.length < WORTH || !decaySimd(values, rate)) decayPlain(values, rate);
}

function decayPlain(values: Float64Array, rate: number): void {
  for (let d = 0; d < values.length; d++) {
    const x = Math.max(Math.max(1 - values[d], 0) * -rate, LEAST);
    const n = x * LOG2_E + ROUND - ROUND;
    const r = x - n * LN2_HIGH - n * LN2_LOW;
    let sum = TAYLOR[0];
    for (let i = 1; i < TAYLOR.length; i++) sum = sum * r + TAYLOR[i];
    values[d] = sum * POWERS[-n];
  }
}

/** Below this the copies cost more than the loop. */
const WORTH = 64;
const BLOCK = 2048;

function decaySimd(values: Float64Array, rate: number): boolean {
  machine ??= { ready: link() };
  const { ready } = machine;
  if (ready === undefined) return false;
  for (let start = 0; start < values.length; start += BLOCK) {
    const end = Math.min(values.length, start + BLOCK);
    ready.block.set(values.subarray(start, end));
    ready.decay(0, Math.ceil((end - start) / 4) * 32, rate);
    values.set(end - start === BLOCK ? ready.block : ready.block.subarray(0, end - start), start);
  }
  return true;
}

interface Ready {
  readonly block: Float64Array;
  decay(at: number, end: number, rate: number): void;
}

let machine: { readonly ready: Ready | undefined } | undefined;

function link(): Ready | undefined {
  const memory = wasm.createMemory(BLOCK * 8 + TAYLOR.length * 8);
  const compiled = wasm.assemble({ decay });
  if (memory === undefined || compiled === undefined) return undefined;
  new Float64Array(memory.buffer, BLOCK * 8, TAYLOR.length).set(TAYLOR);
  const { decay: run } = compiled.link(memory);
  return { block: new Float64Array(memory.buffer, 0, BLOCK), decay: run };
}

/** (from, end, rate): four values a turn, in two vectors, so that neither waits for itself. The series lies behind the block. */
const decay = wasm.fn(['i32', 'i32', 'f64'], ([at, end, rate], local) => {
  const [one, zero, round, least, log2e, high, low, minus] = Array.from({ length: 8 }, () => local('v128'));
  const values: readonly (readonly [wasm.Local, number])[] = [
    [one, 1],
    [round, ROUND],
    [least, LEAST],
    [log2e, LOG2_E],
    [high, LN2_HIGH],
    [low, LN2_LOW],
  ];
  const pair = (): wasm.Local[] => [local('v128'), local('v128')];
  const [x, shifted, n, sum] = [pair(), pair(), pair(), pair()];
  const both = (step: (v: number) => wasm.Code): wasm.Code => [0, 1].flatMap(step);
  const term = (i: number): wasm.Code => wasm.loadSplat64(wasm.i32(0), BLOCK * 8 + i * 8);
  const { addF64x2: add, subF64x2: sub, mulF64x2: mul } = wasm;
  return [
    zero.set(wasm.zeroV128),
    ...values.map(([constant, value]) => constant.set(wasm.splatF64(wasm.f64(value)))),
    minus.set(sub(zero.get, wasm.splatF64(rate.get))),
    wasm.loop(
      // A distance below 0 becomes 0, an exponent below LEAST that.
      both((v) => x[v].set(wasm.pmaxF64x2(sub(one.get, wasm.loadV128(at.get, 16 * v)), zero.get))),
      both((v) => x[v].set(wasm.pmaxF64x2(mul(x[v].get, minus.get), least.get))),
      both((v) => shifted[v].set(add(mul(x[v].get, log2e.get), round.get))),
      both((v) => n[v].set(sub(shifted[v].get, round.get))),
      both((v) => x[v].set(sub(sub(x[v].get, mul(n[v].get, high.get)), mul(n[v].get, low.get)))),
      both((v) => sum[v].set(term(0))),
      ...TAYLOR.slice(1).map((_, i) => both((v) => sum[v].set(add(mul(sum[v].get, x[v].get), term(i + 1))))),
      // n sits in the low bits of `shifted`: moved up, and biased by the bits of 1, it is the exponent of 2^n.
      both((v) => {
        const power = wasm.addI64x2(wasm.shlI64x2(shifted[v].get, 52), one.get);
        return wasm.storeV128(at.get, mul(sum[v].get, power), 16 * v);
      }),
      at.add(32),
      wasm.againIf(wasm.ltU32(at.get, end.get)),
    ),
  ];
});
