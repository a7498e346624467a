/** `docopt demo`: the whole pipeline on real code, through the same functions as the commands; it prints what it measured. */
import { existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { datasetFromCodeCommand } from '../../dataset/command.ts';
import { evalCommand } from '../../index/commands/eval.ts';
import { indexCorpus } from '../../index/commands/index.ts';
import type { EvaluationReport } from '../../index/mod.ts';
import { rewriteCorpus } from '../../rewrite/command.ts';
import { serveCommand } from '../../select/command.ts';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import {
  datasetFromCodeSchema,
  demoSchema,
  evalSchema,
  indexSchema,
  rewriteCorpusSchema,
  serveSchema,
  trainSchema,
} from '../../src/config/schemas/mod.ts';
import { makeFolder } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { duration } from '../../src/run/log.ts';
import { trainExperiment } from '../../train/command.ts';
import type { TrainReport } from '../../train/mod.ts';
import { DEMO_PACKAGE, DEMO_QUESTIONS } from '../demo-package.ts';
import { demoTable } from '../demo-table.ts';
import { fetchPackage } from './fetch-package.ts';

type Options = z.infer<typeof demoSchema>;

export const demoCommand = defineCommand({
  name: 'demo',
  summary:
    'The whole pipeline on the code of a real package: data set, training, rewriting, index, service. No network, no key.',
  details: `It reads the npm package ${DEMO_PACKAGE.name} ${DEMO_PACKAGE.version}; where that is not installed, npm fetches it (545 kB).`,
  schema: demoSchema,
  examples: [
    ['docopt demo', 'everything, into .docopt/demo'],
    ['docopt demo --out /tmp/demo --seed 2', 'another place, another seed'],
    ['docopt demo --steps 30 --json', 'a short training; figures for scripts'],
  ],
  run: demo,
});

async function demo(options: Options, context: CommandContext): Promise<CommandResult> {
  const started = performance.now();
  const folder = resolve(options.out ?? join(context.projectFolder, '.docopt', 'demo'));
  const at = (name: string): string => join(folder, name);
  await prepare(folder, options.out !== undefined);
  const { log } = context;
  // The demo's own .docopt/ lies inside its folder: the user's latest artefacts stay what they were.
  const inside: CommandContext = { ...context, projectFolder: folder, json: true, typed: [], given: new Set() };
  const heading = (step: number, what: string): void => log.info(`\n[${step}/5] ${what}`);

  heading(1, `documented functions of ${DEMO_PACKAGE.name} ${DEMO_PACKAGE.version} become a data set`);
  const made = await datasetFromCodeCommand.run(
    datasetFromCodeSchema.parse({ dir: demoPackage(folder, context), out: at('data') }),
    inside,
  );
  const { functions, queries } = made.json as { functions: { documents: number }; queries: { written: number } };
  log.info(
    `${functions.documents} documents (code without comments), ${queries.written} queries (first sentences of the comments)`,
  );

  heading(2, 'the embedded policy trains against BM25 rankings');
  const trained = await trainExperiment(
    trainSchema.parse({
      data: at('data'),
      retriever: { driver: 'bm25' },
      out: at('experiment'),
      seed: options.seed,
      steps: options.steps,
    }),
    { ...inside, given: new Set(['data', 'retriever', 'out', 'seed']) },
  );
  const report = trained.report as TrainReport;

  heading(3, 'the corpus is rewritten and indexed; the originals are what people get back');
  await rewriteCorpus(
    rewriteCorpusSchema.parse({ data: at('data'), policy: at('experiment'), out: at('corpus') }),
    inside,
  );
  await indexCorpus(indexSchema.parse({ corpus: at('corpus'), out: at('index') }), inside);

  heading(4, 'the index on the test queries, by the evaluation command');
  const evaluation = await evalCommand.run(
    evalSchema.parse({ data: at('data'), retriever: [{ driver: 'bm25' }], index: [at('index')], metrics: ['nDCG@5'] }),
    {
      ...inside,
      typed: [
        { name: 'retriever', value: 'bm25' },
        { name: 'index', value: at('index') },
      ],
    },
  );
  const { queries: testQueries, systems } = evaluation.json as EvaluationReport;

  heading(5, 'morph serve answers over HTTP');
  const answers = await askService(at('index'), inside);

  const seconds = (performance.now() - started) / 1000;
  const table = demoTable(report);
  return {
    json: {
      folder,
      documents: functions.documents,
      testQueries,
      figures: table.rows,
      indexed: systems.map(({ name, mean }) => ({ name, mean })),
      answers,
      seconds,
    },
    text: [
      '',
      `nDCG@5 on ${testQueries} test queries that nothing was trained on, ${functions.documents} documents, BM25 (english analyzer):`,
      '',
      table.text,
      '',
      ...answers.map(
        ({ question, found }) =>
          `"${question}"\n    ${found.map(({ id, relevance, source }) => `${id} (${relevance.toFixed(2)}, ${source})`).join('\n    ')}`,
      ),
      '',
      `artefacts in ${folder}: data, experiment, corpus, index`,
      `try:  docopt search --index ${at('index')} "..."   or   morph serve --index ${at('index')}`,
      `took ${duration(seconds * 1000)}`,
    ].join('\n'),
  };
}

/** A demo may be repeated: what an earlier one left in its own place is replaced; a foreign folder is not touched. */
async function prepare(folder: string, chosen: boolean): Promise<void> {
  if (existsSync(folder)) {
    if (chosen && !existsSync(join(folder, '.docopt-demo'))) {
      throw new DocOptError('USAGE', `${folder} exists`, { hint: 'Choose a new folder for --out.' });
    }
    rmSync(folder, { recursive: true });
  }
  await makeFolder(join(folder, '.docopt-demo'));
}

/** Where the demo's package is installed, seen from this file and from the working folder; else npm fetches it into the demo. */
function demoPackage(folder: string, { log, env }: CommandContext): string {
  const { name, version } = DEMO_PACKAGE;
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return dirname(createRequire(from).resolve(`${name}/package.json`));
    } catch {
      // Looked for in the next place.
    }
  }
  log.info(`${name} is not installed; npm is to fetch it`);
  return fetchPackage(name, version, join(folder, 'package'), env);
}

