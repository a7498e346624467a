import { describe, expect, it } from 'vitest';
import * as wasm from '../../../src/kernels/wasm.ts';

/** sums(from, end, out): the sum of the f64 pairs between two addresses, by lane; then `halved`, that times .5. */
const functions = {
  sums: wasm.fn(['i32', 'i32', 'i32'], ([at, end, out], local) => {
    const sum = local('v128');
    return [
      sum.set(wasm.zeroV128),
      wasm.loop(
        sum.set(wasm.addF64x2(sum.get, wasm.loadV128(at.get))),
        at.add(16),
        wasm.againIf(wasm.ltU32(at.get, end.get)),
      ),
      wasm.storeF64(out.get, wasm.laneF64(sum.get, 0)),
      wasm.storeF64(out.get, wasm.laneF64(sum.get, 1), 8),
    ];
  }),
  halved: wasm.fn(['i32', 'i32'], ([from, to]) => [
    wasm.storeV128(to.get, wasm.mulF64x2(wasm.loadV128(from.get), wasm.splatF64(wasm.f64(0.5)))),
  ]),
};

describe('assemble', () => {
  it('makes functions that work on a memory, with addresses beyond one byte of LEB128', () => {
    const memory = wasm.createMemory(3 * 65536)!;
    const run = wasm.assemble(functions)!.link(memory);
    const view = new Float64Array(memory.buffer);
    const at = 70_000 - (70_000 % 16);
    for (let i = 0; i < 1000; i++) view[at / 8 + i] = i;
    run.sums(at, at + 8000, 32);
    expect([view[4], view[5]]).toEqual([249_500, 250_000]);
    run.halved(32, 64);
    expect([view[8], view[9]]).toEqual([124_750, 125_000]);
  });

  it('answers undefined where the engine refuses the code', () => {
    const wrong = { f: wasm.fn(['i32'], ([a]) => [wasm.addI32(a.get, wasm.zeroV128)]) };
    expect(wasm.assemble(wrong)).toBeUndefined();
  });
});

describe('memory', () => {
  it('grows, and says when it cannot', () => {
    const memory = wasm.createMemory(10)!;
    expect(memory.buffer.byteLength).toBe(65536);
    expect(wasm.growMemory(memory, 65536)).toBe(true);
    expect(wasm.growMemory(memory, 65537)).toBe(true);
    expect(memory.buffer.byteLength).toBe(2 * 65536);
    expect(wasm.growMemory(memory, 2 ** 33)).toBe(false);
    expect(wasm.createMemory(2 ** 33)).toBeUndefined();
  });
});
