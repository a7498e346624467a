/** Gathers what an experiment folder holds into a ReportModel. Whatever is missing is said, never guessed. */
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { wordDiff } from '../../rewrite/mod.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { describeSpec } from '../../src/config/spec-names.ts';
import { corpusWithOriginals, type Dataset, loadDataset, loadRun, resolveSplits } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { evaluate, parseMeasure } from '../../src/metrics/mod.ts';
import { usdText } from '../../src/run/wire/mod.ts';
import { readJsonFile } from '../../src/store/experiment.ts';
import { readManifest } from '../../src/store/manifest.ts';
import type { Manifest, Run } from '../../src/types.ts';
import type { ExperimentConfig, SeedsReport, TrainReport } from '../../train/mod.ts';
import { documentChanges, type Evidence, queryDeltas } from '../report/changes.ts';
import { curves, type MetricsRow } from '../report/curves.ts';
import { lengthStatistics } from '../report/lengths.ts';
import { duration } from '../report/numbers.ts';
import { type ReportModel, SYSTEM_NAMES, SYSTEMS, type SystemRow } from '../report/types.ts';
import { verdictOf } from '../report/verdict.ts';
import { manifestChain } from './report-chain.ts';
import { embeddingMaps } from './report-map.ts';

export interface ReportOptions {
  readonly data?: string;
  readonly documents: number;
  readonly map: 'auto' | 'lsa' | 'none';
  readonly mapPoints: number;
}

type AnyReport = TrainReport | SeedsReport;

/** Throws ARTEFACT when the folder holds no training. */
export async function gatherReport(
  folder: string,
  options: ReportOptions,
  context: CommandContext,
): Promise<ReportModel> {
  const config = await configOf(folder);
  const report = await readJsonFile<AnyReport>(join(folder, 'report.json'));
  const missing: string[] = [];
  // Several seeds: figures are of all of them, what is looked at in detail is the run whose policy is used.
  const chosen = report === undefined ? await unfinishedRun(folder) : runFolder(folder, report);
  const rows = await readRows(join(chosen, 'metrics.jsonl'), missing);
  const checkpoint = await chosenCheckpoint(chosen, report, missing);
  const dataset = await readData(options.data ?? config.data, config, missing);
  const metric = report === undefined ? null : (Object.keys(report.metrics)[0] ?? null);
  const evidence =
    dataset === undefined || report === undefined || metric === null
      ? undefined
      : await readEvidence({ chosen, config, dataset, metric, report, missing });
  const texts = dataset === undefined ? undefined : await readTexts(chosen, checkpoint, dataset, missing);
  const differences = report?.comparisons ?? [];
  const changes =
    evidence === undefined || texts === undefined
      ? { helped: [], harmed: [] }
      : documentChanges({ ...evidence, ...texts, corpus: dataset!.corpus, most: options.documents, diff: wordDiff });
  const mapped =
    dataset === undefined || texts === undefined || options.map === 'none'
      ? { maps: [], note: '' }
      : await embeddingMaps({ config, dataset, trained: texts.trained, options, context, missing });
  const name = basename(resolve(folder));
  return {
    title: name,
    finished: report !== undefined,
    verdict:
      report === undefined
        ? { tone: 'open', text: unfinishedText(rows, config) }
        : verdictOf(differences, report.metrics[metric ?? '']),
    facts: facts(config, report, chosen, folder),
    notes: [...(report?.notes ?? []), ...alarms(report)],
    missing,
    metrics: report === undefined ? [] : Object.keys(report.metrics),
    systems: report === undefined ? [] : SYSTEMS.map((system) => systemRow(system, report)),
    baselines: report === undefined ? [] : Object.entries(report.baselines ?? {}).map(baselineRow),
    differences,
    charts: curves(rows, report !== undefined && 'curve' in report ? report : undefined),
    queryMetric: metric,
    queries: evidence === undefined ? [] : queryDeltas(evidence),
    ...changes,
    lengths:
      dataset === undefined || texts === undefined
        ? null
        : lengthStatistics([
            { name: 'original texts', texts: texts.original },
            ...(texts.zeroShot === undefined ? [] : [{ name: 'zero-shot rewrites', texts: texts.zeroShot }]),
            { name: report === undefined ? 'rewrites so far' : 'trained rewrites', texts: texts.trained },
          ]),
    maps: mapped.maps,
    mapNote: mapped.note,
    costs: costs(report, rows),
    chain: await manifestChain(folder, checkpoint, context.projectFolder),
  };
}

