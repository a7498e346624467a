import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../../src/text/suggest.ts';

describe('did you mean', () => {
  it('finds slips and leaves strangers alone', () => {
    expect(nearest('retreiver', ['retriever', 'reranker'])).toBe('retriever');
    expect(nearest('BM25', ['bm25', 'wink'])).toBe('bm25');
    expect(nearest('xyz', ['retriever', 'reranker'])).toBeUndefined();
    expect(nearest('x'.repeat(100_000), ['retriever'])).toBeUndefined();
    expect(didYouMean('zzz', [])).toBe('');
  });
});
