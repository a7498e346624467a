import { describe, expect, it } from 'vitest';
import { DocOptError } from '../../../../src/errors.ts';
import { createQrelsReranker, createRecordedReranker, createReranker } from '../../../../src/models/rerankers/mod.ts';
import type { Document } from '../../../../src/types.ts';

const document = (id: string): Document => ({ id, title: '', text: '' });
const query = { id: 'q', text: 'anything' };

describe('recorded', () => {
  it('has failed where a call had failed, and where nothing was recorded', async () => {
    const recorded = new Map([
      ['a', 0.5],
      ['c', null],
    ]);
    const scores = await createRecordedReranker(recorded).score(query, [document('a'), document('b'), document('c')]);
    expect([...scores]).toEqual([0.5, Number.NaN, Number.NaN]);
  });

  it('refuses what is no probability', () => {
    for (const score of [-0.1, 1.1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => createRecordedReranker(new Map([['a', score]]))).toThrow(DocOptError);
    }
    expect(() =>
      createRecordedReranker(
        new Map([
          ['a', 0],
          ['b', 1],
        ]),
      ),
    ).not.toThrow();
  });
});

describe('qrels', () => {
  const qrels = new Map([
    ['q', new Map(Array.from({ length: 400 }, (_, i) => [`d${i}`, i < 200 ? 1 + (i % 3) : i % 2 === 0 ? 0 : -1]))],
  ]);
  const documents = Array.from({ length: 600 }, (_, i) => document(`d${i}`));

  it('is exact without noise: .82 when relevant, .12 when judged otherwise or not at all', async () => {
    const scores = await createQrelsReranker({ qrels, noise: 0, seed: 1 }).score(query, documents);
    scores.forEach((score, i) => {
      expect(score).toBeCloseTo(i < 200 ? 0.82 : 0.12, 12);
    });
    const [unjudged] = await createQrelsReranker({ qrels, noise: 0, seed: 1 }).score(
      { id: 'other', text: '' },
      documents,
    );
    expect(unjudged).toBeCloseTo(0.12, 12);
  });

  it('has noise of the asked deviation, clipped, of its seed', async () => {
    const scores = await createQrelsReranker({ qrels, noise: 0.05, seed: 1 }).score(query, documents);
    const errors = Array.from(scores, (score, i) => score - (i < 200 ? 0.82 : 0.12));
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    const deviation = Math.sqrt(errors.reduce((sum, error) => sum + (error - mean) ** 2, 0) / errors.length);
    expect(Math.abs(mean)).toBeLessThan(0.01);
    expect(Math.abs(deviation - 0.05)).toBeLessThan(0.006);
    const loud = await createQrelsReranker({ qrels, noise: 2, seed: 1 }).score(query, documents);
    expect(loud.includes(0) && loud.includes(1)).toBe(true);
    expect(await createQrelsReranker({ qrels, noise: 0.05, seed: 2 }).score(query, documents)).not.toEqual(scores);
  });
});

describe('createReranker', () => {
  it('says what a driver is missing', () => {
    expect(() => createReranker({ driver: 'features' }, {})).toThrow(/'features' needs an index/);
    expect(() => createReranker({ driver: 'recorded' }, {})).toThrow(/'recorded' needs a pool/);
    expect(() => createReranker({ driver: 'qrels', noise: 0.1, seed: 1 }, {})).toThrow(/'qrels' needs judgements/);
  });
});
