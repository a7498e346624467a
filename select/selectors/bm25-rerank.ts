/** `bm25-rerank` (BoundaryMORPH C.2): the pool in its BM25 order. Makes no call, so its answer is the same at every budget. */
import type { Selector } from '../../src/ports.ts';
import { createLedger } from './ledger.ts';
import { requireLexicalRanks } from './pool-ranks.ts';
import { scoredBand } from './scored-band.ts';

export function createBm25Rerank(): Selector {
  return {
    name: 'bm25-rerank',
    begin(pool, limits) {
      const ranks = requireLexicalRanks(pool, 'bm25-rerank');
      const ledger = createLedger(pool.ids.length, limits);
      return { ask: () => [], tell: ledger.tell, result: () => scoredBand(pool, ledger, limits.capacity, ranks) };
    },
  };
}
