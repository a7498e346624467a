import { describe, expect, it } from 'vitest';
import { type BoundaryInput, mostContested, mostUncertain } from '../../../select/kernels/boundary.ts';
import { createRng } from '../../../src/kernels/rng.ts';

/** Eq. 4 by listing every pair, with the tie rules written as one sort. */
function listed(input: BoundaryInput) {
  const { means, variances, open, capacity } = input;
  const order = [...means.keys()].sort((a, b) => means[b] - means[a] || a - b);
  const pairs: { i: number; j: number; z2: number; width: number }[] = [];
  for (const i of order.slice(0, capacity)) {
    for (const j of order.slice(capacity)) {
      if (open[i] === 0 && open[j] === 0) continue;
      const width = variances[i] + variances[j];
      const z2 = width > 0 ? (means[i] - means[j]) ** 2 / width : Number.POSITIVE_INFINITY;
      pairs.push({ i, j, z2, width });
    }
  }
  pairs.sort((a, b) => (a.z2 === b.z2 ? 0 : a.z2 - b.z2) || b.width - a.width || a.j - b.j || b.i - a.i);
  return pairs[0];
}

describe('mostContested', () => {
  it('equals the full list of pairs, ties included', () => {
    const rng = createRng(21);
    let tied = 0;
    for (let round = 0; round < 900; round++) {
      const size = 1 + rng.int(round % 10 === 0 ? 400 : 30);
      // Coarse values make ties in mean, variance and z common.
      const grid = round % 3 === 0 ? 3 : round % 3 === 1 ? 8 : 1e9;
      const means = Float64Array.from({ length: size }, () => rng.int(grid) / grid);
      const open = Uint8Array.from({ length: size }, () => (rng.next() < 0.7 ? 1 : 0));
      const flat = rng.next() < 0.1;
      const variances = Float64Array.from({ length: size }, (_, d) =>
        open[d] === 0 && rng.next() < 0.8 ? 0 : flat ? 0 : rng.int(grid) / grid,
      );
      const input = { means, variances, open, capacity: rng.int(size + 2) };
      const expected = input.capacity < size ? listed(input) : undefined;
      const found = mostContested(input);
      if (expected === undefined) {
        expect(found).toBeUndefined();
        continue;
      }
      if (grid < 10) tied++;
      expect([found!.incumbent, found!.challenger]).toEqual([expected.i, expected.j]);
      expect(found!.gap).toBe(Math.sqrt(expected.z2));
    }
    expect(tied).toBeGreaterThan(200);
  });

  it('scores the member with the larger deviation, the better position on a tie', () => {
    const base = { means: Float64Array.of(1, 0.5, 0.4), open: Uint8Array.of(1, 1, 1), capacity: 2 };
    expect(mostContested({ ...base, variances: Float64Array.of(0.1, 0.2, 0.3) })?.pick).toBe(2);
    expect(mostContested({ ...base, variances: Float64Array.of(0.1, 0.3, 0.2) })?.pick).toBe(1);
    expect(mostContested({ ...base, variances: Float64Array.of(0.1, 0.3, 0.3) })?.pick).toBe(1);
    expect(
      mostContested({ ...base, variances: Float64Array.of(0.1, 0.3, 0), open: Uint8Array.of(1, 0, 1) })?.pick,
    ).toBe(2);
  });

  it('has nothing to contest without two sides', () => {
    const input = { means: Float64Array.of(1, 0), variances: Float64Array.of(1, 1), open: Uint8Array.of(1, 1) };
    expect(mostContested({ ...input, capacity: 0 })).toBeUndefined();
    expect(mostContested({ ...input, capacity: 2 })).toBeUndefined();
    expect(mostContested({ ...input, capacity: 1, open: Uint8Array.of(0, 0) })).toBeUndefined();
  });

  it('ranks a pair without any uncertainty last', () => {
    // 0 and 1 are equal and certain, yet open; the wide pair (0, 2) is the one a call can decide.
    const input = {
      means: Float64Array.of(0.5, 0.5, 0.1),
      variances: Float64Array.of(0, 0, 1),
      open: Uint8Array.of(1, 1, 1),
      capacity: 1,
    };
    expect(mostContested(input)).toMatchObject({ incumbent: 0, challenger: 2, pick: 2 });
  });
});

describe('mostUncertain', () => {
  it('prefers the better position among equals and skips what is closed', () => {
    expect(mostUncertain(Float64Array.of(1, 3, 3), Uint8Array.of(1, 1, 1))).toBe(1);
    expect(mostUncertain(Float64Array.of(1, 3, 3), Uint8Array.of(1, 0, 0))).toBe(0);
    expect(mostUncertain(Float64Array.of(1), Uint8Array.of(0))).toBe(-1);
  });
});
