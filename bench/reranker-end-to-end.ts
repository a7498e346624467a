/**
 * What `morph` answers with the embedded reranker, beside the first stage alone: the commands from a data set (for code:
 * from a training) to an index, then budgeted selection for the test queries. The judgements of test queries are read
 * here, to measure, and nowhere before.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { datasetFromCodeCommand } from '../dataset/command.ts';
import { indexCorpus } from '../index/commands/index.ts';
import { rewriteCorpus } from '../rewrite/command.ts';
import { openServedIndex } from '../select/commands/open-served-index.ts';
import { createSelector, poolFromIndex, select } from '../select/mod.ts';
import type { CommandContext } from '../src/config/command.ts';
import { datasetFromCodeSchema, indexSchema, rewriteCorpusSchema, trainSchema } from '../src/config/schemas/mod.ts';
import { loadDataset, resolveSplits } from '../src/data/mod.ts';
import { evaluate, parseMeasures } from '../src/metrics/mod.ts';
import { silentLog } from '../src/run/log.ts';
import type { Ranking } from '../src/types.ts';
import { trainExperiment } from '../train/command.ts';

const PROSE = ['cranfield', 'cisi', 'medline', 'scifact'];
const CODE = ['mbpp', 'es-toolkit'];
/** Prose is small: three splits are averaged. A training each is enough for code. */
const SPLIT_SEEDS = [1, 2, 3];
const BUDGET = 20;
const CAPACITY = 10;
const POOL = 1000;
const SELECTORS = ['boundary-morph', 'single-stage', 'morph-hybrid'];
const MEASURES = parseMeasures('nDCG@5 nCG@10');

/** Mean figures over the test queries, by system. */
export interface EndToEnd {
  readonly systems: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What was fitted, split by split. */
  readonly rerankers: readonly string[];
  readonly testQueries: number;
}

/** Every collection that is there; `folder` is DOCOPT_DATA. The code of es-toolkit comes with the repository's packages. */
export async function endToEnd(folder: string): Promise<Record<string, EndToEnd>> {
  const results: Record<string, EndToEnd> = {};
  for (const name of [...PROSE, ...CODE]) {
    if (name !== 'es-toolkit' && !existsSync(join(folder, name))) continue;
    const isCode = CODE.includes(name);
    const runs: EndToEnd[] = [];
    for (const seed of isCode ? [1] : SPLIT_SEEDS) runs.push(await endToEndOf(name, folder, seed));
    results[`morph on ${name}${isCode ? ', rewritten' : ''}`] = average(runs);
  }
  return results;
}

/** One collection and one split of the default shares, in a temporary folder. */
export async function endToEndOf(name: string, folder: string, splitSeed: number): Promise<EndToEnd> {
  const work = mkdtempSync(join(tmpdir(), 'docopt-bench-'));
  const at = (part: string): string => join(work, part);
  const context = contextIn(work);
  const shared = { data: at('data'), retriever: { driver: 'bm25' as const }, splitSeed };
  try {
    await placeData(name, folder, at('data'), context);
    if (CODE.includes(name)) {
      await trainExperiment(trainSchema.parse({ ...shared, out: at('experiment'), baselines: false }), {
        ...context,
        given: new Set(['data', 'retriever', 'out', 'splitSeed', 'baselines']),
      });
      await rewriteCorpus(
        rewriteCorpusSchema.parse({ data: at('data'), policy: at('experiment'), out: at('corpus') }),
        context,
      );
      await indexCorpus(indexSchema.parse({ ...shared, corpus: at('corpus'), out: at('index') }), context);
    } else {
      const typed = [{ name: 'data', value: at('data') }];
      await indexCorpus(indexSchema.parse({ ...shared, out: at('index') }), { ...context, typed });
    }
    return await measure(at('index'), at('data'), splitSeed);
  } finally {
    rmSync(work, { recursive: true });
  }
}

async function measure(folder: string, data: string, seed: number): Promise<EndToEnd> {
  const index = await openServedIndex(folder);
  const dataset = await loadDataset(data);
  const { test } = await resolveSplits(dataset, { seed });
  const runs = new Map<string, Map<string, Ranking>>(['first stage', ...SELECTORS].map((name) => [name, new Map()]));
  const textOf = new Map(dataset.queries.map(({ id, text }) => [id, text]));
  for (const id of test) {
    const pool = await poolFromIndex(index, { id, text: textOf.get(id)! }, POOL);
    runs.get('first stage')!.set(id, ranked(pool.ids.slice(0, CAPACITY)));
    for (const name of SELECTORS) {
      const { selected } = await select({
        pool,
        documentAt: (position) => index.corpus.original(index.corpus.positionOf(pool.ids[position])!),
        reranker: index.embedded,
        selector: createSelector(name),
        budget: BUDGET,
        capacity: CAPACITY,
      });
      runs.get(name)!.set(id, ranked(selected.map((entry) => entry.id)));
    }
  }
  const judged = new Map(test.map((id) => [id, dataset.qrels.get(id)!]));
  const systems = [...runs].map(([name, run]) => [name, evaluate(run, judged, MEASURES).mean]);
  return {
    systems: Object.fromEntries(systems),
    rerankers: [`${index.facts.reranker}`],
    testQueries: test.length,
  };
}

function ranked(ids: readonly string[]): Ranking {
  return { ids, scores: Float64Array.from(ids, (_, rank) => -rank) };
}

function average(runs: readonly EndToEnd[]): EndToEnd {
  const mean = (system: string, measure: string): number => {
    const sum = runs.reduce((total, { systems }) => total + systems[system][measure], 0);
    return Math.round((sum / runs.length) * 10_000) / 10_000;
  };
  const systems = Object.keys(runs[0].systems).map((system) => [
    system,
    Object.fromEntries(MEASURES.map(({ name }) => [name, mean(system, name)])),
  ]);
  return {
    systems: Object.fromEntries(systems),
    rerankers: runs.flatMap(({ rerankers }) => rerankers),
    testQueries: runs.reduce((total, { testQueries }) => total + testQueries, 0),
  };
}

async function placeData(name: string, folder: string, data: string, context: CommandContext): Promise<void> {
  if (name === 'es-toolkit') {
    const dir = dirname(createRequire(import.meta.url).resolve('es-toolkit/package.json'));
    await datasetFromCodeCommand.run(datasetFromCodeSchema.parse({ dir, out: data }), context);
    return;
  }
  // A copy, file by file so that its folders can be written: the split is saved beside the data.
  mkdirSync(join(data, 'qrels'), { recursive: true });
  const judgements = readdirSync(join(folder, name, 'qrels')).map((file) => join('qrels', file));
  for (const part of ['corpus.jsonl', 'queries.jsonl', ...judgements]) {
    copyFileSync(join(folder, name, part), join(data, part));
  }
}

function contextIn(projectFolder: string): CommandContext {
  return {
    program: 'docopt',
    log: silentLog,
    json: true,
    cwd: projectFolder,
    projectFolder,
    env: {},
    signal: new AbortController().signal,
    typed: [],
    given: new Set(),
    print: () => {},
  };
}
