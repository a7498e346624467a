/**
 * Selectors against a simulated cross-encoder on real collections: CE = clip(.12 + .7 relevant + N(0, .12)), pools of the
 * 1,000 nearest documents by 200-d LSA, BM25 over the whole collection for the lexical ranks. DOCOPT_DATA=DIR names the
 * folder of the collections. Smaller runs: DOCOPT_SIMULATION="cisi medline" takes some of them, DOCOPT_SIMULATION_QUERIES=30
 * their first judged queries, DOCOPT_SIMULATION_CELLS="10/20 50/100" some budgets and capacities; a weaker first stage:
 * DOCOPT_SIMULATION_DIMENSIONS=20.
 *
 * nCG@k = relevant documents among the k chosen / the most that k documents of the pool could hold; CE-nCG@k the same with
 * the scores as gains. BAGEL and RGS have their settings chosen on the figure itself, cell by cell, which only helps them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createBm25Retriever } from '../index/retrievers/bm25.ts';
import { createDenseRetriever } from '../index/retrievers/dense.ts';
import { createSelector, poolFromIndex, type SelectorSpec } from '../select/mod.ts';
import { loadDataset } from '../src/data/mod.ts';
import { DocOptError } from '../src/errors.ts';
import { createEmbedder } from '../src/models/embedders/mod.ts';
import { createQrelsReranker } from '../src/models/rerankers/mod.ts';
import type { Selector } from '../src/ports.ts';
import { createAnalyzer } from '../src/text/mod.ts';
import type { Pool } from '../src/types.ts';
import type { BenchResult } from './types.ts';

export const COLLECTIONS = ['cisi', 'medline', 'cranfield', 'lisa', 'scifact'];
/** Budget and capacity. */
export const CELLS: readonly (readonly [number, number])[] = [
  [10, 20],
  [25, 50],
  [50, 50],
  [25, 100],
  [50, 100],
  [100, 50],
  [100, 100],
];
const POOL = 1000;
const MOST_QUERIES = 100;
/** The paper's diffuse queries. */
export const DIFFUSE = 20;

/** Several specs under a name: the best of them counts, cell by cell. */
export const SYSTEMS: Readonly<Record<string, readonly SelectorSpec[]>> = {
  'single-stage': [{ driver: 'single-stage' }],
  'single-stage, fused': [{ driver: 'single-stage', prior: 'fusion' }],
  bagel: [0, 0.5, 1, 2].map((beta0) => ({ driver: 'bagel', beta0 })),
  'bagel, fused': [0, 0.5, 1, 2].map((beta0) => ({ driver: 'bagel', beta0, prior: 'fusion' })),
  rgs: [{ driver: 'rgs' }, { driver: 'rgs', seedDiv: 4 }],
  'rgs, fused': [{ driver: 'rgs', prior: 'fusion' }],
  gar: [{ driver: 'gar' }],
  acurank: [{ driver: 'acurank' }],
  'boundary-morph': [{ driver: 'boundary-morph' }],
  'boundary-morph, fused': [{ driver: 'boundary-morph', prior: 'fusion' }],
  'morph-ucb': [0, 0.5, 1, 2].map((beta0) => ({ driver: 'morph-ucb', beta0 })),
  'morph-zero-prior': [{ driver: 'morph-zero-prior' }],
  'dense-log': [{ driver: 'dense-log' }],
  'morph-hybrid': [{ driver: 'morph-hybrid' }],
};

export interface Trial {
  readonly pool: Pool;
  readonly relevant: Uint8Array;
  readonly relevantInAll: number;
  readonly scores: Float64Array;
}

export async function run(): Promise<BenchResult> {
  const folder = process.env.DOCOPT_DATA;
  if (folder === undefined) {
    throw new DocOptError('USAGE', 'DOCOPT_DATA is not set.', {
      hint: 'DOCOPT_DATA=DIR npm run bench -- selector-simulation, with BEIR folders of these names in DIR.',
    });
  }
  const wanted = process.env.DOCOPT_SIMULATION?.split(/[\s,]+/) ?? COLLECTIONS;
  const dimensions = Number(process.env.DOCOPT_SIMULATION_DIMENSIONS ?? 200);
  const queries = Number(process.env.DOCOPT_SIMULATION_QUERIES ?? MOST_QUERIES);
  const cells = process.env.DOCOPT_SIMULATION_CELLS?.split(/[\s,]+/).map((cell) => {
    const [budget, capacity] = cell.split('/').map(Number);
    return [budget, capacity] as const;
  });
  const figures: Record<string, unknown> = {};
  for (const name of wanted.filter((each) => existsSync(join(folder, each)))) {
    const trials = await trialsOf(join(folder, name), { dimensions, queries });
    figures[name] = measure(trials, SYSTEMS, cells);
    console.error(`${name}: ${JSON.stringify(figures[name])}`);
  }
  return { name: 'selector-simulation', figures: { dimensions, ...figures }, ratio: {} };
}

