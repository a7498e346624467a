import { describe, expect, it } from 'vitest';
import { aggregateQrels, aggregateRun } from '../../index/aggregate.ts';
import { createRng } from '../../src/kernels/rng.ts';

const ranking = (pairs: readonly (readonly [string, number])[]) => ({
  ids: pairs.map(([id]) => id),
  scores: Float64Array.from(pairs, ([, score]) => score),
});

describe('chunks as their documents', () => {
  it('max is the best chunk, first is chunk 0; what is no chunk stands for itself', () => {
    const run = new Map([
      [
        'q',
        ranking([
          ['a#1', 5],
          ['b#0', 4],
          ['x', 4],
          ['a#0', 3],
          ['c#2', 2],
          ['c#10', 1],
        ]),
      ],
    ]);
    expect(aggregateRun(run, 'max').get('q')).toEqual(
      ranking([
        ['a', 5],
        ['b', 4],
        ['x', 4],
        ['c', 2],
      ]),
    );
    expect(aggregateRun(run, 'first').get('q')).toEqual(
      ranking([
        ['b', 4],
        ['x', 4],
        ['a', 3],
      ]),
    );
  });

  it('equals the maximum taken document by document', () => {
    const rng = createRng(3);
    for (let round = 0; round < 50; round++) {
      const scored = Array.from({ length: 30 }, (_, i) => [`d${i % 7}#${Math.floor(i / 7)}`, rng.int(6)] as const);
      const found = aggregateRun(new Map([['q', ranking(scored)]]), 'max').get('q')!;
      for (let d = 0; d < 7; d++) {
        const best = Math.max(...scored.filter(([id]) => id.startsWith(`d${d}#`)).map(([, score]) => score));
        expect(found.scores[found.ids.indexOf(`d${d}`)]).toBe(best);
      }
      const keys = found.ids.map((id, i) => [-found.scores[i], id] as const);
      expect(keys).toEqual([...keys].sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1)));
    }
  });

  it('judgements take the best grade; without chunks it is an error', () => {
    const qrels = new Map([
      [
        'q',
        new Map([
          ['a#0', 0],
          ['a#1', 2],
          ['b', 1],
          ['c#0', -1],
        ]),
      ],
    ]);
    expect(aggregateQrels(qrels)).toEqual(
      new Map([
        [
          'q',
          new Map([
            ['a', 2],
            ['b', 1],
            ['c', -1],
          ]),
        ],
      ]),
    );
    expect(() => aggregateQrels(new Map([['q', new Map([['a', 1]])]]))).toThrowError(/no judged document is a chunk/);
  });
});
