/** `docopt experiments list|show|compare|rm`: the trainings of a project. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import {
  experimentsCompareSchema,
  experimentsListSchema,
  experimentsRemoveSchema,
  experimentsShowSchema,
} from '../../src/config/schemas/mod.ts';
import { specName } from '../../src/config/spec-names.ts';
import { loadDataset, loadRun, resolveSplits } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { compareSystems, type EvaluatedSystem, evaluate, parseMeasures } from '../../src/metrics/mod.ts';
import { readJsonFile } from '../../src/store/experiment.ts';
import { isLocked } from '../../src/store/lock.ts';
import { kindFolder, latest } from '../../src/store/workspace.ts';
import { visible } from '../../src/text/visible.ts';
import type { ExperimentConfig, SeedsReport, TrainReport } from '../../train/mod.ts';
import { duration, figure, probability, signed } from '../report/numbers.ts';

interface Summary {
  readonly experiment: string;
  readonly data: string;
  readonly retriever: string;
  readonly policy: string;
  readonly steps: number;
  /** Updates so far; equal to `steps` when finished. */
  readonly done: number;
  readonly finished: boolean;
  readonly metric: string | null;
  readonly original: number | null;
  readonly trained: number | null;
  readonly seconds: number | null;
}

export const experimentsListCommand = defineCommand({
  name: 'experiments list',
  summary: 'Lists trainings: what they were trained for, how far they got, what they gained.',
  schema: experimentsListSchema,
  examples: [
    ['docopt experiments list', 'those of this project'],
    ['docopt experiments list experiments/', 'those of a folder'],
    ['docopt experiments list --json', 'for scripts'],
  ],
  async run({ folder }, context) {
    const found: Summary[] = [];
    for (const path of await experimentFolders(folder, context)) {
      try {
        found.push(await summaryOf(path));
      } catch (error) {
        if (!(error instanceof DocOptError)) throw error;
        context.log.warn(`${path} is left out: ${error.message}`);
      }
    }
    const text = found.length === 0 ? 'no training found; docopt train makes one' : listText(found, context.cwd);
    return { json: { experiments: found }, text };
  },
});

export const experimentsShowCommand = defineCommand({
  name: 'experiments show',
  summary: 'One training: its settings, how far it got, its figures. docopt report draws it.',
  schema: experimentsShowSchema,
  examples: [
    ['docopt experiments show experiments/a', 'settings and figures'],
    ['docopt experiments show experiments/a --json', 'with its config.json and report.json'],
    ['docopt report experiments/a', 'all of it, on a page'],
  ],
  async run({ experiment }, context) {
    const folder = required(
      experiment ?? latest(context.projectFolder, 'experiment'),
      'docopt experiments show EXPERIMENT',
    );
    const summary = await summaryOf(folder);
    const { config, report } = await read(folder);
    const lines = Object.entries(summary).map(([key, value]) => `${key.padEnd(12)}${value ?? 'n/a'}`);
    return { json: { ...summary, config, report: report ?? null }, text: visible(lines.join('\n')) };
  },
});

export const experimentsCompareCommand = defineCommand({
  name: 'experiments compare',
  summary: 'Two trainings on the same test queries: their trained rewrites against each other, with intervals.',
  details:
    'Both must have been trained on the same data with the same test queries; their saved runs are evaluated side by side.',
  schema: experimentsCompareSchema,
  examples: [
    ['docopt experiments compare experiments/a experiments/b', 'b against a'],
    ['docopt experiments compare a b --json', 'for scripts'],
    ['docopt experiments list', 'which there are'],
  ],
  async run(options) {
    const usage = 'docopt experiments compare A B';
    const [a, b] = [required(options.experiment, usage), required(options.with, usage)];
    const [first, second] = [await readTest(a), await readTest(b)];
    if (first.test.join('\n') !== second.test.join('\n')) {
      throw new DocOptError(
        'USAGE',
        `${a} and ${b} were not measured on the same test queries (${first.test.length} and ${second.test.length})`,
        {
          hint: 'Train both on one data set with one split: docopt dataset split DATA.',
        },
      );
    }
    const shared = first.metrics.filter((metric) => second.metrics.includes(metric));
    const measures = parseMeasures(shared);
    const evaluated = (name: string, { run, qrels, test }: Tested): EvaluatedSystem => ({
      name,
      ...evaluate(run, qrels, measures, { queries: test }),
    });
    const comparisons = compareSystems([[evaluated(a, first), evaluated(b, second)]], measures);
    const lines = comparisons.map(
      ({ metric, delta, interval, adjustedP, wins, ties, losses }) =>
        `${metric.padEnd(10)}${signed(delta)} [${signed(interval[0])}, ${signed(interval[1])}], p ${probability(adjustedP)}, ${wins} won, ${ties} tied, ${losses} lost`,
    );
    return {
      json: { a, b, comparisons },
      text: [`${b} against ${a}, ${first.test.length} test queries`, ...lines].join('\n'),
    };
  },
});

