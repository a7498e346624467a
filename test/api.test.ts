/** The package's face, used as a stranger would: everything from mod.ts, nothing from inside. */
import { expect, it } from 'vitest';
import * as api from '../mod.ts';

const documents = [
  ['max', 'def largest(numbers):\n    return max(numbers)', 'find the biggest number'],
  ['sum', 'def total(numbers):\n    return sum(numbers)', 'add all numbers up'],
  ['rev', 'def backwards(text):\n    return text[::-1]', 'reverse a string'],
  ['even', 'def is_even(n):\n    return n % 2 == 0', 'check whether a number is even'],
  ['uniq', 'def distinct(items):\n    return list(set(items))', 'remove duplicates from a list'],
  ['join', "def glue(parts):\n    return ','.join(parts)", 'concatenate strings with commas'],
] as const;
const corpus = api.arrayCorpus(documents.map(([id, text]) => ({ id, title: '', text })));
const queries = documents.map(([id, , text]) => ({ id: `q-${id}`, text }));
const qrels = new Map(documents.map(([id]) => [`q-${id}`, new Map([[id, 1]])]));

it('trains, evaluates and selects in process, from short forms', async () => {
  const retriever = api.createRetriever('bm25');
  expect(api.createRetriever({ driver: 'bm25', k1: 1.2 }).id).toContain('k1=1.2');
  const ids = queries.map(({ id }) => id);
  const trainingPairs = documents.map(([id, , queryText]) => ({ documentId: id, queryText }));
  const policy = (await api.createPolicy(
    { driver: 'edit' },
    { corpus, analyzer: 'english', trainingPairs, seed: 1 },
  )) as api.EditPolicy;
  const { report } = await api.train({
    corpus,
    queries,
    qrels,
    splits: { train: ids.slice(0, 4), dev: [], test: ids.slice(4) },
    retriever,
    policy,
    options: api.trainOptions('edit', { steps: 3, documentsPerStep: 2, groupSize: 2 }),
  });
  expect(report.metrics['nDCG@5'].trained).toBeGreaterThanOrEqual(0);

  const index = await retriever.build(corpus);
  const rankings = await index.search(queries, 5);
  const run = new Map(queries.map(({ id }, i) => [id, rankings[i]]));
  const evaluation = api.evaluate([{ name: 'bm25', run }], qrels, {
    measures: api.parseMeasures(['nDCG@5', 'R@5']),
    split: 'all',
  });
  expect(evaluation.systems[0].mean['R@5']).toBeGreaterThan(0);

  const embedder = api.fitLsa(documents.map(([, text]) => text));
  const pool = api.createPool({
    query: { text: 'numbers' },
    ids: corpus.ids,
    embeddings: await embedder.embed(
      documents.map(([, text]) => text),
      'document',
    ),
  });
  const reranker: api.Reranker = {
    id: 'length',
    score: async (_, asked) => Float64Array.from(asked, ({ text }) => 1 / text.length),
  };
  const answer = await api.select({
    pool,
    documentAt: (i) => corpus.original(i),
    reranker,
    selector: api.createSelector('boundary-morph'),
    budget: 2,
    capacity: 2,
  });
  expect([answer.selected.length, answer.calls.length]).toEqual([2, 2]);
});
