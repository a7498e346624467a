import { describe, expect, it } from 'vitest';
import { arrayCorpus, corpusWithTexts } from '../../../../src/data/mod.ts';
import { createPairFeatures } from '../../../../src/models/rerankers/features/analyse.ts';
import { FEATURES, INDEX_FEATURES } from '../../../../src/models/rerankers/features/feature-vector.ts';
import type { FirstStage } from '../../../../src/models/rerankers/features/first-stage.ts';
import type { Embedder, RetrievalIndex } from '../../../../src/ports.ts';
import type { Document } from '../../../../src/types.ts';

/** Two axes: texts with 'cat' point one way, all others the other. */
const plane: Embedder = {
  id: 'plane',
  dimensions: 2,
  embed: async (texts) => ({
    rows: texts.length,
    columns: 2,
    data: Float32Array.from(texts.flatMap((text) => (text.includes('cat') ? [1, 0] : [0, 1]))),
  }),
};

const statistics = {
  documents: 100,
  averageLength: 8,
  documentFrequencies: new Map([
    ['cat', 10],
    ['dog', 40],
  ]),
};
const idf = (df: number) => Math.log(1 + (100 - df + 0.5) / (df + 0.5));

const sources = {
  analyzer: 'standard',
  documentText: 'title+text',
  statistics,
  lsa: plane,
  background: Float32Array.of(1, 0, 0, 1),
} as const;

const named = (x: Float64Array, row = 0): Record<string, number> =>
  Object.fromEntries(FEATURES.map((name, f) => [name, x[row * FEATURES.length + f]]));

async function features(query: string, text: string, title = ''): Promise<Record<string, number>> {
  return named((await createPairFeatures(sources)({ id: 'q', text: query }, [{ id: 'd', title, text }])).x);
}

describe('features of a pair, by hand', () => {
  it('counts overlap by idf', async () => {
    const values = await features('cat dog bird', 'cat sat cat down');
    const total = idf(10) + idf(40) + idf(1);
    expect(values.idfCoverage).toBeCloseTo(idf(10) / total, 12);
    expect(values.rarestCoverage).toBeCloseTo(idf(10) / idf(1), 12);
    const norm = 1.2 * (1 - 0.75 + (0.75 * 4) / 8);
    expect(values.bm25).toBeCloseTo(Math.log1p((idf(10) * 2 * 2.2) / (2 + norm)), 12);
    expect(values.documentLength).toBeCloseTo(Math.log(5), 12);
    expect(values.queryLength).toBeCloseTo(Math.log(4), 12);
  });

  it('sees order and nearness', async () => {
    expect((await features('cat dog bird', 'the cat dog ran')).pairs).toBe(0.5);
    expect((await features('cat dog bird', 'the dog cat ran')).pairs).toBe(0);
    expect((await features('cat dog', 'cat x x dog x dog cat')).nearness).toBe(1);
    expect((await features('cat dog', 'cat x x dog')).nearness).toBe(0.5);
    expect((await features('cat dog', 'cat cat cat')).nearness).toBe(0);
  });

  it('sees titles, and the first words in place of one', async () => {
    const filler = 'x '.repeat(20);
    expect((await features('cat', filler, 'a cat')).leadCoverage).toBe(1);
    expect((await features('cat', `${filler} cat`, 'a dog')).leadCoverage).toBe(0);
    expect((await features('cat', `${filler} cat`)).leadCoverage).toBe(0);
    expect((await features('cat', `cat ${filler}`)).leadCoverage).toBe(1);
  });

  it('compares a cosine with the background', async () => {
    // Against the background (1,0), (0,1) a query has cosines 1 and 0: mean and deviation one half.
    expect(await features('cat', 'cat')).toMatchObject({ cosine: 1, cosineStandardised: 1 });
    expect(await features('cat', 'dog')).toMatchObject({ cosine: 0, cosineStandardised: -1 });
  });

  it('is finite for blank texts and unknown words', async () => {
    for (const [query, text] of [
      ['', ''],
      ['', 'cat'],
      ['cat', ''],
      ['!?', '...'],
      ['zeppelin zeppelin', 'zeppelin'],
    ]) {
      for (const value of Object.values(await features(query, text))) expect(Number.isFinite(value)).toBe(true);
    }
  });
});

