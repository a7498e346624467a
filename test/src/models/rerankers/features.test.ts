import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRetriever } from '../../../../index/mod.ts';
import { createDenseRetriever } from '../../../../index/retrievers/dense.ts';
import { corpusWithTexts } from '../../../../src/data/mod.ts';
import { areaUnderCurve } from '../../../../src/kernels/stats.ts';
import { fitLsa } from '../../../../src/models/embedders/mod.ts';
import { FEATURES } from '../../../../src/models/rerankers/features/feature-vector.ts';
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
import type { Reranker, RetrievalIndex } from '../../../../src/ports.ts';
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
    index,
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
  const reranker = createFeaturesReranker(model, { index, corpus });
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
    expect(describeFeatures(fusion)).toMatch(
      /fusion of first stage \+ LSA, not calibrated: 10 labelled queries, held-out AUC 0\.\d+, first stage 0\.\d+/,
    );
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

  it('says what it gives the first stage on average, rank by rank, and keeps it in its file', async () => {
    for (const model of [logistic, fusion]) {
      const { scale } = createFeaturesReranker(model, { index, corpus });
      const { scores } = await scoredPairs(model);
      // Of unseen queries: the mean over the candidates, and that the head gets more than the rest.
      const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;
      const expected = scores.map((own) => mean(own.map((_, rank) => scale!.top - scale!.fall * Math.log(1 + rank))));
      expect(Math.abs(mean(expected) - mean(scores.map(mean)))).toBeLessThan(0.05);
      expect(scale!.fall).toBeGreaterThan(0);
      expect(mean(scores.map((own) => mean(own.slice(0, 5))))).toBeGreaterThan(mean(scores.map(mean)));

      const path = join(folder, `scale-${model.scorer.kind}`);
      const artefact = await createArtefact(path, 'index');
      await saveFeatures(model, artefact, true);
      await artefact.finish({});
      const opened = await openFeatures(await openArtefact(path, 'index'));
      expect(opened.scorer.scale).toEqual(scale);
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
      index,
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
      const before = await createFeaturesReranker(logistic, { index, corpus }).score(test[0], documents);
      expect(await createFeaturesReranker(opened, { index, corpus }).score(test[0], documents)).toEqual(before);
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
      ['"format": 2', '"format": 3', /format 3; this build reads 2/],
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

  it('refuses the format of an earlier version with the way out', async () => {
    const path = join(folder, 'earlier');
    const draft = await createArtefact(path, 'index');
    await draft.write('features.json', JSON.stringify({ format: 1, analyzer: 'english', kind: 'logistic' }));
    await draft.finish({});
    const opening = openFeatures(await openArtefact(path, 'index'), lsa);
    await expect(opening).rejects.toMatchObject({
      code: 'ARTEFACT',
      message: expect.stringMatching(/has format 1; this build reads 2/),
      hint: expect.stringMatching(/earlier version\. Build the index again with: docopt index/),
    });
  });

  it('scores documents that the index does not hold by their texts, whatever their ids', async () => {
    const own = createFeaturesReranker(logistic, { index, corpus });
    const strangers = documents.slice(0, 5).map((document, i) => ({ ...document, id: `stranger-${i}` }));
    const namesakes = strangers.map((document, i) => ({ ...document, id: documents[documents.length - 1 - i].id }));
    const scores = await own.score(test[0], strangers);
    expect(await own.score(test[0], namesakes)).toEqual(scores);
    expect(await createFeaturesReranker(logistic).score(test[0], documents.slice(0, 5))).toEqual(scores);
    expect(await own.score(test[0], documents.slice(0, 5))).not.toEqual(scores);
  });

  it('serves an index artefact: fitted and opened in one folder, without labels too', async () => {
    for (const labels of [undefined, { dataset: { queries, qrels }, train: train.map(({ id }) => id) }]) {
      const path = join(folder, `embedded-${labels !== undefined}`);
      const draft = await createArtefact(path, 'index');
      const { description, reranker } = await fitEmbeddedReranker({ corpus, index, labels, seed: 1, artefact: draft });
      await draft.finish({});
      const opened = await openEmbeddedReranker(await openArtefact(path, 'index'), { index, corpus });
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

describe('features reranker over a rewritten corpus', () => {
  /** Every document also gets the words of its topic's queries: the index knows what the originals do not say. */
  const rewritten = corpusWithTexts(
    corpus,
    documents.map(({ id, title, text }) => {
      const asking = queries.filter((query) => qrels.get(query.id)!.has(id)).map((query) => query.text);
      return `${title} ${text} ${asking.join(' ')}`;
    }),
  );
  const auc = async (reranker: Reranker, over: RetrievalIndex): Promise<{ own: number; first: number }> => {
    let own = 0;
    let first = 0;
    for (const query of test) {
      const [{ ids }] = await over.search([query], 100);
      const labels = Float64Array.from(ids, (id) => (qrels.get(query.id)!.has(id) ? 1 : 0));
      own += areaUnderCurve(
        await reranker.score(
          query,
          ids.map((id) => corpus.original(corpus.positionOf(id)!)),
        ),
        labels,
      );
      first += areaUnderCurve(
        Float64Array.from(ids, (_, rank) => -rank),
        labels,
      );
    }
    return { own: own / test.length, first: first / test.length };
  };

  it('sees what the first stage sees, and is not worse than it', async () => {
    const over = await createRetriever(bm25).build(rewritten);
    const labels = { dataset: { queries, qrels }, train: train.map(({ id }) => id) };
    const path = join(folder, 'rewritten');
    const draft = await createArtefact(path, 'index');
    const { reranker, warnings } = await fitEmbeddedReranker({
      corpus: rewritten,
      index: over,
      labels,
      seed: 1,
      artefact: draft,
    });
    await draft.finish({});
    expect(warnings).toEqual([]);
    const { own, first } = await auc(reranker, over);
    expect(first).toBeGreaterThan(0.9);
    expect(own).toBeGreaterThanOrEqual(first);
    // By the originals alone it would be far behind.
    const reader = await openArtefact(path, 'index');
    expect((await auc(await openEmbeddedReranker(reader), over)).own).toBeLessThan(first - 0.02);
    const opened = await openEmbeddedReranker(reader, { index: over, corpus: rewritten });
    expect(await opened.score(test[0], documents)).toEqual(await reranker.score(test[0], documents));
  });

  it('fuses the first stage, and BM25 beside it where it is not lexical', async () => {
    const fused = async (over: RetrievalIndex) => {
      const model = await fitFeatures({ corpus: rewritten, queries: [], qrels, index: over, lsa, seed: 1 });
      return FEATURES.filter((_, f) => model.scorer.coefficients[f] !== 0);
    };
    expect(await fused(await createRetriever(bm25).build(rewritten))).toEqual(['cosine', 'firstStage']);
    const dense = createDenseRetriever({ embedder: lsa });
    expect(await fused(await dense.build(rewritten))).toEqual(['bm25', 'cosine', 'firstStage']);
  });
});

describe('a scorer that does not earn its calls', () => {
  it('says so, with the figures and the way out', async () => {
    const evidence = { ...logistic.evidence, heldOutAuc: 0.759, firstStageAuc: 0.858 };
    const worse = createFeaturesReranker({ ...logistic, evidence }, { index, corpus });
    expect(worse.warnings).toEqual([
      expect.stringMatching(/does not earn its calls here: .* AUC is 0\.759, the first stage's 0\.858\. .*--train/),
    ]);
    expect(createFeaturesReranker(logistic).warnings).toEqual([]);
    const even = { ...evidence, heldOutAuc: 0.858 };
    expect(createFeaturesReranker({ ...logistic, evidence: even }).warnings).toEqual([]);
  });
});