export const experimentsRemoveCommand = defineCommand({
  name: 'experiments rm',
  summary: 'Removes a training: its folder with checkpoints, runs and sampled rewrites.',
  details:
    'Without --yes it only says what would go. Nothing but a folder that docopt train made is removed, and none that is being written.',
  schema: experimentsRemoveSchema,
  examples: [
    ['docopt experiments rm experiments/a', 'what would go'],
    ['docopt experiments rm experiments/a --yes', 'remove it'],
    ['docopt experiments list', 'which there are'],
  ],
  async run({ experiment, yes }) {
    const folder = required(experiment, 'docopt experiments rm EXPERIMENT');
    await read(folder);
    if (existsSync(join(folder, 'lock')) && (await isLocked(join(folder, 'lock')))) {
      throw new DocOptError('ENVIRONMENT', `'${folder}' is being written by a training`, { hint: 'Stop it first.' });
    }
    const foreign = (await readdir(folder)).filter((name) => !OWN.test(name));
    if (foreign.length > 0) {
      throw new DocOptError(
        'USAGE',
        `'${folder}' holds something that is not ours: ${foreign.slice(0, 3).join(', ')}`,
        {
          hint: 'Move it elsewhere, or remove the folder by hand.',
        },
      );
    }
    const { files, bytes } = await sizeOf(folder);
    const size = `${files} files, ${(bytes / 1e6).toFixed(1)} MB`;
    if (yes) await rm(folder, { recursive: true });
    return {
      json: { experiment: folder, removed: yes, files, bytes },
      text: yes ? `removed ${folder}: ${size}` : `would remove ${folder}: ${size}. --yes does it.`,
    };
  },
});

/** What a training folder may hold. */
const OWN =
  /^(config\.json|metrics\.jsonl|completions\.jsonl|zero-shot\.jsonl|report\.(json|html|md|tex)|checkpoints|runs|splits|lock|seed-\d+|memory.*|experience.*)$/;

async function experimentFolders(folder: string | undefined, { projectFolder }: CommandContext): Promise<string[]> {
  const root = folder ?? kindFolder(projectFolder, 'experiment');
  if (folder !== undefined && !(existsSync(root) && (await stat(root)).isDirectory())) {
    throw new DocOptError('USAGE', `'${root}' is no folder`, { hint: 'docopt experiments list DIR' });
  }
  const candidates = existsSync(root) ? [root, ...(await readdir(root)).sort().map((name) => join(root, name))] : [];
  const newest = folder === undefined ? latest(projectFolder, 'experiment') : undefined;
  if (newest !== undefined && !candidates.some((path) => resolve(path) === resolve(newest))) candidates.push(newest);
  return candidates.filter((path) => existsSync(join(path, 'config.json')));
}

async function read(folder: string): Promise<{ config: ExperimentConfig; report?: TrainReport | SeedsReport }> {
  const config = await readJsonFile<ExperimentConfig>(join(folder, 'config.json'));
  if (config?.options === undefined || config.retriever === undefined) {
    throw new DocOptError('ARTEFACT', `'${folder}' holds no training`, {
      hint: 'docopt experiments list shows those there are.',
    });
  }
  return { config, report: await readJsonFile<TrainReport | SeedsReport>(join(folder, 'report.json')) };
}

async function summaryOf(folder: string): Promise<Summary> {
  const { config, report } = await read(folder);
  const metric = report === undefined ? null : (Object.keys(report.metrics)[0] ?? null);
  return {
    experiment: folder,
    data: basename(config.data),
    retriever: report?.retriever ?? specName('retriever', config.retriever),
    policy: report?.policy ?? specName('policy', config.policy),
    steps: config.options.steps,
    done: report === undefined ? await stepsDone(folder) : config.options.steps,
    finished: report !== undefined,
    metric,
    original: metric === null ? null : (report?.metrics[metric].original ?? null),
    trained: metric === null ? null : (report?.metrics[metric].trained ?? null),
    seconds: report?.seconds ?? null,
  };
}

async function stepsDone(folder: string): Promise<number> {
  const path = join(folder, 'metrics.jsonl');
  if (!existsSync(path)) return 0;
  return (await readFile(path, 'utf8')).split('\n').length - 1;
}

function listText(found: readonly Summary[], cwd: string): string {
  const rows = [
    ['experiment', 'data', 'retriever', 'policy', 'steps', 'original', 'trained', 'measure', 'time'],
    ...found.map((one) => [
      relative(cwd, resolve(cwd, one.experiment)) || '.',
      one.data,
      one.retriever,
      one.policy,
      one.finished ? String(one.steps) : `${one.done} of ${one.steps}, unfinished`,
      figure(one.original),
      figure(one.trained),
      one.metric ?? '',
      one.seconds === null ? '' : duration(one.seconds),
    ]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return visible(
    rows
      .map((row) =>
        row
          .map((cell, i) => cell.padEnd(widths[i]))
          .join('  ')
          .trimEnd(),
      )
      .join('\n'),
  );
}

interface Tested {
  readonly test: readonly string[];
  readonly qrels: Awaited<ReturnType<typeof loadDataset>>['qrels'];
  readonly run: Awaited<ReturnType<typeof loadRun>>;
  readonly metrics: readonly string[];
}

async function readTest(folder: string): Promise<Tested> {
  const { config, report } = await read(folder);
  if (report === undefined) {
    throw new DocOptError('ARTEFACT', `the training in '${folder}' is not finished`, {
      hint: `Finish it with: docopt train --out ${folder} --resume`,
    });
  }
  const seed = /^seed-\d+/.exec(report.checkpoint.path)?.[0] ?? '';
  const chosen = join(folder, seed);
  const dataset = await loadDataset(config.data, { documentText: config.documentText, judged: true });
  const { test } = await resolveSplits(dataset, config.split, chosen);
  const run = await loadRun(join(chosen, 'runs', 'trained.trec'));
  return { test, qrels: dataset.qrels, run, metrics: Object.keys(report.metrics) };
}

async function sizeOf(folder: string): Promise<{ files: number; bytes: number }> {
  let files = 0;
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    files++;
    bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return { files, bytes };
}

function required(value: string | undefined, example: string): string {
  if (value !== undefined) return value;
  throw new DocOptError('USAGE', 'which training? None is named', { hint: `Example: ${example}` });
}
