import { describe, expect, it } from 'vitest';
import { fitLogistic, sigmoid } from '../../../src/kernels/logistic.ts';
import { createRng } from '../../../src/kernels/rng.ts';

const random = (rows: number, columns: number, seed: number) => {
  const rng = createRng(seed);
  const truth = Float64Array.from({ length: columns + 1 }, () => rng.normal());
  const x = Float64Array.from({ length: rows * columns }, () => rng.normal());
  const y = Float64Array.from({ length: rows }, (_, row) => {
    let z = truth[columns];
    for (let j = 0; j < columns; j++) z += truth[j] * x[row * columns + j];
    return rng.next() < sigmoid(z) ? 1 : 0;
  });
  const weights = Float64Array.from({ length: rows }, () => 1 + rng.int(3));
  return { x, columns, y, weights, truth };
};

describe('fitLogistic', () => {
  it('stands where the gradient of the penalised loss is zero', () => {
    for (const ridge of [0, 1, 30]) {
      const data = random(200, 3, 1);
      const beta = fitLogistic(data, ridge);
      const gradient = new Float64Array(4);
      for (let row = 0; row < 200; row++) {
        let z = beta[3];
        for (let j = 0; j < 3; j++) z += beta[j] * data.x[row * 3 + j];
        const pull = data.weights[row] * (sigmoid(z) - data.y[row]);
        for (let j = 0; j < 3; j++) gradient[j] += pull * data.x[row * 3 + j];
        gradient[3] += pull;
      }
      for (let j = 0; j < 3; j++) expect(gradient[j] + ridge * beta[j]).toBeCloseTo(0, 5);
      expect(gradient[3]).toBeCloseTo(0, 5);
    }
  });

  it('finds the coefficients that made the data', () => {
    const data = random(20_000, 2, 2);
    fitLogistic(data, 1).forEach((value, j) => {
      expect(Math.abs(value - data.truth[j])).toBeLessThan(0.1);
    });
  });

  it('counts a row of weight 3 as three rows', () => {
    const data = random(60, 2, 3);
    const rows = [...data.weights].flatMap((weight, row) => Array<number>(weight).fill(row));
    const repeated = fitLogistic(
      {
        columns: 2,
        x: Float64Array.from(rows.flatMap((row) => [data.x[2 * row], data.x[2 * row + 1]])),
        y: Float64Array.from(rows, (row) => data.y[row]),
        weights: new Float64Array(rows.length).fill(1),
      },
      1,
    );
    fitLogistic(data, 1).forEach((value, j) => {
      expect(value).toBeCloseTo(repeated[j], 6);
    });
  });

  it('stays finite on separable data, constant columns and one class', () => {
    const x = Float64Array.of(-1, 0, -2, 0, 1, 0, 2, 0);
    const weights = Float64Array.of(1, 1, 1, 1);
    for (const y of [Float64Array.of(0, 0, 1, 1), Float64Array.of(1, 1, 1, 1), Float64Array.of(0, 0, 0, 0)]) {
      for (const value of fitLogistic({ x, columns: 2, y, weights }, 1)) expect(Number.isFinite(value)).toBe(true);
    }
  });

  it('sigmoid neither overflows nor loses small values', () => {
    expect(sigmoid(0)).toBe(0.5);
    expect(sigmoid(1000)).toBe(1);
    expect(sigmoid(-1000)).toBe(0);
    expect(sigmoid(-40)).toBeCloseTo(Math.exp(-40), 30);
  });
});
