import { describe, expect, it } from 'vitest';
import { createBm25Retriever } from '../../index/retrievers/bm25.ts';
import { arrayCorpus } from '../../src/data/mod.ts';
import { compareRanked } from '../../src/kernels/compare.ts';
import { createRng } from '../../src/kernels/rng.ts';
import type { RetrievalIndex } from '../../src/ports.ts';
import { createSpread } from '../../train/kernels/spread.ts';
import { mineNegatives } from '../../train/negatives.ts';
import { trainingQueries } from '../../train/training-queries.ts';

const retriever = createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'standard', statistics: 'recompute' });

async function world(seed: number) {
  const rng = createRng(seed);
  const words = (count: number) => Array.from({ length: count }, () => `w${rng.int(8)}`).join(' ');
  const corpus = arrayCorpus(Array.from({ length: 30 }, (_, i) => ({ id: `d${i}`, title: '', text: words(4) })));
  const queries = Array.from({ length: 40 }, (_, i) => ({ id: `q${i}`, text: words(2) }));
  const qrels = new Map(queries.map(({ id }) => [id, new Map([[`d${rng.int(30)}`, rng.int(3)]])]));
  const training = trainingQueries(
    corpus,
    queries,
    qrels,
    queries.map(({ id }) => id),
    5,
  );
  return { corpus, training, index: await retriever.build(corpus), documents: corpus.ids.map((_, i) => i) };
}

describe('hard negatives', () => {
  it('are the most similar allowed queries, by brute force', async () => {
    const { corpus, training, index, documents } = await world(1);
    const mined = await mineNegatives(index, corpus, training, documents, { mining: 'hard', count: 5, seed: 1 });
    const all = await index.similarities(training.queries, corpus.ids);
    for (const document of documents) {
      const positives = training.positives.get(document) ?? [];
      const texts = new Set(positives.map((q) => training.queries[q].text));
      const expected = training.queries
        .map((query, q) => ({ query, q, score: all.data[q * all.columns + document] }))
        .filter(({ query, q }) => training.judged[q].ideal > 0 && !positives.includes(q) && !texts.has(query.text))
        .sort((a, b) => compareRanked(a.score, a.query.id, b.score, b.query.id))
        .slice(0, 5)
        .map(({ q }) => q);
      expect(mined.get(document)).toEqual(expected);
    }
  });

  it('leave out twins of positive queries, whatever their case', async () => {
    const corpus = arrayCorpus([
      { id: 'a', title: '', text: 'sort list' },
      { id: 'b', title: '', text: 'sort array' },
    ]);
    const queries = [
      { id: 'q1', text: 'sort a list' },
      { id: 'q2', text: 'Sort a  LIST' },
      { id: 'q3', text: 'sort an array' },
    ];
    const qrels = new Map([
      ['q1', new Map([['a', 1]])],
      ['q2', new Map([['b', 1]])],
      ['q3', new Map([['b', 1]])],
    ]);
    const training = trainingQueries(corpus, queries, qrels, ['q1', 'q2', 'q3'], 5);
    const index = await retriever.build(corpus);
    const mined = await mineNegatives(index, corpus, training, [0], { mining: 'hard', count: 5, seed: 1 });
    expect(mined.get(0)).toEqual([2]);
  });

  it('never ask for the whole similarity matrix, and come out the same in parts', async () => {
    const { corpus, training, index, documents } = await world(2);
    const whole = await mineNegatives(index, corpus, training, documents, { mining: 'hard', count: 5, seed: 1 });
    const heights: number[] = [];
    const watched: RetrievalIndex = {
      size: index.size,
      search: index.search.bind(index),
      searchReplacing: index.searchReplacing.bind(index),
      save: index.save.bind(index),
      similarities: (queries, ids) => {
        heights.push(queries.length);
        return index.similarities(queries, ids);
      },
    };
    const options = { mining: 'hard', count: 5, seed: 1, heldCells: 300 } as const;
    const parts = await mineNegatives(watched, corpus, training, documents, options);
    expect(heights).toEqual([10, 10, 10, 10]);
    expect([...parts]).toEqual([...whole]);
  });

  it('collect the spread of all similarities on the way', async () => {
    const { corpus, training, index } = await world(3);
    const spread = createSpread();
    await mineNegatives(index, corpus, training, [4, 7], { mining: 'hard', count: 2, seed: 1, spread });
    const { data } = await index.similarities(training.queries, corpus.ids);
    const mean = [...data].reduce((a, b) => a + b, 0) / data.length;
    expect(spread.count).toBe(data.length);
    expect(spread.deviation).toBeCloseTo(
      Math.sqrt([...data].reduce((sum, value) => sum + (value - mean) ** 2, 0) / data.length),
      12,
    );
  });
});

describe('random negatives', () => {
  it('are seeded, distinct and allowed', async () => {
    const { corpus, training, index, documents } = await world(4);
    const draw = (seed: number) =>
      mineNegatives(index, corpus, training, documents, { mining: 'random', count: 10, seed });
    const [one, same, other] = [await draw(1), await draw(1), await draw(2)];
    expect([...one]).toEqual([...same]);
    expect([...one]).not.toEqual([...other]);
    for (const [document, negatives] of one) {
      expect(new Set(negatives).size).toBe(10);
      const forbidden = new Set((training.positives.get(document) ?? []).map((q) => training.textGroup[q]));
      for (const q of negatives) {
        expect(training.judged[q].ideal).toBeGreaterThan(0);
        expect(forbidden.has(training.textGroup[q])).toBe(false);
      }
    }
  });
});
