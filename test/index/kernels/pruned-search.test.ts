import { describe, expect, test } from 'vitest';
import { Best } from '../../../index/kernels/best.ts';
import { lengthNorm } from '../../../index/kernels/bm25.ts';
import { createPostingsBuilder } from '../../../index/kernels/build-postings.ts';
import { orderIds } from '../../../index/kernels/id-order.ts';
import type { Postings } from '../../../index/kernels/postings.ts';
import { PrunedSearch } from '../../../index/kernels/pruned-search.ts';
import { emptyWeights, queryTerms, weigh } from '../../../index/kernels/query-terms.ts';
import { addAllScores } from '../../../index/kernels/scan.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import type { Corpus } from '../../../src/types.ts';
import { randomCorpus, randomText } from '../../support/random-corpus.ts';

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

function postingsOf(corpus: Corpus): Postings {
  const builder = createPostingsBuilder();
  for (let i = 0; i < corpus.size; i++) builder.add(words(corpus.indexText(i)));
  return builder.finish();
}

/** The definition, from the texts alone: no index, no shared code but Math.log. Terms are added rarest first. */
function plainScores(corpus: Corpus, query: string, k1: number, b: number): Map<string, number> {
  const documents = corpus.ids.map((_, i) => words(corpus.indexText(i)));
  const average = documents.reduce((sum, terms) => sum + terms.length, 0) / documents.length;
  const distinct = [...new Set(words(query))].map((term) => {
    const df = documents.filter((terms) => terms.includes(term)).length;
    const times = words(query).filter((other) => other === term).length;
    return { term, df, weight: times * Math.log(1 + (documents.length - df + 0.5) / (df + 0.5)) };
  });
  distinct.sort((x, y) => x.df - y.df);
  const scores = new Map<string, number>();
  documents.forEach((terms, i) => {
    let score = 0;
    for (const { term, weight } of distinct) {
      const tf = terms.filter((other) => other === term).length;
      if (tf > 0) score += weight * (tf / (tf + k1 * (1 - b + (b * terms.length) / average)));
    }
    if (score > 0) scores.set(corpus.ids[i], score);
  });
  return scores;
}

describe('pruned search', () => {
  test('equals the plain definition on small corpora', () => {
    for (let seed = 0; seed < 40; seed++) {
      const rng = createRng(seed);
      const corpus = randomCorpus(rng, { size: 1 + rng.int(30), words: 8, longest: 9 });
      const postings = postingsOf(corpus);
      const [k1, b] = [
        [0.9, 0.4],
        [1.2, 0.75],
        [0, 0.5],
        [2, 1],
        [1, 0],
      ][seed % 5];
      const norm = lengthNorm({ k1, b }, postings.totalLength, postings.size);
      const search = new PrunedSearch(postings, orderIds(corpus.ids).rank, norm);
      const text = randomText(rng, 10, 8);
      const query = queryTerms(postings, words(text));
      const weights = weigh(query, query.frequencies, postings.size, emptyWeights(query.size));
      const hits = search.search(query, weights, norm, corpus.size);
      const expected = plainScores(corpus, text, k1, b);
      expect(hits.documents.length).toBe(expected.size);
      hits.documents.forEach((document, i) => {
        expect(hits.scores[i]).toBeCloseTo(expected.get(corpus.ids[document])!, 12);
      });
    }
  });

  test('equals the exhaustive scan to the last bit, whatever it prunes', () => {
    let pruned = 0;
    for (let seed = 0; seed < 12; seed++) {
      const rng = createRng(500 + seed);
      const corpus = randomCorpus(rng, {
        size: 400 + rng.int(1600),
        words: 60 + rng.int(400),
        longest: 40,
        copies: 0.3,
      });
      const postings = postingsOf(corpus);
      const { rank } = orderIds(corpus.ids);
      const norm = lengthNorm({ k1: 0.9, b: 0.4 }, postings.totalLength, postings.size);
      const search = new PrunedSearch(postings, rank, norm);
      const best = new Best(rank);
      for (let q = 0; q < 40; q++) {
        const query = queryTerms(postings, words(randomText(rng, 500, 12)));
        const weights = weigh(query, query.frequencies, postings.size, emptyWeights(query.size));
        const skip = q % 4 === 0 ? rng.int(postings.size) : -1;
        // A swap's norm: the average moves either way.
        const other = lengthNorm({ k1: 0.9, b: 0.4 }, postings.totalLength + (q % 3) * 4000 - 4000, postings.size);
        const used = q % 2 === 0 ? norm : other;
        const scores = new Float64Array(postings.size);
        addAllScores(postings, query, weights, used, scores);
        for (const k of [1, 5, 50]) {
          const hits = search.search(query, weights, used, k, skip);
          best.reset(k);
          scores.forEach((score, document) => {
            if (score > 0 && document !== skip) best.offer(document, score);
          });
          expect(hits).toEqual(best.take());
        }
        pruned += search.prunedTerms;
      }
    }
    // The test means nothing unless terms were in fact left out of the full pass.
    expect(pruned).toBeGreaterThan(100);
  });
});
