/** `docopt reproduce NAME`: the cells of a table of the paper as trainings, one after another, then the table. */
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { reproduceSchema, trainSchema } from '../../src/config/schemas/mod.ts';
import { specName } from '../../src/config/spec-names.ts';
import { policySchema } from '../../src/config/specs.ts';
import { type Dataset, loadDataset, makeFolder, writeFileAtomic } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { packageFolder } from '../../src/run/version.ts';
import { readJsonFile } from '../../src/store/experiment.ts';
import { acquireLock } from '../../src/store/lock.ts';
import { didYouMean } from '../../src/text/suggest.ts';
import { visible } from '../../src/text/visible.ts';
import { trainExperiment } from '../../train/command.ts';
import type { SeedsReport, TrainReport } from '../../train/mod.ts';
import {
  type Cell,
  expandCells,
  type PaperTable,
  paperTableSchema,
  tableRetrievers,
} from '../reproduce/paper-table.ts';
import { type FinishedCell, reproducedTable, tableMarkdown } from '../reproduce/table.ts';
import {
  cellRecord,
  dataRecord,
  environmentRecord,
  type Plan,
  planFingerprint,
  sourceRecord,
} from './reproduce-manifest.ts';
import { transferred } from './reproduce-transfer.ts';

type Options = z.infer<typeof reproduceSchema>;

const TABLES = join(packageFolder, 'configs', 'paper');
const MANIFEST = 'manifest.json';

export const reproduceCommand = defineCommand({
  name: 'reproduce',
  summary: 'Trains the cells of a table of the DocOpt paper on any data, and writes the table.',
  details: `Without NAME it lists the tables. Each cell is an ordinary training under DIR/cells/; then come table.json, table.md, and a manifest.json
that says with what all of it was made. Interrupted, the same command goes on: finished cells are not trained again.
By default the embedded edit policy and the embedded retrievers stand in for the paper's models, so the figures are not the paper's.`,
  schema: reproduceSchema,
  examples: [
    ['docopt reproduce', 'which tables there are'],
    ['docopt reproduce table7 --data DATA --out tables/7', 'negatives: random or hard, 1, 5, 10'],
    ['docopt reproduce table4 --data A --data B --out tables/4 --seeds 1,2,3', 'transfer, means over three seeds'],
    ['docopt reproduce table6 --data DATA --out tables/6 --dry-run', 'its cells; nothing is written'],
  ],
  onStop: 'it stops after the current step; the same command goes on',
  run: reproduce,
});