async function configOf(folder: string): Promise<ExperimentConfig> {
  const isFolder = existsSync(folder) && (await stat(folder)).isDirectory();
  const config = isFolder ? await readJsonFile<ExperimentConfig>(join(folder, 'config.json')) : undefined;
  if (config?.retriever !== undefined && config.options !== undefined) return config;
  const inside = isFolder ? await experimentsIn(folder) : [];
  throw new DocOptError(
    'ARTEFACT',
    `'${folder}' holds no training: ${isFolder ? 'config.json is not one' : 'there is no such folder'}`,
    {
      hint:
        inside.length === 0
          ? 'docopt experiments list shows those there are; docopt train makes one.'
          : `It holds several; name one: ${inside.slice(0, 5).join(', ')}.`,
    },
  );
}

async function experimentsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).sort();
  return names.map((name) => join(folder, name)).filter((path) => existsSync(join(path, 'config.json')));
}

function runFolder(folder: string, report: AnyReport): string {
  const seed = /^(seed-\d+)\//.exec(report.checkpoint.path);
  return seed === null ? folder : join(folder, seed[1]);
}

/** The last begun of several seeds. */
async function unfinishedRun(folder: string): Promise<string> {
  if (existsSync(join(folder, 'metrics.jsonl'))) return folder;
  const seeds = (await experimentsIn(folder)).filter((path) => /seed-\d+$/.test(path));
  return seeds.at(-1) ?? folder;
}

/** Rows of a JSONL file of ours; a last line that was cut off is left out. */
async function readRows(path: string, missing: string[]): Promise<MetricsRow[]> {
  if (!existsSync(path)) {
    missing.push('Learning curves: metrics.jsonl is not there.');
    return [];
  }
  const rows: MetricsRow[] = [];
  let damaged = 0;
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    if (line === '') continue;
    try {
      rows.push(JSON.parse(line) as MetricsRow);
    } catch {
      damaged++;
    }
  }
  if (damaged > 0)
    missing.push(`Learning curves: ${damaged} unreadable ${damaged === 1 ? 'row' : 'rows'} of metrics.jsonl.`);
  return rows;
}

