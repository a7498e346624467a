/** Every reranker under the one contract. A new driver is one entry. */
import { createRetriever } from '../../../../index/mod.ts';
import { fitLsa } from '../../../../src/models/embedders/mod.ts';
import {
  createFeaturesReranker,
  createQrelsReranker,
  createRecordedReranker,
  fitFeatures,
} from '../../../../src/models/rerankers/mod.ts';
import { type RerankerDriver, rerankerContract } from '../../../contracts/reranker.ts';
import { topicCollection } from '../../../support/topic-collection.ts';

const { corpus, documents, queries, qrels } = topicCollection(15, 1);
const odd = [
  { id: 'empty', title: '', text: '' },
  { id: 'strange', title: 'zeppelin', text: 'nothing known \u0000 \ud800' },
];
const some = [...documents.slice(0, 8), ...odd];
const asked = [...queries.slice(0, 3), { id: 'blank', text: '' }, { id: 'unknown', text: 'zeppelin' }];

const features = async (labels: number) => {
  const index = await createRetriever({
    driver: 'bm25',
    k1: 0.9,
    b: 0.4,
    analyzer: 'english',
    statistics: 'recompute',
  }).build(corpus);
  const model = await fitFeatures({
    corpus,
    queries: queries.slice(0, labels),
    qrels,
    searchTop: async (query, n) => (await index.search([query], n))[0].ids,
    lsa: fitLsa(documents.map(({ text }) => text)),
    seed: 1,
  });
  return createFeaturesReranker(model);
};

const DRIVERS: readonly RerankerDriver[] = [
  { name: 'features (logistic)', create: () => features(30), queries: asked, documents: some },
  { name: 'features (fusion)', create: () => features(0), queries: asked, documents: some },
  {
    name: 'recorded',
    create: () => createRecordedReranker(new Map(some.map(({ id }, i) => [id, i === 1 ? null : i / 10]))),
    queries: asked,
    documents: some,
    failing: [some[1].id],
  },
  {
    name: 'qrels',
    create: () => createQrelsReranker({ qrels, noise: 0.12, seed: 1 }),
    queries: asked,
    documents: some,
  },
];

for (const driver of DRIVERS) rerankerContract(driver);
