import { describe, expect, it } from 'vitest';
import { createPosterior, type Posterior, QUERY } from '../../../select/kernels/posterior.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { randomVectors } from '../../support/pools.ts';

const SIZE = 12;

function rowsOf(seed: number): (position: number, out: Float64Array) => void {
  const vectors = randomVectors(createRng(seed), SIZE + 1, 4, 'gaussian');
  return (position, out) => {
    const a = position === QUERY ? vectors[SIZE] : vectors[position];
    for (let d = 0; d < SIZE; d++) {
      out[d] = d === position ? 1 : Math.exp(2 * (a.reduce((sum, x, i) => sum + x * vectors[d][i], 0) - 1));
    }
  };
}

function facts(posterior: Posterior): number[] {
  const prior = new Float64Array(SIZE);
  const means = new Float64Array(SIZE);
  posterior.means(prior, means);
  const variances = Array.from({ length: SIZE }, (_, d) => posterior.variance(d));
  const { mean, deviation } = posterior.residualMoments();
  return [...means, ...variances, mean, deviation];
}

describe('rewinding', () => {
  it('leaves exactly the state of a run that never went further', () => {
    const one = createPosterior({ size: SIZE, row: rowsOf(1) });
    const two = createPosterior({ size: SIZE, row: rowsOf(1) });
    for (const posterior of [one, two]) {
      posterior.add(QUERY);
      posterior.settle(0);
      posterior.add(3);
      posterior.settle(0.4);
    }
    one.add(5);
    one.add(7);
    one.rewind(2);
    expect(facts(one)).toEqual(facts(two));
    one.add(9);
    one.settle(-0.2);
    two.add(9);
    two.settle(-0.2);
    expect(facts(one)).toEqual(facts(two));
    one.rewind(1);
    expect(one.count).toBe(1);
    expect(one.residualMoments()).toEqual({ mean: 0, deviation: 1 });
  });

  it('gives the same whether residuals come at once or after later observations', () => {
    const early = createPosterior({ size: SIZE, row: rowsOf(2) });
    const late = createPosterior({ size: SIZE, row: rowsOf(2) });
    for (const [position, residual] of [
      [2, 0.3],
      [8, -0.5],
      [4, 0.1],
    ]) {
      early.add(position);
      early.settle(residual);
    }
    for (const position of [2, 8, 4]) late.add(position);
    for (const residual of [0.3, -0.5, 0.1]) late.settle(residual);
    expect(facts(late)).toEqual(facts(early));
  });
});

describe('a kernel that is not positive definite', () => {
  // K(a,b) = 1 + excess for all pairs but 1 on the diagonal: lambda^2 of the second observation is
  // 1 + noise - (1 + excess)^2 / (1 + noise).
  const tooAlike = (excess: number) => (position: number, out: Float64Array) => {
    for (let d = 0; d < SIZE; d++) out[d] = d === position ? 1 : 1 + excess;
  };

  it('starts again with the larger noise', () => {
    const posterior = createPosterior({ size: SIZE, row: tooAlike(1e-3) });
    posterior.add(0);
    posterior.settle(0.5);
    expect(posterior.noise).toBe(1e-4);
    posterior.add(1);
    expect(posterior.noise).toBe(1e-2);
    posterior.settle(0.1);
    // Against the closed form of the 2 x 2 block with 1e-2 on its diagonal.
    const [a, b] = [1.01, 1.001];
    const centred = [0.2, -0.2];
    const weight = (centred[0] * (a - b) + centred[1] * (a - b)) / (a * a - b * b);
    const prior = new Float64Array(SIZE);
    const means = new Float64Array(SIZE);
    posterior.means(prior, means);
    expect(means[5]).toBeCloseTo(0.3 + b * weight, 10);
    expect(facts(posterior).every(Number.isFinite)).toBe(true);
  });

  it('leaves a row out when even that does not help, and stays finite', () => {
    const posterior = createPosterior({ size: SIZE, row: tooAlike(0.5) });
    for (let d = 0; d < SIZE; d++) {
      posterior.add(d);
      posterior.settle(d / SIZE);
    }
    expect(posterior.count).toBe(SIZE);
    expect(facts(posterior).every(Number.isFinite)).toBe(true);
    expect(posterior.residualMoments().mean).toBeCloseTo(11 / 24, 12);
    for (let d = 0; d < SIZE; d++) expect(posterior.variance(d)).toBeGreaterThanOrEqual(0);
  });
});

describe('residualMoments', () => {
  it('takes a spread of rounding size as none', () => {
    const posterior = createPosterior({ size: SIZE, row: rowsOf(3) });
    for (const d of [0, 1, 2]) {
      posterior.add(d);
      posterior.settle(0.1);
    }
    expect(posterior.residualMoments().deviation).toBe(1);
  });
});
