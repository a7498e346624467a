import { describe, expect, it } from 'vitest';
import { createPairAnalysis } from '../../../../src/models/rerankers/features/analyse.ts';
import { FEATURES, featuresInto } from '../../../../src/models/rerankers/features/feature-vector.ts';
import type { Embedder } from '../../../../src/ports.ts';

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

async function features(query: string, text: string, title = ''): Promise<Record<string, number>> {
  const analysis = createPairAnalysis({
    analyzer: 'standard',
    documentText: 'title+text',
    statistics,
    lsa: plane,
    background: Float32Array.of(1, 0, 0, 1),
  });
  const out = new Float64Array(FEATURES.length);
  featuresInto(await analysis.query(query), (await analysis.documents([{ id: 'd', title, text }]))[0], 8, out, 0);
  return Object.fromEntries(FEATURES.map((name, f) => [name, out[f]]));
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
