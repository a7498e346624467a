import { describe, expect, it } from 'vitest';
import { requireReturnable, withDocuments, withParents } from '../../select/returned.ts';
import { makeChunk, parentDocument } from '../../src/data/chunks.ts';
import { arrayCorpus } from '../../src/data/mod.ts';
import type { Document } from '../../src/types.ts';

const whole: Document = { id: 'a', title: 'A', text: 'one two three four five', metadata: { page: 1 } };
const spans = [
  [0, 8],
  [4, 14],
  [14, 23],
];
const chunks = spans.map(([start, end], n) => makeChunk(whole, n, { parent: 'a', start, end, headings: ['H'] }));
const single = makeChunk({ id: 'b', title: '', text: 'bee' }, 0, { parent: 'b', start: 0, end: 3 });
const plain: Document = { id: 'c#1', title: 'C', text: 'no chunk' };
const corpus = arrayCorpus([...chunks, single, plain]);
const entry = (id: string, rank: number) => ({
  id,
  rank,
  source: 'scored' as const,
  relevanceScore: 1 - rank / 10,
  std: 0,
  firstStageRank: corpus.positionOf(id)! + 1,
  firstStageScore: null,
});

describe('parents', () => {
  it('are put together from their chunks, overlaps once', () => {
    for (let i = 0; i < 3; i++) expect(parentDocument(corpus, i)).toEqual(whole);
    expect(parentDocument(corpus, 3)).toEqual({ id: 'b', title: '', text: 'bee' });
    expect(parentDocument(corpus, 4)).toEqual(plain);
  });

  it('say so when chunks are missing', () => {
    const less = arrayCorpus([chunks[0], chunks[2]]);
    expect(parentDocument(less, 1)).toEqual({
      ...whole,
      text: 'one two  [...] four five',
      metadata: { page: 1, incomplete: true },
    });
  });

  it('stand once, where their best chunk stood', () => {
    const selected = [entry('a#2', 1), entry('c#1', 2), entry('a#0', 3), entry('b#0', 4)];
    expect(withParents(selected, corpus).map(({ id, rank, text, chunks: of }) => [id, rank, text, of])).toEqual([
      ['a', 1, whole.text, ['a#2', 'a#0']],
      ['c#1', 2, 'no chunk', ['c#1']],
      ['b', 3, 'bee', ['b#0']],
    ]);
    expect(withDocuments(selected, (position) => corpus.original(position)).map(({ id, text }) => [id, text])).toEqual([
      ['a#2', 'four five'],
      ['c#1', 'no chunk'],
      ['a#0', 'one two '],
      ['b#0', 'bee'],
    ]);
  });

  it('are refused where they cannot be', () => {
    expect(() => requireReturnable('parent', false, 5)).toThrowError(/needs an index/);
    expect(() => requireReturnable('parent', true, { tokens: 100 })).toThrowError(/capacity in tokens/);
    expect(() => requireReturnable('chunk', false, { tokens: 100 })).not.toThrow();
  });
});