async function reproduce(options: Options, context: CommandContext): Promise<CommandResult> {
  const tables = await readTables();
  if (options.name === undefined) return listing(tables);
  const table = tables.find(({ name }) => name === options.name);
  if (table === undefined) {
    const names = tables.map(({ name }) => name);
    throw new DocOptError('USAGE', `there is no table '${options.name}'.${didYouMean(options.name, names)}`, {
      hint: `There are ${names.join(', ')}; docopt reproduce says what they show.`,
    });
  }
  const paths = [options.data ?? []].flat().map((path) => resolve(context.cwd, path));
  if (paths.length === 0) {
    throw new DocOptError('USAGE', 'on which data? --data is missing', {
      hint: `E.g. docopt reproduce ${table.name} --data DATA --out tables/${table.name}`,
    });
  }
  const twice = paths.find((path, i) => paths.indexOf(path) !== i);
  if (twice !== undefined) {
    throw new DocOptError('USAGE', `--data ${twice} is named twice`, { hint: 'Name each collection once.' });
  }
  const retrievers = options.retriever ?? tableRetrievers(table);
  const retrieverNames = retrievers.map((retriever) => specName('retriever', retriever));
  if (new Set(retrieverNames).size < retrieverNames.length) {
    throw new DocOptError('USAGE', `--retriever: two are called the same (${retrieverNames.join(', ')})`, {
      hint: 'Name each retriever once.',
    });
  }
  const datasets = await loadAll(paths);
  const dataNames = distinct(paths.map((path) => basename(path)));
  const cells = expandCells(table, dataNames, retrievers);
  const seeds = options.seeds ?? [options.seed];
  if (options.dryRun) return dryRun(table, cells, dataNames, seeds, options, context, paths);
  if (options.out === undefined) {
    throw new DocOptError('USAGE', 'where to? --out is missing', {
      hint: `E.g. docopt reproduce ${table.name} --data DATA --out tables/${table.name}`,
    });
  }

  const folder = resolve(context.cwd, options.out);
  const policy = options.policy ?? policySchema.parse({ driver: 'edit' });
  const plan: Plan = {
    table,
    policy,
    retrievers,
    preset: options.preset ?? null,
    steps: options.steps ?? null,
    seeds,
    data: await Promise.all(paths.map((path, i) => dataRecord(path, dataNames[i], datasets[i]))),
  };
  await refuseOther(folder, plan);
  await makeFolder(folder);
  const lock = await acquireLock(join(folder, 'lock'), `reproducing into ${folder}`);
  try {
    const began = performance.now();
    const source = {
      kind: 'reproduction',
      fingerprint: planFingerprint(plan),
      ...sourceRecord(),
      environment: environmentRecord(),
      ...plan,
    };
    await writeJson(join(folder, MANIFEST), { ...source, finished: false });
    const finished: FinishedCell<TrainReport | SeedsReport>[] = [];
    for (const [i, cell] of cells.entries()) {
      context.signal.throwIfAborted();
      context.log.info(`\n[${i + 1}/${cells.length}] ${cell.id}: ${cell.label}`);
      const report = await trainCell(cell, { folder, measure: table.measure, paths, policy, options, seeds }, context);
      finished.push({ cell, report });
    }
    const complete =
      table.layout !== 'transfer'
        ? finished
        : await transferred(
            finished,
            { folder, paths, datasets, retrievers, measure: table.measure },
            inside(folder, context),
          );
    const result = reproducedTable(table, complete, { data: dataNames, retrievers: retrieverNames, seeds });
    const markdown = tableMarkdown(result);
    await writeJson(join(folder, 'table.json'), result);
    await writeFileAtomic(join(folder, 'table.md'), [markdown]);
    await writeJson(join(folder, MANIFEST), {
      ...source,
      finished: true,
      cells: await Promise.all(
        finished.map(({ cell, report }) => cellRecord(join(folder, 'cells', cell.id), cell, report, context)),
      ),
    });
    const seconds = (performance.now() - began) / 1000;
    return { json: { folder, ...result, seconds }, text: `${visible(markdown)}\nwrote ${join(folder, 'table.md')}` };
  } finally {
    await lock.release();
  }
}

interface CellPlace {
  readonly folder: string;
  readonly measure: string;
  readonly paths: readonly string[];
  readonly policy: Options['policy'];
  readonly options: Options;
  readonly seeds: readonly number[];
}

/** What `docopt train --resume` does; a finished one is only read. */
async function trainCell(
  cell: Cell,
  { folder, measure, paths, policy, options, seeds }: CellPlace,
  context: CommandContext,
): Promise<TrainReport | SeedsReport> {
  const out = join(folder, 'cells', cell.id);
  const before = await readJsonFile<TrainReport | SeedsReport>(join(out, 'report.json'));
  if (before !== undefined) {
    context.log.info('finished before');
    return before;
  }
  const chosen = trainOptionsOf(cell, measure, paths[cell.data], policy, options, seeds);
  const { report } = await trainExperiment(trainSchema.parse({ ...chosen, out, resume: true }), {
    ...inside(folder, context),
    given: new Set([...Object.keys(chosen), 'out', 'resume']),
  });
  if (report === undefined) throw new Error('a training without a report');
  return report;
}

function trainOptionsOf(
  cell: Cell,
  measure: string,
  data: string,
  policy: Options['policy'],
  { preset, steps }: Options,
  seeds: readonly number[],
): Record<string, unknown> {
  return {
    ...cell.settings,
    data,
    retriever: cell.retriever,
    policy,
    metrics: [measure],
    ...(preset === undefined ? {} : { preset }),
    ...(steps === undefined ? {} : { steps }),
    ...(seeds.length === 1 ? { seed: seeds[0] } : { seeds }),
  };
}

