import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DocOptError } from '../errors.ts';
import type { Qrels, Query } from '../types.ts';
import { isWritable, syncFolder, temporaryName, writeDurably } from './atomic.ts';
import { expectFile, statOrUndefined } from './bytes.ts';
import { scanTextLines } from './lines.ts';
import type { Dataset } from './load-dataset.ts';
import { dataError, problemError, strictReport } from './problem.ts';
import {
  hasPositive,
  judgedQueryIds,
  type QuerySplit,
  type SplitOptions,
  splitDevOff,
  splitQueries,
} from './splits.ts';

/** Query ids of each part (ascending), and where the division comes from. */
export interface Splits extends QuerySplit {
  /** For people: which files, or which seed. */
  readonly source: string;
  readonly kind: 'qrels' | 'saved' | 'seeded';
  /** What the caller should pass on: an empty part, settings that were not followed. */
  readonly warnings: readonly string[];
}

const PARTS = ['train', 'dev', 'test'] as const;
const DEFAULTS = { train: 0.2, dev: 0.25, seed: 1, by: 'query' } as const;

/**
 * The division that every run and every baseline uses, in this order: qrels files per split (a lone file is not one);
 * files of query ids saved earlier, beside the data or in `folder`; a new seeded split, saved beside the data, or in
 * `folder` when the data is read-only (in memory only when neither can be written). `dev: 0` gives saved and seeded dev
 * queries back to train. Throws DATA when no query has a positive judgement.
 */
export async function resolveSplits(dataset: Dataset, options: SplitOptions = {}, folder?: string): Promise<Splits> {
  checkShares(options);
  const given = splitFromQrels(dataset, options);
  if (given !== undefined) return given;
  for (const place of await placesOf(dataset, folder)) {
    const saved = await readSplits(join(place, 'splits'), dataset, options);
    if (saved !== undefined) return saved;
  }
  return createSplits(dataset, options, folder, false);
}

/** Like resolveSplits, but a saved seeded split is replaced by a new one. */
export async function makeSplits(dataset: Dataset, options: SplitOptions = {}, folder?: string): Promise<Splits> {
  checkShares(options);
  return splitFromQrels(dataset, options) ?? createSplits(dataset, options, folder, true);
}

async function createSplits(
  dataset: Dataset,
  options: SplitOptions,
  folder: string | undefined,
  replace: boolean,
): Promise<Splits> {
  requireJudged(dataset);
  const settings = { ...DEFAULTS, ...definedOnly(options) };
  const parts = splitQueries(dataset.queries, dataset.qrels, settings);
  const { train, dev, seed, by } = settings;
  const made = `seed ${seed}, by ${by}, ${percent(train)} train of which ${percent(dev)} dev`;
  let where = 'not saved: nowhere to write';
  for (const place of await placesOf(dataset, folder)) {
    if (place === folder) await mkdir(folder, { recursive: true });
    if (!(await isWritable(place))) continue;
    where = join(place, 'splits');
    const ours = await saveSplits(where, parts, settings, replace);
    if (!ours) return (await readSplits(where, dataset, options))!;
    break;
  }
  return { ...parts, kind: 'seeded', source: `${made} (${where})`, warnings: emptyParts(parts, settings) };
}

/** Query ids of a file, one a line. Throws DATA for ids that the data set does not have. */
export async function readQueryIds(file: string, queries: readonly Query[]): Promise<string[]> {
  await expectFile(file, 'a file of query ids, one a line');
  const known = new Set(queries.map(({ id }) => id));
  const seen = new Set<string>();
  await scanTextLines(file, strictReport(), (text, line) => {
    const id = text.trim();
    const fault = !known.has(id)
      ? `unknown query id '${id}'`
      : seen.has(id)
        ? `query id '${id}' for the second time`
        : undefined;
    if (fault !== undefined) {
      throw problemError({
        severity: 'error',
        file,
        line,
        id,
        message: fault,
        hint: 'When the queries changed, make a new split: docopt dataset split DATA',
      });
    }
    seen.add(id);
  });
  return [...seen];
}

function splitFromQrels(dataset: Dataset, options: SplitOptions): Splits | undefined {
  const files = dataset.qrelsBySplit;
  const present = PARTS.filter((part) => files[part] !== undefined);
  if (present.length < 2) return undefined;
  requireJudged(dataset);
  const of = (qrels: Qrels | undefined): string[] =>
    qrels === undefined ? [] : judgedQueryIds(dataset.queries, qrels);
  let parts: QuerySplit = { train: of(files.train), dev: of(files.dev), test: of(files.test) };
  checkDisjoint(parts, `${dataset.path}: the qrels files`);
  let source = `qrels/{${present.join(',')}}.tsv`;
  if (options.dev === 0) parts = { ...parts, dev: [] };
  else if (files.dev === undefined) {
    parts = { ...parts, ...splitDevOff(parts.train, dataset.queries, options) };
    source += `, dev: ${percent(options.dev ?? DEFAULTS.dev)} of train, seed ${options.seed ?? DEFAULTS.seed}`;
  }
  return { ...parts, kind: 'qrels', source, warnings: emptyParts(parts, options) };
}

