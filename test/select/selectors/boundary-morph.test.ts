import { describe, expect, it } from 'vitest';
import { createBoundaryMorph } from '../../../select/selectors/boundary-morph.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { type OracleInput, oracleStep } from '../../support/dense-gp.ts';
import { EXAMPLE_SCORES, exampleVectors, poolOf, randomVectors, SHAPES, unit } from '../../support/pools.ts';

const options = (input: OracleInput) => ({
  kernel: input.kernel,
  gap: input.gap,
  pairCovariance: input.pairCovariance,
  queryResidual: input.queryResidual as 0 | 1 | undefined,
});

/** Runs the selector beside the oracle, step by step; answers how often they chose differently within rounding. */
function follow(input: OracleInput): { asked: number[]; ties: number } {
  const run = createBoundaryMorph(options(input)).begin(poolOf(input.vectors, input.query), {
    budget: input.budget,
    capacity: input.capacity,
  });
  const asked: number[] = [];
  let ties = 0;
  const n = input.vectors.length;
  const compare = () => {
    const truth = oracleStep(input, asked);
    const { order } = run.result();
    let meanError = 0;
    let varianceError = 0;
    let disorder = 0;
    order.forEach((document, r) => {
      const { position: d, relevanceScore, std } = document;
      meanError = Math.max(meanError, Math.abs(relevanceScore - truth.mu[d]));
      varianceError = Math.max(varianceError, Math.abs(std ** 2 - truth.sigma[d] ** 2));
      const next = order[r + 1];
      if (next === undefined || relevanceScore > next.relevanceScore) return;
      if (relevanceScore < next.relevanceScore || d > next.position) disorder++;
    });
    expect(meanError).toBeLessThan(1e-8);
    // The variance near 0 is a difference of numbers near 1: its root would carry half their digits.
    expect(varianceError).toBeLessThan(1e-11);
    expect(disorder).toBe(0);
    return truth;
  };
  for (;;) {
    const truth = compare();
    const next = run.ask();
    if (next.length === 0) break;
    expect(next).toHaveLength(1);
    const [pick] = next;
    if (pick !== truth.pick) {
      // Allowed only when exact arithmetic would call it a tie.
      if (truth.pair === undefined) expect(truth.sigma[pick]).toBeCloseTo(truth.sigma[truth.pick], 6);
      else {
        const near = truth.pairs.filter(
          (p) => p.z === truth.pair!.z || p.z - truth.pair!.z <= 1e-6 * (1 + truth.pair!.z),
        );
        expect(near.some((p) => p.i === pick || p.j === pick)).toBe(true);
      }
      ties++;
    }
    asked.push(pick);
    run.tell(pick, input.scores[pick]);
  }
  expect(asked).toHaveLength(Math.min(input.budget, n));
  return { asked, ties };
}

