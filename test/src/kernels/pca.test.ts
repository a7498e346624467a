/** Principal components against a slow oracle: power iteration with deflation on the covariance itself. */
import { describe, expect, it } from 'vitest';
import { principalComponents } from '../../../src/kernels/pca.ts';
import { createRng } from '../../../src/kernels/rng.ts';

function random(rows: number, columns: number, seed: number) {
  const rng = createRng(seed);
  // Columns of different spread, so that the directions are well apart.
  const data = Float64Array.from(
    { length: rows * columns },
    (_, i) => rng.normal() * (1 + 3 / (1 + (i % columns))) + 5,
  );
  return { rows, columns, data };
}

/** Covariance, power iteration, deflation: textbook and slow. */
function oracle({ rows, columns, data }: ReturnType<typeof random>, components: number) {
  const at = (r: number, j: number): number => data[r * columns + j];
  const mean = Array.from({ length: columns }, (_, j) => {
    let sum = 0;
    for (let r = 0; r < rows; r++) sum += at(r, j);
    return sum / rows;
  });
  const x = Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (_, j) => at(r, j) - mean[j]));
  const covariance = Array.from({ length: columns }, (_, i) =>
    Array.from({ length: columns }, (_, j) => x.reduce((sum, row) => sum + row[i] * row[j], 0)),
  );
  const total = covariance.reduce((sum, row, i) => sum + row[i], 0);
  const shares: number[] = [];
  const scores: number[][] = [];
  for (let c = 0; c < components; c++) {
    let axis = Array.from({ length: columns }, (_, j) => 1 + j * 0.1);
    let value = 0;
    for (let i = 0; i < 20_000; i++) {
      const next = covariance.map((row) => row.reduce((sum, entry, j) => sum + entry * axis[j], 0));
      value = Math.hypot(...next);
      axis = next.map((entry) => entry / value);
    }
    shares.push(value / total);
    const along = x.map((row) => row.reduce((sum, entry, j) => sum + entry * axis[j], 0));
    const largest = along.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
    scores.push(along.map((score) => (largest < 0 ? -score : score)));
    for (let i = 0; i < columns; i++) for (let j = 0; j < columns; j++) covariance[i][j] -= value * axis[i] * axis[j];
  }
  return { shares, scores };
}

describe('principalComponents', () => {
  it.each([
    [40, 6, 1],
    [7, 12, 2],
    [9, 9, 3],
  ])('%i rows of %i columns: as power iteration has them', (rows, columns, seed) => {
    const matrix = random(rows, columns, seed);
    const { scores, shares } = principalComponents(matrix, 2);
    const slow = oracle(matrix, 2);
    for (let c = 0; c < 2; c++) {
      expect(shares[c]).toBeCloseTo(slow.shares[c], 8);
      for (let r = 0; r < rows; r++) expect(scores[r * 2 + c]).toBeCloseTo(slow.scores[c][r], 5);
    }
  });

  it('is the identity of variances: over all components the shares sum to 1', () => {
    const { shares } = principalComponents(random(30, 5, 4), 5);
    expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });

  it('rows on a line have one component, equal rows none, no rows nothing', () => {
    const line = { rows: 3, columns: 2, data: Float64Array.of(0, 0, 1, 2, 2, 4) };
    expect([...principalComponents(line, 2).shares]).toEqual([1, 0]);
    expect([...principalComponents({ rows: 2, columns: 2, data: Float64Array.of(1, 2, 1, 2) }, 2).scores]).toEqual([
      0, 0, 0, 0,
    ]);
    expect(principalComponents({ rows: 0, columns: 3, data: new Float64Array() }, 2).scores.length).toBe(0);
  });
});
