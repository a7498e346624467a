import { describe, expect, it } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import {
  batchTotals,
  type GrpoBatch,
  type GrpoOptions,
  grpoLoss,
  type LossAggregation,
} from '../../../train/kernels/grpo-loss.ts';

const AGGREGATIONS: LossAggregation[] = ['grpo', 'dapo', 'dr_grpo', 'bnpo'];
const options = (aggregation: LossAggregation, over: Partial<GrpoOptions> = {}): GrpoOptions => ({
  aggregation,
  clipLow: 0.2,
  clipHigh: 0.2,
  beta: 0.1,
  maxLength: 16,
  ...over,
});

/** Log-probs around each other widely enough that both clips bite. */
function randomBatch(seed: number, sequences: number): GrpoBatch {
  const rng = createRng(seed);
  const lengths = Array.from({ length: sequences }, () => rng.int(7));
  const row = (length: number) => Float64Array.from({ length }, () => -0.1 - 2 * rng.next());
  const old = lengths.map(row);
  return {
    logProbs: old.map((values) => values.map((value) => Math.min(-0.01, value + 0.6 * rng.normal()))),
    oldLogProbs: old,
    referenceLogProbs: lengths.map(row),
    advantages: Float64Array.from(lengths, () => rng.normal()),
    active: Uint8Array.from(lengths, () => (rng.next() < 0.8 ? 1 : 0)),
  };
}

/** The definition, written again without any sharing: the oracle. */
function slowLoss(batch: GrpoBatch, o: GrpoOptions): number {
  const tokenLosses = batch.logProbs.map((row, c) =>
    batch.active[c] === 0
      ? []
      : Array.from(row, (lp, t) => {
          const rho = Math.exp(lp - batch.oldLogProbs[c][t]);
          const clipped = Math.max(1 - o.clipLow, Math.min(1 + o.clipHigh, rho));
          const d = (batch.referenceLogProbs?.[c][t] ?? lp) - lp;
          return -Math.min(rho * batch.advantages[c], clipped * batch.advantages[c]) + o.beta * (Math.exp(d) - d - 1);
        }),
  );
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  const all = tokenLosses.flat();
  const B = batch.logProbs.length;
  switch (o.aggregation) {
    case 'grpo':
      return sum(tokenLosses.map((row) => (row.length === 0 ? 0 : sum(row) / row.length))) / B;
    case 'dapo':
    case 'bnpo':
      return all.length === 0 ? 0 : sum(all) / all.length;
    case 'dr_grpo':
      return sum(all) / (B * o.maxLength);
    default:
      return o.aggregation satisfies never;
  }
}

function slice(batch: GrpoBatch, start: number, end: number): GrpoBatch {
  return {
    logProbs: batch.logProbs.slice(start, end),
    oldLogProbs: batch.oldLogProbs.slice(start, end),
    referenceLogProbs: batch.referenceLogProbs?.slice(start, end),
    advantages: batch.advantages.slice(start, end),
    active: batch.active.slice(start, end),
  };
}

