/** Every retriever under the one contract. A new driver is one entry. */

import { createRetriever } from '../../../index/mod.ts';
import { createRebuildRetriever } from '../../../index/retrievers/rebuild.ts';
import { type RetrieverDriver, retrievalIndexContract } from '../../contracts/retrieval-index.ts';

const bm25 = { driver: 'bm25', k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' } as const;
const wink = { driver: 'wink', k1: 0.9, b: 0.4, analyzer: 'english' } as const;
const lsa = { driver: 'dense', embedder: { driver: 'lsa', dimensions: 200, seed: 1, analyzer: 'english' } } as const;
const NO_TEXTS = 'an opened artefact holds no texts to rebuild from';

const DRIVERS: readonly RetrieverDriver[] = [
  { name: 'bm25', create: () => createRetriever(bm25), deterministic: true, lexical: true, tolerance: 0 },
  {
    name: 'bm25 (k1 = 1.2, b = 0.75, standard)',
    create: () => createRetriever({ ...bm25, k1: 1.2, b: 0.75, analyzer: 'standard' }),
    deterministic: true,
    lexical: true,
    tolerance: 0,
  },
  {
    name: 'wink',
    create: () => createRetriever(wink),
    deterministic: true,
    lexical: true,
    tolerance: 1e-8,
    fewestDocuments: 3,
    skips: { 'replaces after saving and opening': NO_TEXTS },
  },
  {
    name: 'rebuild(bm25)',
    create: () => createRebuildRetriever(createRetriever(bm25)),
    deterministic: true,
    lexical: true,
    tolerance: 0,
    skips: { 'replaces after saving and opening': NO_TEXTS },
  },
  { name: 'lsa', create: () => createRetriever(lsa), deterministic: true, lexical: false, tolerance: 0 },
];

for (const driver of DRIVERS) retrievalIndexContract(driver);
