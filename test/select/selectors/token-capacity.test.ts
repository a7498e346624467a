import { describe, expect, it } from 'vitest';
import { createSelector, SELECTORS } from '../../../select/selectors/registry.ts';
import { TOKEN_FILLS, type TokenFill, withTokenCapacity } from '../../../select/selectors/token-capacity.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import type { Pool } from '../../../src/types.ts';
import { poolOf, randomVectors, unit, withWords } from '../../support/pools.ts';

const pool = (tokens: number[]): Pool => ({
  ...poolOf(randomVectors(createRng(1), tokens.length, 3, 'gaussian'), unit([1, 0, 0])),
  tokenCounts: Int32Array.from(tokens),
});

/** Scores everything in first-stage order and fills. */
function chosen(tokens: number[], scores: number[], limit: number, fill: TokenFill): number[] {
  const run = withTokenCapacity(createSelector('single-stage'), { tokens: limit, fill }).begin(pool(tokens), {
    budget: tokens.length,
    capacity: 0,
  });
  for (let next = run.ask(); next.length > 0; next = run.ask()) for (const d of next) run.tell(d, scores[d]);
  const { order, capacity } = run.result();
  expect(order.map(({ rank }) => rank)).toEqual(order.map((_, i) => i + 1));
  return order.slice(0, capacity).map(({ position }) => position);
}

describe('a capacity in tokens', () => {
  const tokens = [100, 4, 50, 9];
  const scores = [0.9, 0.5, 0.8, 0.6];
  it('fills by value per root of length', () => {
    // .09, .25, .113, .2: documents 1, 3, 2 take 63 of 110; 0 no longer fits. In the order of their scores.
    expect(chosen(tokens, scores, 110, 'density')).toEqual([2, 3, 1]);
  });
  it('skips what does not fit, or stops there', () => {
    expect(chosen(tokens, scores, 110, 'skip')).toEqual([0, 3]);
    expect(chosen(tokens, scores, 110, 'stop')).toEqual([0]);
    expect(chosen(tokens, scores, 60, 'skip')).toEqual([2, 3]);
    expect(chosen(tokens, scores, 60, 'stop')).toEqual([]);
  });
  it('of nothing holds nothing, of everything everything', () => {
    for (const fill of TOKEN_FILLS) {
      expect(chosen(tokens, scores, 0, fill)).toEqual([]);
      expect(chosen(tokens, scores, 163, fill)).toEqual([0, 2, 3, 1]);
    }
  });

  it.each(SELECTORS)('is never exceeded around %s, and the budget neither', (name) => {
    const rng = createRng(9);
    for (let round = 0; round < 12; round++) {
      const size = rng.int(20);
      const base = withWords(pool(Array.from({ length: size }, () => rng.int(40))));
      const limit = rng.int(300);
      const fill = TOKEN_FILLS[round % 3];
      const run = withTokenCapacity(createSelector(name), { tokens: limit, fill }).begin(base, {
        budget: 7,
        capacity: 0,
      });
      let calls = 0;
      for (let next = run.ask(); next.length > 0; next = run.ask()) {
        for (const d of next) run.tell(d, rng.next() < 0.1 ? null : rng.next());
        calls += next.length;
      }
      expect(calls).toBeLessThanOrEqual(7);
      const { order, capacity } = run.result();
      expect(new Set(order.map(({ position }) => position)).size).toBe(size);
      const used = order.slice(0, capacity).reduce((sum, { position }) => sum + base.tokenCounts![position], 0);
      expect(used).toBeLessThanOrEqual(limit);
      if (fill === 'stop') continue;
      for (const { position } of order.slice(capacity))
        expect(base.tokenCounts![position] + used).toBeGreaterThan(limit);
    }
  });

  it('asks for lengths, and for a count', () => {
    const bare = poolOf(randomVectors(createRng(1), 3, 3, 'gaussian'));
    const inTokens = (tokens: number) => withTokenCapacity(createSelector('dense-log'), { tokens });
    expect(() => inTokens(50).begin(bare, { budget: 1, capacity: 0 })).toThrow(/length of every document/);
    expect(() => inTokens(-1)).toThrow(/whole number/);
  });
});