describe('features of the index, by hand', () => {
  const documents: Document[] = ['cat sat', 'dog ran', 'bird'].map((text, i) => ({ id: `d${i}`, title: '', text }));
  const corpus = corpusWithTexts(arrayCorpus(documents), ['cat sat', 'dog ran cat cat', 'bird cat']);
  const indexStatistics = { documents: 100, averageLength: 4, documentFrequencies: new Map([['cat', 20]]) };
  const scored: Record<string, number> = { d0: 5, d1: 3, d2: 1 };

  function indexOf(similarity: (id: string) => number, found = Object.keys(scored)): RetrievalIndex {
    const unused = () => Promise.reject(new Error('not to be called'));
    return {
      size: 3,
      search: async () => [{ ids: found, scores: Float64Array.from(found, (id) => scored[id]) }],
      similarities: async (_, ids) => ({ rows: 1, columns: ids.length, data: Float64Array.from(ids, similarity) }),
      searchReplacing: unused,
      save: unused,
    };
  }
  const rowsOf = async (firstStage: FirstStage, asked: readonly Document[]) => {
    const { x, indexed } = await createPairFeatures({ ...sources, indexStatistics }, firstStage)(
      { id: 'q', text: 'cat dog' },
      asked,
    );
    return { indexed, rows: asked.map((_, row) => named(x, row)) };
  };

  it('compares the score of a pair with the best of the query', async () => {
    const { rows } = await rowsOf({ index: indexOf((id) => scored[id]), corpus }, documents);
    // 5, 3, 1: mean 3, deviation sqrt(8 / 3).
    const step = 2 / Math.sqrt(8 / 3);
    for (const [row, expected] of [step, 0, -step].entries()) {
      expect(rows[row].firstStage).toBeCloseTo(expected, 12);
    }
  });

  it('counts overlap with what is indexed beside that with the original', async () => {
    const { rows } = await rowsOf({ index: indexOf((id) => scored[id]), corpus }, documents);
    const weight = (df: number) => Math.log(1 + (100 - df + 0.5) / (df + 0.5));
    expect(rows[2]).toMatchObject({ bm25: 0, idfCoverage: 0 });
    expect(rows[2].indexCoverage).toBeCloseTo(weight(20) / (weight(20) + weight(1)), 12);
    const norm = 1.2 * (1 - 0.75 + (0.75 * 2) / 4);
    expect(rows[2].indexBm25).toBeCloseTo(Math.log1p((weight(20) * 2.2) / (1 + norm)), 12);
    expect(rows[1].indexCoverage).toBeCloseTo(1, 12);
  });

  it('knows its documents by id and text; others have no features of the index', async () => {
    const foreign = { ...documents[0], text: 'cat sat elsewhere' };
    const unknown = { ...documents[0], id: 'other' };
    const similarity = (id: string) => (id === 'd0' ? 5 : Number.NaN);
    const { rows, indexed } = await rowsOf({ index: indexOf(similarity), corpus }, [documents[0], foreign, unknown]);
    expect(indexed).toEqual([true, false, false]);
    for (const row of rows.slice(1)) for (const name of INDEX_FEATURES) expect(row[name]).toBe(0);
    expect(rows[1].bm25).toBeGreaterThan(0);
  });

  it('takes a black box that leaves documents out, and a query that finds nothing', async () => {
    const { rows } = await rowsOf(
      { index: indexOf((id) => (id === 'd2' ? Number.NEGATIVE_INFINITY : scored[id])), corpus },
      documents,
    );
    expect(rows[2].firstStage).toBeCloseTo(-2 / Math.sqrt(8 / 3), 12);
    const nothing = await rowsOf({ index: indexOf(() => 0, []), corpus }, documents);
    for (const row of nothing.rows) expect(row.firstStage).toBe(0);
  });
});
