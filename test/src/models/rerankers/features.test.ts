import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRetriever } from '../../../../index/mod.ts';
import { areaUnderCurve } from '../../../../src/kernels/stats.ts';
import { fitLsa } from '../../../../src/models/embedders/mod.ts';
import {
  createFeaturesReranker,
  describeFeatures,
  type FeaturesModel,
  fitEmbeddedReranker,
  fitFeatures,
  openEmbeddedReranker,
  openFeatures,
  saveFeatures,
} from '../../../../src/models/rerankers/mod.ts';
import type { RetrievalIndex } from '../../../../src/ports.ts';
import { createArtefact, openArtefact } from '../../../../src/store/artefact.ts';
import { topicCollection } from '../../../support/topic-collection.ts';

const collection = topicCollection(40, 3);
const { corpus, documents, queries, qrels } = collection;
const train = queries.slice(0, 50);
const test = queries.slice(50);
const lsa = fitLsa(
  documents.map(({ title, text }) => `${title} ${text}`),
  { dimensions: 40 },
);
const bm25 = { driver: 'bm25', k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' } as const;

let index: RetrievalIndex;
let logistic: FeaturesModel;
let fusion: FeaturesModel;
let folder: string;
const fitOn = (labels: number): Promise<FeaturesModel> =>
  fitFeatures({
    corpus,
    queries: train.slice(0, labels),
    qrels,
    searchTop: async (query, n) => (await index.search([query], n))[0].ids,
    lsa,
    seed: 1,
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docopt-features-'));
  index = await createRetriever(bm25).build(corpus);
  logistic = await fitOn(50);
  fusion = await fitOn(10);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Scores and labels of the first stage's candidates of the test queries. */
async function scoredPairs(model: FeaturesModel): Promise<{ scores: number[][]; labels: number[][] }> {
  const reranker = createFeaturesReranker(model);
  const scores: number[][] = [];
  const labels: number[][] = [];
  for (const query of test) {
    const [{ ids }] = await index.search([query], 100);
    scores.push([
      ...(await reranker.score(
        query,
        ids.map((id) => corpus.original(corpus.positionOf(id)!)),
      )),
    ]);
    labels.push(ids.map((id) => (qrels.get(query.id)!.has(id) ? 1 : 0)));
  }
  return { scores, labels };
}

const meanAuc = (scores: number[][], labels: number[][]): number =>
  scores.reduce((sum, row, i) => sum + areaUnderCurve(Float64Array.from(row), Float64Array.from(labels[i])), 0) /
  scores.length;

describe('features reranker', () => {
  it('fits from 20 labelled queries on, fuses below, and says which', () => {
    expect(logistic.scorer.kind).toBe('logistic');
    expect(describeFeatures(logistic)).toMatch(
      /logistic on 50 training queries, held-out AUC 0\.\d+, first stage 0\.\d+/,
    );
    expect(fusion.scorer.kind).toBe('fusion');
    expect(describeFeatures(fusion)).toMatch(/fusion.*not calibrated: 10 labelled queries/);
  });

  it('separates relevant candidates of unseen queries better than the first stage does', async () => {
    for (const model of [logistic, fusion]) {
      const { scores, labels } = await scoredPairs(model);
      const first = meanAuc(
        scores.map((row) => row.map((_, i) => -i)),
        labels,
      );
      expect(meanAuc(scores, labels)).toBeGreaterThan(first + 0.02);
    }
  });

  it('is calibrated on unseen queries: predicted and true share of relevant pairs agree', async () => {
    const { scores, labels } = await scoredPairs(logistic);
    const pairs = scores.flatMap((row, q) => row.map((score, i) => ({ score, label: labels[q][i] })));
    const mean = (of: 'score' | 'label', from: readonly { score: number; label: number }[]): number =>
      from.reduce((sum, pair) => sum + pair[of], 0) / from.length;
    expect(Math.abs(mean('score', pairs) - mean('label', pairs))).toBeLessThan(0.02);
    for (const [low, high] of [
      [0, 0.2],
      [0.2, 0.6],
      [0.6, 1],
    ]) {
      const bin = pairs.filter(({ score }) => score >= low && score < high);
      expect(bin.length).toBeGreaterThan(20);
      expect(Math.abs(mean('score', bin) - mean('label', bin))).toBeLessThan(0.15);
    }
  });

  it('is the same with the same seed, bit for bit', async () => {
    expect((await fitOn(50)).scorer).toEqual(logistic.scorer);
  });

  it('never looks at judgements of queries that it is not given', async () => {
    const blinded = new Map([...qrels].filter(([id]) => train.some((query) => query.id === id)));
    const model = await fitFeatures({
      corpus,
      queries: train,
      qrels: blinded,
      searchTop: async (query, n) => (await index.search([query], n))[0].ids,
      lsa,
      seed: 1,
    });
    expect(model.scorer).toEqual(logistic.scorer);
  });

  it('scores the same after saving and opening, with its own embedder or the given one', async () => {
    for (const own of [true, false]) {
      const path = join(folder, `saved-${own}`);
      const draft = await createArtefact(path, 'index');
      await saveFeatures(logistic, draft, own);
      await draft.finish({});
      const opened = await openFeatures(await openArtefact(path, 'index'), own ? undefined : lsa);
      const before = await createFeaturesReranker(logistic).score(test[0], documents);
      expect(await createFeaturesReranker(opened).score(test[0], documents)).toEqual(before);
      expect(describeFeatures(opened)).toBe(describeFeatures(logistic));
    }
  });

  it('refuses damaged files and a foreign embedder', async () => {
    const path = join(folder, 'damaged');
    const draft = await createArtefact(path, 'index');
    await saveFeatures(logistic, draft, false);
    await draft.finish({});
    const reader = await openArtefact(path, 'index');
    await expect(openFeatures(reader)).rejects.toThrow(/fitted with embedder lsa.*here is none/);
    const other = fitLsa(['cat dog', 'dog bird'], { seed: 5 });
    await expect(openFeatures(reader, other)).rejects.toThrow(/here is lsa\(2/);
    const good = await readFile(join(path, 'features.json'), 'utf8');
    for (const [from, to, message] of [
      ['"format": 1', '"format": 2', /format 2 is not 1/],
      ['"kind": "logistic"', '"kind": "magic"', /kind 'magic'/],
      ['"idfCoverage"', '"other"', /idfCoverage is undefined/],
      ['{', '', /not complete JSON/],
    ] as const) {
      await writeFile(join(path, 'features.json'), good.replace(from, to));
      await expect(openFeatures(reader, lsa)).rejects.toThrow(message);
    }
    await writeFile(join(path, 'features.json'), good);
    await writeFile(join(path, 'features.f32'), new Uint8Array(12));
    await expect(openFeatures(reader, lsa)).rejects.toThrow(/features\.f32.*12 bytes where \d+ were expected/);
  });

  it('serves an index artefact: fitted and opened in one folder, without labels too', async () => {
    for (const labels of [undefined, { dataset: { queries, qrels }, train: train.map(({ id }) => id) }]) {
      const path = join(folder, `embedded-${labels !== undefined}`);
      const draft = await createArtefact(path, 'index');
      const { description, reranker } = await fitEmbeddedReranker({ corpus, index, labels, seed: 1, artefact: draft });
      await draft.finish({});
      const opened = await openEmbeddedReranker(await openArtefact(path, 'index'));
      expect(opened.id).toBe(description);
      expect(description).toMatch(labels === undefined ? /fusion/ : /logistic/);
      expect(await opened.score(test[0], documents)).toEqual(await reranker.score(test[0], documents));
    }
  });

  it('takes a collection of one document, and an empty one', async () => {
    for (const size of [0, 1]) {
      const small = topicCollection(size, 1);
      const few = createRetriever(bm25);
      const one = small.documents.slice(0, 1);
      const tiny = { ...small.corpus, size: one.length, ids: one.map(({ id }) => id) };
      const draft = await createArtefact(join(folder, `tiny-${size}`), 'index');
      const { reranker } = await fitEmbeddedReranker({
        corpus: tiny,
        index: await few.build(tiny),
        seed: 1,
        artefact: draft,
      });
      await draft.finish({});
      for (const score of await reranker.score(test[0], documents.slice(0, 3))) {
        expect(score >= 0 && score <= 1).toBe(true);
      }
    }
  });
});