/** The trainings of a table are not the user's latest ones. */
function inside(folder: string, context: CommandContext): CommandContext {
  return { ...context, projectFolder: folder, typed: [], given: new Set() };
}

async function readTables(): Promise<PaperTable[]> {
  const files = (await readdir(TABLES)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => paperTableSchema.parse(JSON.parse(await readFile(join(TABLES, file), 'utf8')))),
  );
}

function listing(tables: readonly PaperTable[]): CommandResult {
  const width = Math.max(...tables.map(({ name }) => name.length)) + 2;
  return {
    json: { tables: tables.map(({ name, table, summary, cells }) => ({ name, table, summary, rows: cells.length })) },
    text: tables.map(({ name, table, summary }) => `${name.padEnd(width)}${table}: ${summary}`).join('\n'),
  };
}

/** Every data set is read before the first training: the last one's missing judgements are told now. */
async function loadAll(paths: readonly string[]): Promise<Dataset[]> {
  const datasets: Dataset[] = [];
  for (const path of paths) datasets.push(await loadDataset(path, { judged: true }));
  return datasets;
}

/** Folder names are the names of the data; equal ones are numbered. */
function distinct(names: readonly string[]): string[] {
  return names.map((name, i) => {
    const before = names.slice(0, i).filter((other) => other === name).length;
    return before === 0 ? name : `${name} (${before + 1})`;
  });
}

async function dryRun(
  table: PaperTable,
  cells: readonly Cell[],
  dataNames: readonly string[],
  seeds: readonly number[],
  options: Options,
  context: CommandContext,
  paths: readonly string[],
): Promise<CommandResult> {
  const policy = options.policy ?? policySchema.parse({ driver: 'edit' });
  const estimates = [];
  for (const cell of cells) {
    const chosen = trainOptionsOf(cell, table.measure, paths[cell.data], policy, options, seeds);
    const { json } = await trainExperiment(trainSchema.parse({ ...chosen, out: cell.id, dryRun: true }), {
      ...context,
      given: new Set([...Object.keys(chosen), 'out', 'dryRun']),
    });
    estimates.push({
      cell: cell.id,
      label: cell.label,
      data: dataNames[cell.data],
      settings: cell.settings,
      estimate: json,
    });
  }
  const lines = estimates.map(({ cell, label, estimate }) => {
    const { costUsd, steps } = estimate as { costUsd: number | null; steps?: number };
    return `${cell}: ${label}${steps === undefined ? '' : `, ${steps} steps`}, ${costUsd === null ? 'cost unknown' : `up to $${costUsd.toFixed(2)}`}`;
  });
  return {
    json: { dryRun: true, name: table.name, table: table.table, seeds, cells: estimates },
    text: visible(
      [`${table.table}: ${cells.length} trainings of ${seeds.length} seed(s)`, ...lines, 'nothing was written'].join(
        '\n',
      ),
    ),
  };
}

/** DIR must be new, empty, or hold this very reproduction. */
async function refuseOther(folder: string, plan: Plan): Promise<void> {
  if (!existsSync(folder)) return;
  if (!(await stat(folder)).isDirectory()) {
    throw new DocOptError('USAGE', `${folder} is a file, a folder is wanted there`, { hint: 'Choose another --out.' });
  }
  const saved = await readJsonFile<{ kind?: string; fingerprint?: string }>(join(folder, MANIFEST));
  if (saved?.kind === 'reproduction') {
    if (saved.fingerprint === planFingerprint(plan)) return;
    throw new DocOptError(
      'USAGE',
      `${folder} holds a reproduction of something else: another table, data (or its content), policy, retriever, steps or seeds`,
      { hint: `Choose another --out; ${join(folder, MANIFEST)} says what was begun there.` },
    );
  }
  if ((await readdir(folder)).every((name) => name === 'lock')) return;
  throw new DocOptError('USAGE', `${folder} is not empty and holds no reproduction`, { hint: 'Choose another --out.' });
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFileAtomic(path, [`${JSON.stringify(value, null, 2)}\n`]);
}
