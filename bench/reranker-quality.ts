/**
 * What the embedded reranker earns: re-ranking BM25's top 100 on real collections (DOCOPT_DATA, BEIR layout) beside BM25,
 * LSA and their reciprocal rank fusion. Fitted on a seeded share of the queries, measured on the others, three seeds. The
 * fit is handed the judgements of its own queries only. Then end to end: what `morph` answers with it
 * (reranker-end-to-end.ts).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createBm25Retriever } from '../index/retrievers/bm25.ts';
import { createDenseRetriever } from '../index/retrievers/dense.ts';
import { type Dataset, documentText, loadDataset } from '../src/data/mod.ts';
import { DocOptError } from '../src/errors.ts';
import { createRng, shuffle } from '../src/kernels/rng.ts';
import { areaUnderCurve } from '../src/kernels/stats.ts';
import { evaluate, parseMeasures } from '../src/metrics/mod.ts';
import { createEmbedder, fitLsa } from '../src/models/embedders/mod.ts';
import { createFeaturesReranker, fitFeatures } from '../src/models/rerankers/mod.ts';
import type { Embedder, RetrievalIndex } from '../src/ports.ts';
import type { Qrels, Query, Ranking } from '../src/types.ts';
import { endToEnd } from './reranker-end-to-end.ts';
import type { BenchResult } from './types.ts';

const COLLECTIONS = ['cranfield', 'cisi', 'medline', 'scifact'];
const SHARES = [0.2, 0.5];
const SEEDS = [1, 2, 3];
const DEPTH = 100;
const SYSTEMS = ['bm25', 'lsa', 'rrf', 'features'] as const;

type System = (typeof SYSTEMS)[number];
type Figures = Record<System, { ndcg10: number; auc: number }> & { kind: string; calibrationError: number };

export async function run(): Promise<BenchResult> {
  const folder = process.env.DOCOPT_DATA;
  const present = COLLECTIONS.filter((name) => folder !== undefined && existsSync(join(folder, name)));
  if (present.length === 0) {
    throw new DocOptError('USAGE', 'DOCOPT_DATA names no folder with cranfield, cisi, medline or scifact in it.', {
      hint: 'Set it to a folder of collections in BEIR layout.',
    });
  }
  const figures: Record<string, Figures> = {};
  const gains: number[] = [];
  for (const name of present) {
    const collection = await prepare(join(folder!, name));
    for (const share of SHARES) {
      const runs: Figures[] = [];
      for (const seed of SEEDS) runs.push(await measure(collection, share, seed));
      const mean = average(runs);
      figures[`${name} train ${share}`] = mean;
      gains.push(mean.features.ndcg10 / mean.bm25.ndcg10);
    }
  }
  return {
    name: 'reranker-quality',
    figures: { ...figures, ...(await endToEnd(folder!)) },
    ratio: { bm25: gains.reduce((sum, gain) => sum + gain, 0) / gains.length },
  };
}

interface Collection {
  readonly dataset: Dataset;
  readonly queries: readonly Query[];
  readonly lexical: RetrievalIndex;
  readonly dense: RetrievalIndex;
  readonly lsa: Embedder;
}

async function prepare(path: string): Promise<Collection> {
  const dataset = await loadDataset(path);
  const { corpus } = dataset;
  const texts = { length: corpus.size, at: (position: number) => documentText(corpus.original(position)) };
  return {
    dataset,
    queries: dataset.queries.filter(({ id }) => dataset.qrels.has(id)),
    lexical: await createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' }).build(corpus),
    dense: await createDenseRetriever({ embedder: createEmbedder({ driver: 'lsa' }) }).build(corpus),
    lsa: fitLsa(texts),
  };
}

async function measure(collection: Collection, share: number, seed: number): Promise<Figures> {
  const { dataset, lexical, dense, lsa } = collection;
  const order = shuffle([...collection.queries], createRng(seed));
  const cut = Math.round(share * order.length);
  const [train, test] = [order.slice(0, cut), order.slice(cut)];
  const model = await fitFeatures({
    corpus: dataset.corpus,
    queries: train,
    qrels: only(dataset.qrels, train),
    index: lexical,
    lsa,
    seed,
  });
  const reranker = createFeaturesReranker(model, { index: lexical, corpus: dataset.corpus });
  const tops = await lexical.search(test, DEPTH);
  const scores: Record<System, Float64Array[]> = { bm25: [], lsa: [], rrf: [], features: [] };
  for (let q = 0; q < test.length; q++) {
    const { ids } = tops[q];
    const bm25 = Float64Array.from(ids, (_, rank) => -rank);
    const cosine = new Float64Array((await dense.similarities([test[q]], ids)).data);
    const documents = ids.map((id) => dataset.corpus.original(dataset.corpus.positionOf(id)!));
    scores.bm25.push(bm25);
    scores.lsa.push(cosine);
    scores.rrf.push(fuse(bm25, cosine));
    scores.features.push(await reranker.score(test[q], documents));
  }
  const labels = tops.map(({ ids }, q) =>
    Float64Array.from(ids, (id) => ((dataset.qrels.get(test[q].id)!.get(id) ?? 0) > 0 ? 1 : 0)),
  );
  const judged = (system: System) => ({
    ndcg10: ndcg10(test, tops, scores[system], only(dataset.qrels, test)),
    auc: meanAuc(scores[system], labels),
  });
  return {
    bm25: judged('bm25'),
    lsa: judged('lsa'),
    rrf: judged('rrf'),
    features: judged('features'),
    kind: model.scorer.kind,
    calibrationError: calibrationError(
      scores.features.flatMap((s) => [...s]),
      labels.flatMap((y) => [...y]),
    ),
  };
}

function only(qrels: Qrels, queries: readonly Query[]): Qrels {
  return new Map(queries.map(({ id }) => [id, qrels.get(id)!]));
}

/** Reciprocal rank fusion with the usual 60. */
function fuse(...systems: readonly Float64Array[]): Float64Array {
  const fused = new Float64Array(systems[0].length);
  for (const scores of systems) {
    const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
    order.forEach((position, rank) => {
      fused[position] += 1 / (61 + rank);
    });
  }
  return fused;
}