interface Checkpoint {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The one that the report names; of an unfinished training the newest. */
async function chosenCheckpoint(
  chosen: string,
  report: AnyReport | undefined,
  missing: string[],
): Promise<Checkpoint | undefined> {
  const all = join(chosen, 'checkpoints');
  const names = existsSync(all) ? (await readdir(all)).filter((name) => /^step-\d+$/.test(name)).sort() : [];
  const wanted = report === undefined ? names.at(-1) : basename(report.checkpoint.path);
  if (wanted === undefined || !names.includes(wanted)) {
    missing.push('Rewrites, lengths and the map: the checkpoint that holds the texts is not there.');
    return undefined;
  }
  const folder = join(all, wanted);
  return { folder, manifest: await readManifest(folder, 'checkpoint') };
}

async function readData(path: string, config: ExperimentConfig, missing: string[]): Promise<Dataset | undefined> {
  try {
    const loaded = await loadDataset(path, { documentText: config.documentText, judged: true });
    return { ...loaded, corpus: corpusWithOriginals(loaded.corpus, config.documentText) };
  } catch (error) {
    if (!(error instanceof DocOptError)) throw error;
    missing.push(
      `Queries, documents, lengths and the map: the data cannot be read (${error.message}). --data DATA names where it is now.`,
    );
    return undefined;
  }
}

interface EvidenceSources {
  readonly chosen: string;
  readonly config: ExperimentConfig;
  readonly dataset: Dataset;
  readonly metric: string;
  readonly report: AnyReport;
  readonly missing: string[];
}

async function readEvidence(sources: EvidenceSources): Promise<Evidence | undefined> {
  const { chosen, config, dataset, metric, report, missing } = sources;
  const runs: Partial<Record<(typeof SYSTEMS)[number], Run>> = {};
  for (const system of SYSTEMS) {
    const path = join(chosen, 'runs', `${system}.trec`);
    if (!existsSync(path)) {
      missing.push(`Query by query: runs/${system}.trec is not there.`);
      return undefined;
    }
    runs[system] = await loadRun(path);
  }
  const { test } = await resolveSplits(dataset, config.split, chosen);
  const known = new Set(dataset.queries.map(({ id }) => id));
  if (test.length !== report.splits.test || test.some((id) => !known.has(id))) {
    missing.push(
      `Query by query: the data has ${test.length} test queries where the training had ${report.splits.test}; it changed since.`,
    );
    return undefined;
  }
  const measure = parseMeasure(metric);
  const perQuery = (run: Run): Readonly<Record<string, number>> =>
    evaluate(run, dataset.qrels, [measure], { queries: test }).perQuery[measure.name];
  const texts = new Map(dataset.queries.map(({ id, text }) => [id, text]));
  return {
    test,
    texts,
    qrels: dataset.qrels,
    runs: runs as Evidence['runs'],
    perQuery: {
      original: perQuery(runs.original!),
      zeroShot: perQuery(runs.zeroShot!),
      trained: perQuery(runs.trained!),
    },
  };
}

interface Texts {
  readonly original: readonly string[];
  readonly zeroShot?: readonly string[];
  readonly trained: readonly string[];
}

async function readTexts(
  chosen: string,
  checkpoint: Checkpoint | undefined,
  { corpus }: Dataset,
  missing: string[],
): Promise<Texts | undefined> {
  if (checkpoint === undefined) return undefined;
  const original = corpus.ids.map((_, position) => corpus.indexText(position));
  const trained = await readTextRows(join(checkpoint.folder, 'texts.jsonl'), corpus.ids);
  if (trained === undefined) {
    missing.push('Rewrites, lengths and the map: the saved texts are not of these documents; the data changed since.');
    return undefined;
  }
  return { original, trained, zeroShot: await readTextRows(join(chosen, 'zero-shot.jsonl'), corpus.ids) };
}

/** undefined where the file is missing or of other documents. */
async function readTextRows(path: string, ids: readonly string[]): Promise<string[] | undefined> {
  if (!existsSync(path)) return undefined;
  const lines = (await readFile(path, 'utf8')).split('\n');
  if (lines.pop() !== '' || lines.length !== ids.length) return undefined;
  const texts: string[] = [];
  for (const [i, line] of lines.entries()) {
    const row = JSON.parse(line) as { _id: string; text: string };
    if (row._id !== ids[i]) return undefined;
    texts.push(row.text);
  }
  return texts;
}

function unfinishedText(rows: readonly MetricsRow[], { options }: ExperimentConfig): string {
  const step = rows.at(-1)?.step ?? 0;
  return `Not finished: ${step} of ${options.steps} steps are done, and the test queries were not looked at yet. Go on with docopt train --resume.`;
}

function facts(
  config: ExperimentConfig,
  report: AnyReport | undefined,
  chosen: string,
  folder: string,
): [string, string][] {
  const seeds = report !== undefined && 'seeds' in report ? report.seeds : undefined;
  return [
    ['Data', basename(config.data)],
    ['Retriever', report?.descriptions?.retriever ?? describeSpec('retriever', config.retriever)],
    ['Policy', report?.descriptions?.policy ?? describeSpec('policy', config.policy)],
    [
      'Reward',
      `${config.options.reward}, nDCG@${config.options.rewardK}; negatives: ${config.options.negatives} (${config.options.negativesPerDocument})`,
    ],
    ['Steps', String(config.options.steps)],
    seeds === undefined
      ? ['Seed', String(config.options.seed)]
      : ['Seeds', `${seeds.join(', ')}; details below are of ${basename(chosen)}, whose policy is used`],
    ...(report === undefined
      ? []
      : ([
          ['Queries', `${report.splits.train} train, ${report.splits.dev} dev, ${report.splits.test} test`],
          ['Checkpoint', `step ${report.checkpoint.step}, chosen by ${report.checkpoint.chosenBy}`],
        ] as [string, string][])),
    ['Folder', basename(resolve(folder))],
  ];
}

function alarms(report: AnyReport | undefined): string[] {
  const own = report === undefined || !('collapseAlarms' in report) ? [] : report.collapseAlarms;
  const noDev =
    report !== undefined && report.splits.dev === 0
      ? ['There were no dev queries: the last checkpoint was taken, unchosen.']
      : [];
  return [
    ...noDev,
    ...(own.length === 0 ? [] : [`Training nDCG fell below that of the original texts at step ${own.join(', ')}.`]),
  ];
}

function systemRow(system: (typeof SYSTEMS)[number], report: AnyReport): SystemRow {
  const pick = (figures: TrainReport['metrics']): Record<string, number | null> =>
    Object.fromEntries(Object.entries(figures).map(([metric, own]) => [metric, own[system]]));
  return {
    name: SYSTEM_NAMES[system],
    metrics: pick(report.metrics),
    ...('deviations' in report ? { deviations: pick(report.deviations) } : {}),
  };
}

function baselineRow([name, { note, ...metrics }]: [
  string,
  Readonly<Record<string, number | string | null>>,
]): SystemRow {
  return {
    name,
    metrics: metrics as Record<string, number | null>,
    ...(typeof note === 'string' ? { note } : {}),
  };
}

function costs(report: AnyReport | undefined, rows: readonly MetricsRow[]): [string, string][] {
  const seconds = report?.seconds ?? rows.reduce((sum, { step_time: own }) => sum + (own ?? 0), 0);
  const environment = Object.entries(report?.environment ?? {}).filter(([, value]) => value !== null);
  return [
    ['Time', duration(seconds)],
    ...Object.entries(report?.cost ?? {}).map(([name, value]): [string, string] =>
      name === 'usd' ? ['Cost', usdText(value)] : [name, String(value)],
    ),
    ['Tokens of all rewrites', (rows.at(-1)?.num_tokens ?? 0).toLocaleString('en')],
    ...environment.map(([name, value]): [string, string] => [name, String(value)]),
  ];
}
