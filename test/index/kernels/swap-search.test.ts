import { describe, expect, test } from 'vitest';
import { Best } from '../../../index/kernels/best.ts';
import { lengthNorm } from '../../../index/kernels/bm25.ts';
import { createPostingsBuilder } from '../../../index/kernels/build-postings.ts';
import { Heads } from '../../../index/kernels/heads.ts';
import { orderIds } from '../../../index/kernels/id-order.ts';
import type { Postings } from '../../../index/kernels/postings.ts';
import { PrunedSearch } from '../../../index/kernels/pruned-search.ts';
import { emptyWeights, queryTerms, weigh } from '../../../index/kernels/query-terms.ts';
import { addAllScores } from '../../../index/kernels/scan.ts';
import { SwapSearch } from '../../../index/kernels/swap-search.ts';
import { createRng, type Rng } from '../../../src/kernels/rng.ts';
import { randomCorpus, randomText } from '../../support/random-corpus.ts';

const SETTINGS = { k1: 0.9, b: 0.4 };
const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

/** An index from scratch and a full scan: what the swap must equal. */
function rebuilt(texts: readonly string[], rank: Int32Array, query: string, k: number) {
  const postings = postingsOf(texts);
  const terms = queryTerms(postings, words(query));
  const weights = weigh(terms, terms.frequencies, postings.size, emptyWeights(terms.size));
  const scores = new Float64Array(postings.size);
  addAllScores(postings, terms, weights, lengthNorm(SETTINGS, postings.totalLength, postings.size), scores);
  const best = new Best(rank);
  best.reset(k);
  scores.forEach((score, document) => {
    if (score > 0) best.offer(document, score);
  });
  return best.take();
}

function postingsOf(texts: readonly string[]): Postings {
  const builder = createPostingsBuilder();
  for (const text of texts) builder.add(words(text));
  return builder.finish();
}

function swapping(texts: readonly string[], rank: Int32Array, headBytes?: number) {
  const postings = postingsOf(texts);
  const norm = lengthNorm(SETTINGS, postings.totalLength, postings.size);
  const search = new PrunedSearch(postings, rank, norm);
  const heads = new Heads(postings, search, norm, (text) => queryTerms(postings, words(text)), headBytes);
  return { heads, swaps: new SwapSearch(SETTINGS, postings, norm, search, new Best(rank), 'recompute') };
}

/** From a small edit to one that turns the statistics over. */
function replacement(rng: Rng, texts: readonly string[], position: number): string {
  switch (rng.int(6)) {
    case 0:
      return '';
    case 1:
      return `${texts[position]} ${randomText(rng, 320, 6)}`;
    case 2:
      return texts[rng.int(texts.length)];
    case 3:
      // A giant: the average length grows several times over.
      return randomText(rng, 320, texts.length * 60);
    case 4:
      return words(texts[position]).slice(1).join(' ');
    default:
      return randomText(rng, 320, 60);
  }
}

describe('counterfactual search', () => {
  test('equals a rebuild to the last bit where the head decides and where it cannot', () => {
    let full = 0;
    let swapsDone = 0;
    let moved = 0;
    for (let seed = 0; seed < 6; seed++) {
      const rng = createRng(9000 + seed);
      const corpus = randomCorpus(rng, { size: 700, words: 40 * (1 + seed), longest: 25, copies: 0.2 });
      const texts = corpus.ids.map((_, i) => corpus.indexText(i));
      const { rank } = orderIds(corpus.ids);
      const { heads, swaps } = swapping(texts, rank);
      const queries = Array.from({ length: 12 }, () => randomText(rng, 40 * (1 + seed) + 5, 7));
      for (let n = 0; n < 20; n++) {
        const position = rng.int(texts.length);
        const text = replacement(rng, texts, position);
        swaps.swap(position, words(text));
        for (let q = 0; q < 3; q++) {
          const query = queries[rng.int(queries.length)];
          const k = [1, 5, 20][q];
          const actual = swaps.rank(heads.get(query, k), k);
          expect(actual).toEqual(rebuilt(texts.with(position, text), rank, query, k));
          swapsDone++;
          if (actual.documents.join() !== rebuilt(texts, rank, query, k).documents.join()) moved++;
        }
      }
      full += swaps.fullSearches;
    }
    // Both ways must have been walked, and some top k must have changed.
    expect(full).toBeGreaterThan(10);
    expect(swapsDone - full).toBeGreaterThan(100);
    expect(moved).toBeGreaterThan(30);
  });

  test('small edits in a large corpus need no full search', () => {
    const rng = createRng(77);
    const corpus = randomCorpus(rng, { size: 3000, words: 900, longest: 40 });
    const texts = corpus.ids.map((_, i) => corpus.indexText(i));
    const { heads, swaps } = swapping(texts, orderIds(corpus.ids).rank);
    for (let n = 0; n < 200; n++) {
      const position = rng.int(texts.length);
      swaps.swap(position, words(`${texts[position]} ${randomText(rng, 900, 5)}`));
      swaps.rank(heads.get(randomText(createRng(n % 20), 900, 7), 5), 5);
    }
    expect(swaps.fullSearches).toBeLessThan(10);
  });

  test('heads stay within their memory and are found again', () => {
    const rng = createRng(78);
    const corpus = randomCorpus(rng, { size: 500, words: 50, longest: 20 });
    const texts = corpus.ids.map((_, i) => corpus.indexText(i));
    const { heads } = swapping(texts, orderIds(corpus.ids).rank, 20_000);
    const first = heads.get('w1x w2x', 5);
    expect(heads.get('w1x w2x', 5)).toBe(first);
    for (let n = 0; n < 50; n++) heads.get(`w${n}x w3x`, 5);
    expect(heads.bytes).toBeLessThanOrEqual(20_000);
    expect(heads.get('w1x w2x', 5)).not.toBe(first);
    // A deeper question than the head can answer makes a deeper head.
    const deep = heads.get('w1x w2x', 200);
    expect(deep.complete || deep.documents.length > 200).toBe(true);
  });
});
