import { describe, expect, it } from 'vitest';
import { type SelectOptions, select } from '../../select/select.ts';
import { createBoundaryMorph } from '../../select/selectors/boundary-morph.ts';
import { createSingleStage } from '../../select/selectors/single-stage.ts';
import { createRng } from '../../src/kernels/rng.ts';
import type { Reranker, Selector } from '../../src/ports.ts';
import { oracleStep } from '../support/dense-gp.ts';
import { EXAMPLE_SCORES, exampleVectors, poolOf, randomVectors, unit } from '../support/pools.ts';
import { scoreTableReranker } from '../support/score-table-reranker.ts';

const table = Object.fromEntries(EXAMPLE_SCORES.map((score, d) => [`d${d}`, score]));

function example(changes: Partial<SelectOptions> = {}): SelectOptions {
  const pool = changes.pool ?? poolOf(exampleVectors(), [1, 0]);
  return {
    pool,
    documentAt: (position) => ({ id: pool.ids[position], title: '', text: `text ${position}` }),
    reranker: scoreTableReranker(table),
    selector: createBoundaryMorph(),
    budget: 3,
    capacity: 2,
    ...changes,
  };
}

describe('select', () => {
  it('answers the worked example in the documented shape', async () => {
    const answer = await select(example());
    expect(answer).toEqual({
      selected: [
        {
          id: 'd3',
          rank: 1,
          source: 'estimated',
          relevanceScore: expect.closeTo(1.2790397889, 9),
          std: expect.any(Number),
          firstStageRank: 4,
          firstStageScore: null,
        },
        {
          id: 'd4',
          rank: 2,
          source: 'estimated',
          relevanceScore: expect.closeTo(0.8631463959, 9),
          std: expect.any(Number),
          firstStageRank: 5,
          firstStageScore: null,
        },
      ],
      calls: ['d2', 'd1', 'd5'],
      failed: [],
      budget: 3,
      capacity: 2,
      selector: 'boundary-morph',
      reranker: 'table',
      timings: { totalMs: expect.any(Number), selectorMs: expect.any(Number), rerankerMs: expect.any(Number) },
      warnings: [],
    });
    const all = await select(example({ all: true }));
    expect(all.selected.map(({ id }) => id)).toEqual(['d3', 'd4', 'd2', 'd0', 'd1', 'd5']);
    expect(all.selected.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('passes on what its reranker warns of, once it was called', async () => {
    const reranker = { ...scoreTableReranker(table), warnings: ['known to be bad'] };
    expect((await select(example({ reranker }))).warnings).toEqual(['known to be bad']);
    expect((await select(example({ reranker, budget: 0 }))).warnings).toEqual([]);
  });

  it('hands several positions over in batches', async () => {
    const reranker = scoreTableReranker(table);
    await select(example({ reranker, selector: createSingleStage(), budget: 5, batchSize: 2 }));
    expect(reranker.calls).toEqual([['d0', 'd1'], ['d2', 'd3'], ['d4']]);
  });

  it('spends a failed pair once, lists it, and never counts it as 0', async () => {
    const reranker = scoreTableReranker({ ...table, d2: null });
    const answer = await select(example({ reranker, all: true, budget: 4 }));
    expect(answer.calls).toHaveLength(4);
    expect(answer.calls[0]).toBe('d2');
    expect(answer.failed).toEqual(['d2']);
    const entry = answer.selected.find(({ id }) => id === 'd2')!;
    expect(entry.source).toBe('estimated');
    const truth = oracleStep(
      {
        vectors: exampleVectors(),
        query: [1, 0],
        scores: EXAMPLE_SCORES.map((score, d) => (d === 2 ? null : score)),
        budget: 4,
        capacity: 2,
      },
      answer.calls.map((id) => Number(id.slice(1))),
    );
    expect(entry.relevanceScore).toBeCloseTo(truth.mu[2], 9);
    expect(entry.std).toBeCloseTo(truth.sigma[2], 9);
    expect(entry.relevanceScore).not.toBe(0);
    expect(answer.warnings).toEqual(['1 of 4 reranker calls failed; their documents keep the estimate.']);
  });

  it('says when nothing came back', async () => {
    const answer = await select(example({ reranker: scoreTableReranker({}) }));
    expect(answer.failed).toEqual(answer.calls);
    expect(answer.warnings[0]).toMatch(/All 3 reranker calls failed: the answer is the first-stage order/);
    expect(answer.selected.map(({ id }) => id)).toEqual(['d0', 'd1']);
  });

  it('gives null, not a made-up number, where single-stage estimates nothing', async () => {
    const answer = await select(example({ selector: createSingleStage(), budget: 1, capacity: 3 }));
    expect(answer.selected[0]).toMatchObject({ id: 'd0', source: 'scored', relevanceScore: 0.9, std: 0 });
    expect(answer.selected[1]).toMatchObject({ id: 'd1', source: 'estimated', relevanceScore: null, std: null });
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
  });

  it('warns of constant and of saturated scores', async () => {
    const rng = createRng(1);
    const pool = poolOf(randomVectors(rng, 30, 4, 'gaussian'), unit([1, 0, 0, 0]));
    const run = (score: (d: number) => number) =>
      select(
        example({
          pool,
          budget: 12,
          reranker: scoreTableReranker(Object.fromEntries(pool.ids.map((id, d) => [id, score(d)]))),
        }),
      );
    expect((await run(() => 0.5)).warnings[0]).toMatch(/All 12 reranker scores are 0.5/);
    expect((await run((d) => d % 2)).warnings[0]).toMatch(/12 of 12 reranker scores are within/);
    expect((await run((d) => (d + 1) / 40)).warnings).toEqual([]);
  });

  it('refuses scores that are no probabilities, and answers of the wrong length', async () => {
    await expect(select(example({ reranker: scoreTableReranker({ ...table, d2: 3.2 }) }))).rejects.toMatchObject({
      code: 'UPSTREAM',
      message: "The reranker 'table' gave document 'd2' the score 3.2; scores are probabilities in [0, 1].",
    });
    const short: Reranker = { id: 'short', score: async () => new Float64Array(0) };
    await expect(select(example({ reranker: short }))).rejects.toThrow(/answered 0 scores for 1 documents/);
  });

  it('passes on what the reranker throws', async () => {
    const broken: Reranker = { id: 'broken', score: () => Promise.reject(new Error('down')) };
    await expect(select(example({ reranker: broken }))).rejects.toThrow('down');
  });

  it('stops a selector that asks beyond the budget or twice', async () => {
    const greedy = (positions: number[]): Selector => ({
      name: 'greedy',
      begin: () => ({ ask: () => positions, tell: () => {}, result: () => ({ order: [], capacity: 2 }) }),
    });
    await expect(select(example({ selector: greedy([0, 1, 2, 3]) }))).rejects.toThrow(/4 calls of a budget of 3/);
    await expect(select(example({ selector: greedy([0]) }))).rejects.toThrow(/twice/);
  });

  it('ends with INTERRUPTED when the signal aborts, also in the middle of a call', async () => {
    const already = AbortSignal.abort();
    await expect(select(example({ signal: already }))).rejects.toMatchObject({ code: 'INTERRUPTED' });
    const controller = new AbortController();
    const never: Reranker = { id: 'never', score: () => new Promise(() => {}) };
    const running = select(example({ reranker: never, signal: controller.signal }));
    setTimeout(() => controller.abort(), 20);
    await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('answers from what is known at the deadline, and says what was not waited for', async () => {
    const controller = new AbortController();
    let calls = 0;
    const slowing: Reranker = {
      id: 'slowing',
      score: async (_query, documents) => {
        calls++;
        if (calls === 2) {
          setTimeout(() => controller.abort(), 10);
          return new Promise(() => {});
        }
        return Float64Array.from(documents, ({ id }) => table[id]);
      },
    };
    const answer = await select(example({ reranker: slowing, deadline: controller.signal, all: true }));
    expect(answer.calls).toEqual(['d2', 'd1']);
    expect(answer.unanswered).toEqual(['d1']);
    expect(answer.failed).toEqual([]);
    expect(answer.selected.find(({ id }) => id === 'd2')).toMatchObject({ source: 'scored', relevanceScore: 0.7 });
    const late = await select(example({ deadline: AbortSignal.abort() }));
    expect(late.calls).toEqual([]);
    expect(late.selected.map(({ id }) => id)).toEqual(['d0', 'd1']);
  });

  it('lets other work run while it computes', async () => {
    const rng = createRng(2);
    const pool = poolOf(randomVectors(rng, 1200, 16, 'gaussian'), unit([1, ...new Array<number>(15).fill(0)]));
    const reranker = scoreTableReranker(Object.fromEntries(pool.ids.map((id) => [id, rng.next()])));
    let beats = 0;
    const heart = setInterval(() => beats++, 1);
    await select(example({ pool, reranker, budget: 40, capacity: 50 }));
    clearInterval(heart);
    expect(beats).toBeGreaterThan(5);
  });

  it('refuses a pool whose parts do not fit', async () => {
    const pool = poolOf(exampleVectors(), [1, 0]);
    await expect(select(example({ pool: { ...pool, ids: ['only one'] } }))).rejects.toMatchObject({ code: 'USAGE' });
    await expect(select(example({ pool: { ...pool, queryEmbedding: Float64Array.of(1) } }))).rejects.toThrow(
      /query vector of 1/,
    );
  });
});