describe('grpoLoss', () => {
  it.each(AGGREGATIONS)('%s equals its definition', (aggregation) => {
    for (let seed = 1; seed <= 30; seed++) {
      const batch = randomBatch(seed, 8);
      expect(grpoLoss(batch, options(aggregation)).loss).toBeCloseTo(slowLoss(batch, options(aggregation)), 12);
    }
  });

  it.each(AGGREGATIONS)('%s: the gradient is the slope of the loss', (aggregation) => {
    const h = 1e-6;
    let clipped = 0;
    for (let seed = 1; seed <= 10; seed++) {
      const batch = randomBatch(seed, 6);
      const { gradient, clippedLow, clippedHigh } = grpoLoss(batch, options(aggregation));
      clipped += clippedLow + clippedHigh;
      batch.logProbs.forEach((row, c) => {
        row.forEach((lp, t) => {
          const at = (value: number) => {
            const moved = { ...batch, logProbs: batch.logProbs.map((r) => r.slice()) };
            moved.logProbs[c][t] = value;
            return grpoLoss(moved, options(aggregation)).loss;
          };
          expect(Math.abs((at(lp + h) - at(lp - h)) / (2 * h) - gradient[c][t])).toBeLessThan(1e-7);
        });
      });
    }
    expect(clipped).toBeGreaterThan(10);
  });

  it.each(['grpo', 'dapo', 'dr_grpo'] as const)('%s: one batch of 32 equals 4 of 8', (aggregation) => {
    const batch = randomBatch(99, 32);
    const whole = grpoLoss(batch, options(aggregation));
    const parts = [0, 8, 16, 24].map((start) =>
      grpoLoss(slice(batch, start, start + 8), options(aggregation), batchTotals(batch)),
    );
    expect(parts.reduce((sum, part) => sum + part.loss, 0)).toBeCloseTo(whole.loss, 12);
    parts
      .flatMap((part) => part.gradient)
      .forEach((row, c) => {
        expect([...row]).toEqual([...whole.gradient[c]]);
      });
    expect(parts.reduce((sum, part) => sum + part.klSum, 0)).toBeCloseTo(whole.klSum, 12);
  });

  it('bnpo weighs each slice by its active sequences, so slicing matters', () => {
    const batch = randomBatch(5, 8);
    const totals = batchTotals(batch);
    const halves = [slice(batch, 0, 4), slice(batch, 4, 8)];
    const sliced = halves.reduce((sum, half) => sum + grpoLoss(half, options('bnpo'), totals).loss, 0);
    const active = halves.map((half) => half.active.reduce((sum, flag) => sum + flag, 0));
    const means = halves.map((half) => slowLoss(half, options('bnpo')));
    const expected = (active[0] * means[0] + active[1] * means[1]) / (active[0] + active[1]);
    expect(sliced).toBeCloseTo(expected, 12);
    expect(sliced).not.toBeCloseTo(grpoLoss(batch, options('bnpo')).loss, 6);
  });

  it('on policy the gradient is minus the advantage, spread over the tokens', () => {
    const logProbs = [Float64Array.of(-1, -2)];
    const batch: GrpoBatch = {
      logProbs,
      oldLogProbs: logProbs,
      advantages: Float64Array.of(3),
      active: Uint8Array.of(1),
    };
    const result = grpoLoss(batch, options('grpo', { beta: 0 }));
    expect([...result.gradient[0]]).toEqual([-1.5, -1.5]);
    expect(result.loss).toBe(-3);
  });

  it('has no KL and no slope at the anchor', () => {
    const logProbs = [Float64Array.of(-1, -2)];
    const batch: GrpoBatch = {
      logProbs,
      oldLogProbs: logProbs,
      referenceLogProbs: logProbs,
      advantages: Float64Array.of(0),
      active: Uint8Array.of(1),
    };
    const result = grpoLoss(batch, options('dapo'));
    expect(result.klSum).toBe(0);
    expect(result.gradient[0].every((value) => value === 0)).toBe(true);
  });

  it('stops pushing once a ratio has left the trust region in the wanted direction, and only then', () => {
    const at = (ratio: number, advantage: number) => {
      const batch: GrpoBatch = {
        logProbs: [Float64Array.of(-1 + Math.log(ratio))],
        oldLogProbs: [Float64Array.of(-1)],
        advantages: Float64Array.of(advantage),
        active: Uint8Array.of(1),
      };
      return grpoLoss(batch, options('grpo', { beta: 0 }));
    };
    expect(at(1.3, 1)).toMatchObject({ loss: -1.2, clippedHigh: 1, clippedLow: 0 });
    expect(at(1.3, 1).gradient[0][0]).toBe(0);
    expect(at(1.3, -1).gradient[0][0]).toBeCloseTo(1.3, 12);
    expect(at(0.7, -1)).toMatchObject({ loss: 0.8, clippedLow: 1, clippedHigh: 0 });
    expect(at(0.7, -1).gradient[0][0]).toBe(0);
    expect(at(0.7, 1).gradient[0][0]).toBeCloseTo(-0.7, 12);
  });

  it('masked sequences neither learn nor count among the active tokens', () => {
    const batch = randomBatch(11, 8);
    const masked = { ...batch, active: new Uint8Array(8) };
    const result = grpoLoss(masked, options('dapo'));
    expect(result.loss).toBe(0);
    expect(result.activeTokens).toBe(0);
    expect(result.gradient.every((row) => row.every((value) => value === 0))).toBe(true);
  });
});
