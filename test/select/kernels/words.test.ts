/** Words of a pool: BM25 against the index, TF-IDF and fusion against their definitions. */
import { describe, expect, it } from 'vitest';
import { createBm25Retriever } from '../../../index/retrievers/bm25.ts';
import { bm25Scores } from '../../../select/kernels/bm25-scores.ts';
import { QUERY } from '../../../select/kernels/posterior.ts';
import { fuseRanks, invert, logRankFeature, ranksOf } from '../../../select/kernels/ranks.ts';
import { createTfidfKernel, tfidfRows } from '../../../select/kernels/tfidf-cosine.ts';
import { arrayCorpus } from '../../../src/data/mod.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { createAnalyzer } from '../../../src/text/mod.ts';

const rng = createRng(8);
const WORDS = ['night', 'sky', 'lamps', 'street', 'moth', 'birds', 'sleeping', 'star'];
const texts = Array.from({ length: 30 }, () =>
  Array.from({ length: 1 + rng.int(12) }, () => WORDS[rng.int(8)]).join(' '),
);
const { analyze } = createAnalyzer('english');

describe('BM25 of a pool', () => {
  it('is that of an index over the same documents', async () => {
    const corpus = arrayCorpus(texts.map((text, i) => ({ id: `${i}`, title: '', text })));
    const index = await createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' }).build(
      corpus,
    );
    for (const text of ['moth', 'night lamp bird', 'sky sky star', 'zebra', '']) {
      const { data } = await index.similarities([{ id: 'q', text }], [...corpus.ids]);
      bm25Scores(texts.map(analyze), analyze(text)).forEach((score, d) => {
        expect(score).toBeCloseTo(data[d], 5);
      });
    }
  });
});

describe('TF-IDF of a pool', () => {
  it('has the cosine of its definition', () => {
    const documents = [['a', 'b', 'a'], ['b', 'c'], [], ['d']];
    const rows = tfidfRows(documents, ['a', 'zzz', 'c', 'c']);
    expect(rows.rows).toBe(5);
    const idf = (df: number): number => Math.log(1 + 4 / df);
    const first = { a: (1 + Math.log(2)) * idf(1), b: idf(2) };
    const second = { b: idf(2), c: idf(1) };
    const query = { a: idf(1), c: (1 + Math.log(2)) * idf(1) };
    const norm = (v: Record<string, number>): number => Math.hypot(...Object.values(v));
    const kernel = createTfidfKernel(rows);
    const out = new Float64Array(4);
    kernel.row(0, out);
    expect([...out]).toEqual([1, expect.closeTo((first.b * second.b) / norm(first) / norm(second), 12), 0, 0]);
    expect(kernel.pair(0, 1)).toBeCloseTo(out[1], 12);
    kernel.row(QUERY, out);
    expect(out[0]).toBeCloseTo((first.a * query.a) / norm(first) / norm(query), 12);
    expect(out[1]).toBeCloseTo((second.c * query.c) / norm(second) / norm(query), 12);
    expect([out[2], out[3]]).toEqual([0, 0]);
    kernel.row(2, out);
    expect([...out]).toEqual([0, 0, 1, 0]);
  });
});

describe('ranks', () => {
  it('follow scores, equal ones by position, and back', () => {
    expect([...ranksOf([0.1, 0.9, 0.9, 0])]).toEqual([2, 0, 1, 3]);
    expect([...invert([2, 0, 1])]).toEqual([1, 2, 0]);
  });
  it('fuse by reciprocal ranks', () => {
    const a = Int32Array.of(0, 1, 2, 3);
    const b = Int32Array.of(3, 0, 1, 2);
    // 1/61 + 1/64, 1/62 + 1/61, 1/63 + 1/62, 1/64 + 1/63
    expect([...fuseRanks([a, b], 4)]).toEqual([1, 0, 2, 3]);
  });
  it('as features run from 1 to 0', () => {
    const g = logRankFeature(Int32Array.of(0, 9, 99, 3, ...Array.from({ length: 96 }, () => 1)));
    expect([g[0], g[1], g[2]]).toEqual([1, expect.closeTo(0.5, 12), expect.closeTo(0, 12)]);
    expect([...logRankFeature(Int32Array.of(0))]).toEqual([1]);
  });
});