async function readSplits(folder: string, dataset: Dataset, options: SplitOptions): Promise<Splits | undefined> {
  const files = { train: join(folder, 'train.txt'), dev: join(folder, 'dev.txt'), test: join(folder, 'test.txt') };
  const has = {
    train: await statOrUndefined(files.train),
    dev: await statOrUndefined(files.dev),
    test: await statOrUndefined(files.test),
  };
  if (!has.train && !has.dev && !has.test) return undefined;
  const train = await readQueryIds(files.train, dataset.queries);
  const test = await readQueryIds(files.test, dataset.queries);
  const dev = has.dev ? await readQueryIds(files.dev, dataset.queries) : [];
  let parts: QuerySplit = { train, dev, test };
  checkDisjoint(parts, folder);
  const warnings = await differingSettings(folder, options);
  const unsplit =
    judgedQueryIds(dataset.queries, dataset.qrels).length -
    [...train, ...dev, ...test].filter((id) => hasPositive(dataset.qrels, id)).length;
  if (unsplit > 0)
    warnings.push(`${unsplit} judged queries are in no part of ${folder}; for a new split: docopt dataset split DATA`);
  if (options.dev === 0) parts = { train: [...train, ...dev].sort(), dev: [], test };
  else if (!has.dev) parts = { test, ...splitDevOff(train, dataset.queries, options) };
  return { ...parts, kind: 'saved', source: folder, warnings: [...warnings, ...emptyParts(parts, options)] };
}

async function differingSettings(folder: string, options: SplitOptions): Promise<string[]> {
  let saved: Record<string, unknown>;
  try {
    saved = JSON.parse(await readFile(join(folder, 'split.json'), 'utf8'));
  } catch {
    return []; // A split made by hand says nothing of settings.
  }
  const differing = (['train', 'dev', 'seed', 'by'] as const).filter(
    (key) => options[key] !== undefined && options[key] !== saved[key] && !(key === 'dev' && options.dev === 0),
  );
  if (differing.length === 0) return [];
  const asked = differing.map((key) => `${key} ${options[key]} (saved: ${saved[key]})`).join(', ');
  return [`the split saved in ${folder} is used, not ${asked}; for a new one: docopt dataset split DATA`];
}

/**
 * All files at once: a folder written aside and renamed, so that a killed run leaves no half split. Without `replace` a
 * split that another run saved meanwhile stays, and the answer is false.
 */
async function saveSplits(
  folder: string,
  parts: QuerySplit,
  settings: Required<SplitOptions>,
  replace: boolean,
): Promise<boolean> {
  const temporary = temporaryName(folder);
  const old = temporaryName(folder);
  try {
    await mkdir(temporary);
    for (const part of PARTS)
      await writeDurably(
        join(temporary, `${part}.txt`),
        parts[part].map((id) => `${id}\n`),
      );
    await writeDurably(join(temporary, 'split.json'), [`${JSON.stringify(settings, null, 2)}\n`]);
    if (replace && (await statOrUndefined(folder))) await rename(folder, old);
    await rename(temporary, folder);
  } catch (error) {
    if (!replace && (await statOrUndefined(folder))) return false;
    throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
  await syncFolder(dirname(folder));
  return true;
}

async function placesOf(dataset: Dataset, folder?: string): Promise<string[]> {
  const beside = (await statOrUndefined(dataset.path))?.isDirectory() ? [dataset.path] : [];
  return folder === undefined ? beside : [...beside, folder];
}

function requireJudged({ path, queries, qrels }: Dataset): void {
  if (judgedQueryIds(queries, qrels).length > 0) return;
  throw dataError(
    path,
    'no query has a positive judgement, so there is nothing to split',
    'Check that the ids in qrels/ and queries.jsonl are the same: docopt validate DATA',
  );
}

function checkShares({ train, dev }: SplitOptions): void {
  for (const [name, share] of [
    ['train', train],
    ['dev', dev],
  ] as const) {
    if (share === undefined || (share >= 0 && share <= 1)) continue;
    throw new DocOptError('USAGE', `--${name} ${share}: expected a share between 0 and 1`, {
      hint: 'E.g. --train 0.2 --dev 0.25.',
    });
  }
}

function checkDisjoint(parts: QuerySplit, where: string): void {
  const seen = new Map<string, string>();
  for (const part of PARTS) {
    for (const id of parts[part]) {
      const other = seen.get(id);
      if (other !== undefined)
        throw new DocOptError('DATA', `${where}: query '${id}' is in ${other} and in ${part}`, {
          hint: 'A query may be in one part only; results would be too good otherwise.',
        });
      seen.set(id, part);
    }
  }
}

function emptyParts(parts: QuerySplit, options: SplitOptions): string[] {
  const warnings: string[] = [];
  if (parts.train.length === 0) warnings.push('no training queries: nothing can be learned from this split');
  if (parts.dev.length === 0 && options.dev !== 0) warnings.push('no dev queries: the last checkpoint will be taken');
  if (parts.test.length === 0) warnings.push('no test queries: nothing is left to measure on');
  return warnings;
}

function definedOnly(options: SplitOptions): SplitOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}