describe('the worked example', () => {
  const input: OracleInput = {
    vectors: exampleVectors(),
    query: [1, 0],
    scores: EXAMPLE_SCORES,
    budget: 3,
    capacity: 2,
  };

  it('asks for 2, 1 and 5 and ends in the order 3, 4, 2, 0, 1, 5', () => {
    const run = createBoundaryMorph().begin(poolOf(input.vectors, input.query), { budget: 3, capacity: 2 });
    const asked: number[] = [];
    for (;;) {
      const next = run.ask();
      if (next.length === 0) break;
      asked.push(...next);
      for (const position of next) run.tell(position, EXAMPLE_SCORES[position]);
    }
    expect(asked).toEqual([2, 1, 5]);
    expect(run.result().order.map((d) => d.position)).toEqual([3, 4, 2, 0, 1, 5]);
    expect(run.result().order.map((d) => d.id)).toEqual(['d3', 'd4', 'd2', 'd0', 'd1', 'd5']);
  });

  const states: [number[], number[], number[]][] = [
    [[], [1, 0.8, 0.6, 0.4, 0.2, 0], [0.29356335, 0.5482167568, 0.866039836, 0.9738210976, 0.9962570787, 0.9995227233]],
    [
      [2],
      [1.0216449997, 0.85, 0.7, 0.510892916, 0.2913473217, 0.0696394175],
      [0.0094579759, 0.0129766841, 0, 0.0250997991, 0.0422603378, 0.0484560907],
    ],
    [[2, 1], [0.5589780596, 0.2, 0.7, 1.3790292351, 1.1563528008, 0.4658410288], []],
    [[2, 1, 5], [0.5545767158, 0.2, 0.7, 1.2790397889, 0.8631463959, 0.05], []],
  ];
  it.each(states)('has the published means and deviations after scoring %j', (scored, means, deviations) => {
    const run = createBoundaryMorph().begin(poolOf(input.vectors, input.query), { budget: 3, capacity: 2 });
    for (const expected of scored) {
      expect(run.ask()).toEqual([expected]);
      run.tell(expected, EXAMPLE_SCORES[expected]);
    }
    for (const { position, relevanceScore, std, source } of run.result().order) {
      expect(Math.abs(relevanceScore - means[position])).toBeLessThan(1e-8);
      if (deviations.length > 0) expect(Math.abs(std - deviations[position])).toBeLessThan(1e-8);
      expect(source).toBe(scored.includes(position) ? 'scored' : 'estimated');
    }
  });

  it('agrees with the oracle, which has the published pairs', () => {
    const first = oracleStep(input, []);
    expect([first.pair!.i, first.pair!.j]).toEqual([1, 2]);
    expect(first.pair!.z).toBeCloseTo(0.1951273735404856, 12);
    const second = oracleStep(input, [2]);
    expect([second.mean, second.deviation]).toEqual([expect.closeTo(0.05, 12), expect.closeTo(0.05, 12)]);
    expect([second.pair!.i, second.pair!.j]).toEqual([1, 2]);
    expect(second.pair!.z).toBeCloseTo(11.55919334, 8);
    const third = oracleStep(input, [2, 1]);
    expect(third.mean).toBeCloseTo(-1 / 6, 12);
    expect(third.deviation).toBeCloseTo(0.3091206165, 10);
    expect([third.pair!.i, third.pair!.j]).toEqual([4, 5]);
    expect(third.pair!.z).toBeCloseTo(1.8503952669, 9);
    const last = oracleStep(input, [2, 1, 5]);
    const before = [0.5545767158, 0.2010349126, 0.6993877074, 1.2790397889, 0.8631463959, 0.0500511511];
    last.posterior.forEach((value, d) => {
      expect(value).toBeCloseTo(before[d], 9);
    });
    expect(follow(input)).toEqual({ asked: [2, 1, 5], ties: 0 });
  });
});

describe('against the slow oracle', () => {
  for (const shape of SHAPES) {
    it(`follows it on random pools: ${shape}`, () => {
      const rng = createRng(SHAPES.indexOf(shape) + 11);
      let ties = 0;
      let steps = 0;
      for (let round = 0; round < 40; round++) {
        const n = 1 + rng.int(24);
        const width = 2 + rng.int(6);
        const constant = rng.next() < 0.15;
        const input: OracleInput = {
          vectors: randomVectors(rng, n, width, shape),
          query: rng.next() < 0.1 ? undefined : unit(Array.from({ length: width }, () => rng.normal())),
          scores: Array.from({ length: n }, () => (rng.next() < 0.1 ? null : constant ? 0.5 : rng.next() ** 3)),
          budget: rng.int(n + 3),
          capacity: rng.int(n + 2),
        };
        const result = follow(input);
        ties += result.ties;
        steps += result.asked.length;
      }
      expect(steps).toBeGreaterThan(200);
      // Where vectors repeat, exact ties are real and rounding decides them; elsewhere there are none.
      if (shape === 'gaussian' || shape === 'clusters' || shape === 'plane') expect(ties).toBe(0);
      else expect(ties / steps).toBeLessThan(0.05);
    });
  }

  const variants: Partial<OracleInput>[] = [
    { kernel: 'rbf' },
    { kernel: 'matern52' },
    { queryResidual: 1 },
    { gap: 'additive' },
    { pairCovariance: true },
  ];
  it.each(variants)('follows it with %j', (variant) => {
    const rng = createRng(5);
    for (let round = 0; round < 40; round++) {
      const n = 2 + rng.int(20);
      const width = 3 + rng.int(4);
      const input: OracleInput = {
        vectors: randomVectors(rng, n, width, round % 2 === 0 ? 'gaussian' : 'clusters'),
        query: unit(Array.from({ length: width }, () => rng.normal())),
        scores: Array.from({ length: n }, () => rng.next()),
        budget: n,
        capacity: 1 + rng.int(n),
        ...variant,
      };
      expect(follow(input).ties).toBe(0);
    }
  });
});