/** `dimensions` of the LSA that retrieves: fewer make a weaker first stage. */
export async function trialsOf(
  path: string,
  { seed = 1, dimensions = 200, queries: most = MOST_QUERIES } = {},
): Promise<Trial[]> {
  const { corpus, queries, qrels } = await loadDataset(path);
  const { analyze } = createAnalyzer('english');
  const lexical = createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' });
  const dense = createDenseRetriever({ embedder: createEmbedder({ driver: 'lsa', dimensions }) });
  const [words, index] = [await lexical.build(corpus), await dense.build(corpus)];
  const source = {
    index,
    vectors: {
      documents: (ids: readonly string[]) => index.embeddings!(ids),
      queries: (asked: Parameters<NonNullable<typeof index.embedQueries>>[0]) => index.embedQueries!(asked),
    },
    lexical: { index: words, analyze, textOf: (id: string) => corpus.indexText(corpus.positionOf(id)!) },
  };
  const reranker = createQrelsReranker({ qrels, noise: 0.12, seed });
  const trials: Trial[] = [];
  for (const query of queries) {
    const judged = [...(qrels.get(query.id) ?? [])].filter(([, grade]) => grade > 0).map(([id]) => id);
    if (judged.length === 0 || trials.length >= most) continue;
    const pool = await poolFromIndex(source, query, POOL);
    const known = new Set(judged);
    const relevant = Uint8Array.from(pool.ids, (id) => (known.has(id) ? 1 : 0));
    if (!relevant.includes(1)) continue;
    const documents = pool.ids.map((id) => ({ id, title: '', text: '' }));
    trials.push({ pool, relevant, relevantInAll: known.size, scores: await reranker.score(query, documents) });
  }
  return trials;
}

export interface Quality {
  readonly nCG: number;
  readonly ceNCG: number;
}

/** cell -> system -> mean over queries, over all and over the diffuse ones (when there are at least ten). Percent. */
export function measure(
  trials: readonly Trial[],
  systems: Readonly<Record<string, readonly SelectorSpec[]>>,
  cells: readonly (readonly [number, number])[] = CELLS,
): Record<string, unknown> {
  const diffuse = trials.filter(({ relevantInAll }) => relevantInAll >= DIFFUSE);
  const out: Record<string, unknown> = { queries: trials.length, diffuseQueries: diffuse.length };
  for (const [budget, capacity] of cells) {
    const table: Record<string, unknown> = {};
    for (const [system, specs] of Object.entries(systems)) {
      const rows = specs.map((spec) => trials.map((trial) => qualityOf(createSelector(spec), trial, budget, capacity)));
      table[system] = {
        all: best(rows),
        ...(diffuse.length >= 10
          ? { diffuse: best(rows.map((row) => row.filter((_, i) => trials[i].relevantInAll >= DIFFUSE))) }
          : {}),
      };
    }
    out[`B ${budget}, k ${capacity}`] = table;
  }
  return out;
}

/** Each figure by the row that has the most of it: an upper bound for what is swept. */
function best(rows: readonly (readonly Quality[])[]): Quality {
  const most = (of: (quality: Quality) => number): number =>
    Math.max(...rows.map((row) => (100 * row.reduce((sum, quality) => sum + of(quality), 0)) / row.length));
  return { nCG: round(most(({ nCG }) => nCG)), ceNCG: round(most(({ ceNCG }) => ceNCG)) };
}

export function qualityOf(selector: Selector, trial: Trial, budget: number, capacity: number): Quality {
  const run = selector.begin(trial.pool, { budget, capacity });
  for (let next = run.ask(); next.length > 0; next = run.ask()) {
    for (const position of next) run.tell(position, trial.scores[position]);
  }
  const chosen = run.result().order.slice(0, capacity);
  return {
    nCG: share(
      chosen.map(({ position }) => trial.relevant[position]),
      trial.relevant,
      capacity,
    ),
    ceNCG: share(
      chosen.map(({ position }) => trial.scores[position]),
      trial.scores,
      capacity,
    ),
  };
}

function share(got: readonly number[], all: ArrayLike<number>, capacity: number): number {
  const ideal = Array.from(all)
    .sort((a, b) => b - a)
    .slice(0, capacity);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return sum(got) / sum(ideal);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
