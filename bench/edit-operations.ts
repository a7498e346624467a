/**
 * Which edits of the embedded policy help a given retriever: the originals, each operation alone with all of its edits kept,
 * all operations, and the shipped weights, on code collections (DOCOPT_DATA with mbpp and conala in BEIR layout). Everything
 * is measured on the test queries of the seeded split; the translation table sees the training queries alone.
 *
 * DOCOPT_BENCH_RETRIEVER is the retriever's short form (default bm25), DOCOPT_BENCH_COLLECTIONS a list of names,
 * DOCOPT_BENCH_DOCUMENTS takes the first so many documents with their queries, DOCOPT_BENCH_VECTORS names a file where
 * vectors are kept, so that an interrupted bench goes on.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createRetriever } from '../index/mod.ts';
import { expandShortForm, type RetrieverSpec, retrieverSchema } from '../src/config/specs.ts';
import { arrayCorpus, corpusWithTexts, type Dataset, loadDataset, splitQueries } from '../src/data/mod.ts';
import { DocOptError } from '../src/errors.ts';
import { bootstrapInterval } from '../src/metrics/bootstrap.ts';
import { evaluate, parseMeasures } from '../src/metrics/mod.ts';
import {
  createEditPolicy,
  type EditPolicy,
  fixedPolicy,
  OPERATIONS,
  shippedWeights,
} from '../src/models/policies/mod.ts';
import type { ModelServices } from '../src/models/services.ts';
import type { Policy } from '../src/ports.ts';
import { createLog } from '../src/run/log.ts';
import { openResponseCache } from '../src/store/response-cache.ts';
import { createAnalyzer } from '../src/text/mod.ts';
import { trainingPairs } from '../train/commands/policy.ts';
import { plainPrompt, rewriteAllWith } from '../train/rollouts.ts';
import type { BenchResult } from './types.ts';

const MEASURE = 'nDCG@5';
const RESAMPLES = 2000;

interface Row {
  readonly ndcg5: number;
  /** Against the originals, on the same queries, with a 95 % bootstrap interval. */
  readonly change: number;
  readonly interval: readonly number[];
  /** Documents that it changes. */
  readonly changed: number;
}

export async function run(): Promise<BenchResult> {
  const folder = process.env.DOCOPT_DATA ?? '';
  const names = (process.env.DOCOPT_BENCH_COLLECTIONS ?? 'mbpp conala').split(/[ ,]+/);
  const present = names.filter((name) => folder !== '' && existsSync(join(folder, name)));
  if (present.length === 0) {
    throw new DocOptError('USAGE', `DOCOPT_DATA names no folder with ${names.join(' or ')} in it.`, {
      hint: 'Set it to a folder of code collections in BEIR layout.',
    });
  }
  const spec = retrieverSchema.parse(expandShortForm('retriever', process.env.DOCOPT_BENCH_RETRIEVER ?? 'bm25'));
  const log = createLog({ level: 'normal' });
  const store = process.env.DOCOPT_BENCH_VECTORS;
  const cache = store === undefined ? undefined : await openResponseCache(store, log);
  const figures: Record<string, unknown> = { retriever: process.env.DOCOPT_BENCH_RETRIEVER ?? 'bm25' };
  let best = 0;
  for (const name of present) {
    const dataset = firstDocuments(await loadDataset(join(folder, name)), Number(process.env.DOCOPT_BENCH_DOCUMENTS));
    const services = { log, ...(cache === undefined ? {} : { vectors: async () => cache }) };
    const rows = await measureAll(dataset, spec, services);
    figures[name] = { documents: dataset.corpus.size, testQueries: rows.queries, ...rows.systems };
    best = Math.max(best, ...Object.values(rows.systems).map(({ ndcg5 }) => ndcg5 / rows.systems.original.ndcg5));
  }
  cache?.close();
  return { name: 'edit-operations', figures, ratio: { original: best } };
}

async function measureAll(dataset: Dataset, spec: RetrieverSpec, services: ModelServices) {
  const { corpus, queries, qrels } = dataset;
  const splits = splitQueries(queries, qrels, { train: 0.2, dev: 0.25, seed: 1 });
  const analyzer = 'analyzer' in spec ? spec.analyzer : 'english';
  const edit = (init: Parameters<typeof createEditPolicy>[0]['init'], trained: boolean): EditPolicy =>
    createEditPolicy({
      corpus,
      analyzer: createAnalyzer(analyzer),
      trainingPairs: trained ? trainingPairs(dataset, splits) : [],
      init,
      seed: 1,
    });
  const base = edit('zero', true);
  const { name, weights } = shippedWeights();
  const systems: Record<string, Policy> = {
    original: fixedPolicy(base, []),
    ...Object.fromEntries(OPERATIONS.map((operation) => [operation, fixedPolicy(base, [operation])])),
    allEdits: fixedPolicy(base, OPERATIONS),
    shipped: edit({ name, weights }, false),
  };
  const test = new Set(splits.test);
  const asked = queries.filter(({ id }) => test.has(id));
  const retriever = createRetriever(spec, services);
  const out: Record<string, Row> = {};
  let before: Readonly<Record<string, number>> = {};
  for (const [system, policy] of Object.entries(systems)) {
    const texts = await rewriteAllWith(plainPrompt)({
      policy,
      corpus,
      sampling: { samples: 1, temperature: 0, seed: 1 },
    });
    const index = await retriever.build(corpusWithTexts(corpus, texts));
    const rankings = await index.search(asked, 5);
    const found = evaluate(new Map(asked.map(({ id }, q) => [id, rankings[q]])), qrels, parseMeasures(MEASURE), {
      queries: splits.test,
    });
    const perQuery = found.perQuery[MEASURE];
    if (system === 'original') before = perQuery;
    const changes = splits.test.map((id) => perQuery[id] - before[id]);
    out[system] = {
      ndcg5: rounded(found.mean[MEASURE]),
      change: rounded(mean(changes)),
      interval: bootstrapInterval(changes, { resamples: RESAMPLES, seed: 1, level: 0.95 }).map(rounded),
      changed: texts.filter((text, i) => text !== corpus.indexText(i)).length,
    };
    console.error(`${system}: ${JSON.stringify(out[system])}`);
  }
  return { queries: splits.test.length, systems: out };
}

/** The collection of its first `count` documents and the queries that they answer; all of it for NaN. */
function firstDocuments(dataset: Dataset, count: number): Dataset {
  const { corpus, queries, qrels } = dataset;
  if (!(count < corpus.size)) return dataset;
  const kept = arrayCorpus(Array.from({ length: count }, (_, i) => corpus.original(i)));
  const judged = new Map(
    [...qrels].flatMap(([query, grades]) => {
      const own = [...grades].filter(([id]) => kept.positionOf(id) !== undefined);
      return own.some(([, grade]) => grade > 0) ? [[query, new Map(own)] as const] : [];
    }),
  );
  return { ...dataset, corpus: kept, qrels: judged, queries: queries.filter(({ id }) => judged.has(id)) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
