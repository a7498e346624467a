// Trains the weights that travel with the package, for code without judgements:
//   node scripts/train-shipped.mjs OUT.json NAME=LICENCE=SOURCE=DATA ...
// Every query of every collection trains; the policy is fitted without labels (no translation table), as it will be used.
import { writeFileSync } from 'node:fs';
import { build } from './build.mjs';

build();
const { arrayCorpus, createRetriever, loadDataset, train } = await import('../dist/mod.js');
const { trainOptions } = await import('../dist/train/mod.js');
const { createPolicy } = await import('../dist/src/models/policies/mod.js');
const { textMark } = await import('../dist/src/models/policies/edit/shipped.js');
const { createLog } = await import('../dist/src/run/log.js');

const [out, ...collections] = process.argv.slice(2);
const documents = [];
const queries = [];
const qrels = new Map();
const trainedOn = [];
for (const collection of collections) {
  const [name, licence, source, path] = collection.split('=');
  const dataset = await loadDataset(path, { judged: true });
  const own = (id) => `${name}/${id}`;
  for (let i = 0; i < dataset.corpus.size; i++)
    documents.push({ ...dataset.corpus.original(i), id: own(dataset.corpus.ids[i]) });
  for (const { id, text } of dataset.queries) queries.push({ id: own(id), text });
  for (const [query, judged] of dataset.qrels)
    qrels.set(own(query), new Map([...judged].map(([id, grade]) => [own(id), grade])));
  const marks = Array.from({ length: dataset.corpus.size }, (_, i) => textMark(dataset.corpus.indexText(i)));
  trainedOn.push({ name, licence, source, documents: marks });
}

const corpus = arrayCorpus(documents);
const policy = await createPolicy(
  { driver: 'edit', init: 'zero' },
  { corpus, analyzer: 'english', trainingPairs: [], seed: 1 },
);
const answered = queries.filter(({ id }) => qrels.has(id)).map(({ id }) => id);
// The loop wants a test set to report on; one query stands in for it, nobody reads the figure.
await train({
  corpus,
  queries,
  qrels,
  splits: { train: answered.slice(1), dev: [], test: answered.slice(0, 1) },
  retriever: createRetriever({ driver: 'bm25', k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' }),
  policy,
  options: trainOptions('edit', { metrics: ['nDCG@5'] }),
  log: createLog({ level: 'normal' }),
});
const weights = Object.fromEntries(
  Object.entries(policy.weights()).map(([name, value]) => [name, Number(value.toPrecision(6))]),
);
writeFileSync(out, `${JSON.stringify({ name: 'shipped', trainedOn, weights }, null, 1)}\n`);