interface Answer {
  readonly question: string;
  readonly found: readonly {
    readonly id: string;
    readonly relevance: number;
    readonly source: 'scored' | 'estimated';
  }[];
}

/** Starts the real service on a free port, asks it, and stops it. */
async function askService(index: string, context: CommandContext): Promise<Answer[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const { promise: listening, resolve: heard, reject: failed } = withResolvers<string>();
  const serving = serveCommand.run(serveSchema.parse({ index, port: 0 }), {
    ...context,
    program: 'morph',
    json: false,
    signal,
    print: (line) => heard(line.replace(/^.*(http:\S+).*$/s, '$1')),
  });
  serving.catch(failed);
  try {
    const url = await listening;
    context.log.info(url);
    const answers: Answer[] = [];
    for (const question of DEMO_QUESTIONS) {
      const response = await fetch(`${url}/v1/select`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: question, budget: 20, capacity: 3 }),
      });
      const { selected } = (await response.json()) as {
        selected: { id: string; relevanceScore: number; source: 'scored' | 'estimated' }[];
      };
      answers.push({
        question,
        found: selected.map(({ id, relevanceScore, source }) => ({ id, relevance: relevanceScore, source })),
      });
    }
    return answers;
  } finally {
    stop.abort();
    await serving.catch(() => {});
  }
}

/** Promise.withResolvers is younger than Node 20. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (reason: unknown) => void } {
  let resolvePromise!: (value: T) => void;
  let rejectPromise!: (reason: unknown) => void;
  const promise = new Promise<T>((accept, refuse) => {
    resolvePromise = accept;
    rejectPromise = refuse;
  });
  return { promise, resolve: resolvePromise, reject: rejectPromise };
}
