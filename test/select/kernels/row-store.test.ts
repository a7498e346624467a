import { describe, expect, it } from 'vitest';
import { createRowStore, type RowStore } from '../../../select/kernels/row-store.ts';
import { createRng } from '../../../src/kernels/rng.ts';

function fill(store: RowStore, count: number, size: number, seed: number): void {
  const rng = createRng(seed);
  for (let i = 0; i < count; i++) {
    const row = store.rows[store.take()];
    for (let d = 0; d < size; d++) row[d] = rng.normal();
  }
}

describe('row store', () => {
  it('gives the bits of the plain loops, also beyond its first memory', () => {
    const rng = createRng(41);
    for (const [size, count] of [
      [256, 30],
      [301, 700],
      [5003, 60],
    ]) {
      const stores = [createRowStore(size, true), createRowStore(size, false)];
      for (const store of stores) fill(store, count, size, size);
      for (let round = 0; round < 12; round++) {
        const sources = Array.from({ length: rng.int(15) }, () => rng.int(count >> 1));
        const targets = [...new Set(Array.from({ length: 1 + rng.int(5) }, () => (count >> 1) + rng.int(count >> 1)))];
        const factors = targets.map(() => Float64Array.from(sources, () => rng.normal()));
        const from = rng.int(sources.length + 1);
        for (const store of stores) store.subtract(targets, sources, factors, from);
      }
      for (let slot = 0; slot < count; slot++) expect(stores[0].rows[slot]).toEqual(stores[1].rows[slot]);
    }
  });

  it('is what it says, and the same in portions', () => {
    for (const simd of [true, false]) {
      const size = 300;
      const store = createRowStore(size, simd);
      fill(store, 12, size, 5);
      const sources = [0, 1, 2, 3, 4, 5, 6];
      const factor = Float64Array.from(sources, (p) => 0.3 * p - 1);
      const before = store.rows[10].slice();
      store.rows[11].set(before);
      store.subtract([10], sources, [factor], 0);
      for (const end of [2, 3, 7]) {
        const start = end === 2 ? 0 : end === 3 ? 2 : 3;
        store.subtract([11], sources.slice(0, end), [factor], start);
      }
      expect(store.rows[11]).toEqual(store.rows[10]);
      for (let d = 0; d < size; d++) {
        let expected = before[d];
        for (const p of sources) expected -= factor[p] * store.rows[p][d];
        expect(store.rows[10][d]).toBe(expected);
      }
    }
  });

  it('hands freed slots out again', () => {
    const store = createRowStore(3);
    const [a, b] = [store.take(), store.take()];
    store.free(a);
    expect(store.take()).toBe(a);
    expect(store.take()).not.toBe(b);
  });
});