function ndcg10(
  queries: readonly Query[],
  tops: readonly Ranking[],
  scores: readonly Float64Array[],
  qrels: Qrels,
): number {
  const run = new Map(
    queries.map(({ id }, q) => {
      const order = [...scores[q].keys()].sort((a, b) => scores[q][b] - scores[q][a] || a - b);
      const ids = order.map((position) => tops[q].ids[position]);
      return [id, { ids, scores: Float64Array.from(order, (_, rank) => -rank) }];
    }),
  );
  return evaluate(run, qrels, parseMeasures('nDCG@10')).mean['nDCG@10'];
}

function meanAuc(scores: readonly Float64Array[], labels: readonly Float64Array[]): number {
  const values = scores.map((own, q) => areaUnderCurve(own, labels[q])).filter((value) => !Number.isNaN(value));
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Expected calibration error over ten bins of equal width. */
function calibrationError(scores: readonly number[], labels: readonly number[]): number {
  const surplus = new Float64Array(10);
  scores.forEach((score, i) => {
    surplus[Math.min(9, Math.floor(score * 10))] += score - labels[i];
  });
  return surplus.reduce((sum, value) => sum + Math.abs(value), 0) / scores.length;
}

function average(runs: readonly Figures[]): Figures {
  const mean = (of: (figures: Figures) => number): number => {
    const value = runs.reduce((sum, figures) => sum + of(figures), 0) / runs.length;
    return Math.round(value * 10_000) / 10_000;
  };
  const systems = Object.fromEntries(
    SYSTEMS.map((system) => [system, { ndcg10: mean((f) => f[system].ndcg10), auc: mean((f) => f[system].auc) }]),
  ) as Record<System, { ndcg10: number; auc: number }>;
  return {
    ...systems,
    kind: [...new Set(runs.map(({ kind }) => kind))].join(' and '),
    calibrationError: mean((figures) => figures.calibrationError),
  };
}
