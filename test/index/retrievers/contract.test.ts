/** Every retriever under the one contract. A new driver is one entry. */

import { createRetriever } from '../../../index/mod.ts';
import { createRebuildRetriever } from '../../../index/retrievers/rebuild.ts';
import { type RetrieverDriver, retrievalIndexContract } from '../../contracts/retrieval-index.ts';
import { tinyFolder } from '../../support/tiny-onnx.ts';

const bm25 = { driver: 'bm25', k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' } as const;
const wink = { driver: 'wink', k1: 0.9, b: 0.4, analyzer: 'english' } as const;
const lsa = { driver: 'dense', embedder: { driver: 'lsa', dimensions: 200, seed: 1, analyzer: 'english' } } as const;
const NO_TEXTS = 'an opened artefact holds no texts to rebuild from';
const WORDS = Array.from({ length: 60 }, (_, i) => `w${i.toString(36)}x`);
const ANIMALS = ['cats', 'chase', 'mice', 'cheese', 'dogs', 'alpha', 'zeta', 'cat'];
const onnx = {
  driver: 'onnx',
  path: tinyFolder({ words: [...WORDS, ...ANIMALS], width: 24, output: 'states' }).folder,
} as const;
const markers = { queryMarker: '[unused0]', documentMarker: '[unused1]' };
const colbert = {
  driver: 'late-interaction',
  embedder: { ...onnx, ...markers, queryTokens: 16, expandQuery: false },
} as const;
const EVERY_WORD = 'every text has a direction, so nothing matches nothing';
const neural = { 'leaves out what matches nothing': EVERY_WORD };

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
  {
    name: 'onnx',
    create: () => createRetriever({ driver: 'dense', embedder: { ...onnx, pooling: 'mean' } }),
    deterministic: true,
    lexical: false,
    tolerance: 0,
    skips: neural,
  },
  {
    name: 'late interaction (onnx)',
    create: () => createRetriever(colbert),
    deterministic: true,
    lexical: false,
    tolerance: 0,
    skips: neural,
  },
];

for (const driver of DRIVERS) retrievalIndexContract(driver);
