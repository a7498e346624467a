import { describe, expect, it } from 'vitest';
import { createRetriever } from '../../../index/mod.ts';
import { fuseRankings } from '../../../index/retrievers/fusion.ts';
import { describeSpec } from '../../../src/config/spec-names.ts';
import { expandShortForm, retrieverSchema } from '../../../src/config/specs.ts';
import { DocOptError } from '../../../src/errors.ts';
import type { Ranking } from '../../../src/types.ts';

const ranking = (...entries: [string, number][]): Ranking => ({
  ids: entries.map(([id]) => id),
  scores: Float64Array.from(entries, ([, score]) => score),
});

describe('fusion', () => {
  const a = ranking(['x', 9], ['y', 5], ['z', 1]);
  const b = ranking(['y', 0.8], ['w', 0.4]);

  it('adds reciprocal ranks, by hand', () => {
    const { ids, scores } = fuseRankings([a, b], [1, 2], 60, 10);
    expect(ids).toEqual(['y', 'w', 'x', 'z']);
    [1 / 62 + 2 / 61, 2 / 62, 1 / 61, 1 / 63].forEach((score, i) => {
      expect(scores[i]).toBeCloseTo(score, 15);
    });
  });

  it('adds scores spread over (0, 1], the last of a ranking above what is not in it', () => {
    const { ids, scores } = fuseRankings([a, b], [0.5, 0.5], undefined, 3);
    expect(ids).toEqual(['y', 'x', 'w']);
    // a: (8 + 8/3 - 0) / (8 + 8/3) = 1, (4 + 8/3) / (8 + 8/3) = .625, .25; b: 1, (.2 / .6) = 1/3.
    [0.5 * 0.625 + 0.5, 0.5, 0.5 / 3].forEach((score, i) => {
      expect(scores[i]).toBeCloseTo(score, 12);
    });
  });

  it('breaks ties by id, and takes empty and flat rankings', () => {
    expect(fuseRankings([ranking(['b', 1]), ranking(['a', 1])], [1, 1], 60, 5).ids).toEqual(['a', 'b']);
    expect(fuseRankings([ranking(), ranking(['a', 1], ['b', 1])], [1, 1], undefined, 5).ids).toEqual(['a', 'b']);
    expect(fuseRankings([ranking(), ranking()], [1, 1], 60, 5).ids).toEqual([]);
  });

  it('goes by a short form and back', () => {
    const block = retrieverSchema.parse(expandShortForm('retriever', 'fusion:bm25+lsa'));
    expect(block).toMatchObject({
      driver: 'fusion',
      method: 'rrf',
      retrievers: [{ driver: 'bm25', k1: 0.9 }, { driver: 'dense' }],
    });
    expect(describeSpec('retriever', block)).toMatch(/^fusion:bm25\+lsa/);
    expect(() => expandShortForm('retriever', 'fusion:bm25+nothing')).toThrow(/'nothing' is not known/);
  });

  it('refuses weights that do not fit', () => {
    const bm25 = retrieverSchema.parse({ driver: 'bm25' }) as never;
    for (const weights of [[1], [0, 0]]) {
      expect(() =>
        createRetriever({
          driver: 'fusion',
          method: 'rrf',
          rankConstant: 60,
          depth: 10,
          retrievers: [bm25, bm25],
          weights,
        }),
      ).toThrow(DocOptError);
    }
  });
});
