/** Every reranker under the one contract. A new driver is one entry. */
import { createRetriever } from '../../../../index/mod.ts';
import { arrayCorpus, corpusWithTexts } from '../../../../src/data/mod.ts';
import { fitLsa } from '../../../../src/models/embedders/mod.ts';
import {
  createFeaturesReranker,
  createQrelsReranker,
  createRecordedReranker,
  fitFeatures,
} from '../../../../src/models/rerankers/mod.ts';
import type { RetrievalIndex } from '../../../../src/ports.ts';
import { type RerankerDriver, rerankerContract } from '../../../contracts/reranker.ts';
import { topicCollection } from '../../../support/topic-collection.ts';

const { documents, queries, qrels } = topicCollection(15, 1);
const corpus = corpusWithTexts(
  arrayCorpus(documents),
  documents.map(({ title, text }, i) => `${title} ${text} ${documents[(i * 7) % documents.length].title}`),
);
const odd = [
  { id: 'empty', title: '', text: '' },
  { id: 'strange', title: 'zeppelin', text: 'nothing known \u0000 \ud800' },
];
const some = [...documents.slice(0, 8), ...odd];
const asked = [...queries.slice(0, 3), { id: 'blank', text: '' }, { id: 'unknown', text: 'zeppelin' }];

/** A black box: -rank for what it lists, nothing known of the rest. */
const ranksOnly = (index: RetrievalIndex): RetrievalIndex => ({
  size: index.size,
  searchReplacing: (...swap) => index.searchReplacing(...swap),
  save: (artefact) => index.save(artefact),
  search: async (asked, k) =>
    (await index.search(asked, k)).map(({ ids }) => ({ ids, scores: Float64Array.from(ids, (_, rank) => -1 - rank) })),
  similarities: async (asked, ids) => {
    const rankings = await index.search(asked, 50);
    const data = Float64Array.from(rankings.flatMap(({ ids: found }) => ids.map((id) => -1 - found.indexOf(id))));
    return { rows: asked.length, columns: ids.length, data: data.map((rank) => (rank === 0 ? -Infinity : rank)) };
  },
});

const features = async (labels: number, wrap: (index: RetrievalIndex) => RetrievalIndex | undefined = (own) => own) => {
  const built = await createRetriever({
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
    index: wrap(built) ?? built,
    lsa: fitLsa(documents.map(({ text }) => text)),
    seed: 1,
  });
  const index = wrap(built);
  return createFeaturesReranker(model, index && { index, corpus });
};

const DRIVERS: readonly RerankerDriver[] = [
  { name: 'features (logistic)', create: () => features(30), queries: asked, documents: some },
  { name: 'features (fusion)', create: () => features(0), queries: asked, documents: some },
  {
    name: 'features (ranks only)',
    create: () => features(30, ranksOnly),
    queries: asked,
    documents: some,
  },
  {
    name: 'features (without its index)',
    create: () => features(30, () => undefined),
    queries: asked,
    documents: some,
  },
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
