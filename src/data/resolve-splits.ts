import { join } from 'node:path';
import { DocOptError } from '../errors.ts';
import { compareIds } from '../kernels/compare.ts';
import type { Qrels } from '../types.ts';
import { isWritable } from './atomic.ts';
import { statOrUndefined } from './bytes.ts';
import type { Topics } from './load-dataset.ts';
import { makeFolder } from './make-folder.ts';
import { dataError } from './problem.ts';
import { checkDisjoint, PARTS, readSplit, type SavedSplit, saveSplit } from './split-files.ts';
import { judgedQueryIds, type QuerySplit, type SplitOptions, splitDevOff, splitQueries } from './splits.ts';

/** Query ids of each part (ascending), and where the division comes from. */
export interface Splits extends QuerySplit {
  readonly kind: 'qrels' | 'saved' | 'seeded';
  /** For people: which files, or which seed. */
  readonly source: string;
  /** Folder of train.txt, dev.txt, test.txt, when there is one. */
  readonly folder?: string;
  /** What the caller should pass on: an empty part, settings that were not followed. */
  readonly warnings: readonly string[];
}

export const SPLIT_DEFAULTS = { train: 0.2, dev: 0.25, seed: 1, by: 'query' } as const;

/**
 * The division that every run and every baseline uses, in this order: qrels files per split (a lone file is not one);
 * files of query ids saved earlier in `splits/` beside the data or in `folder`; a new seeded split, saved beside the
 * data, or in `folder` when the data is read-only, or nowhere when there is no such place.
 *
 * A saved split wins over other settings, with a warning when they are not the defaults; only `dev: 0` is followed, as it
 * leaves test alone: all dev queries then train.
 * Throws DATA when no query has a positive judgement, or a query is in two parts.
 */
export async function resolveSplits(dataset: Topics, options: SplitOptions = {}, folder?: string): Promise<Splits> {
  checkShares(options);
  const given = splitOfQrels(dataset, options);
  if (given !== undefined) return given;
  const places = (await placesOf(dataset, folder)).map((place) => join(place, 'splits'));
  for (const place of places) {
    const saved = await readSplit(place, dataset.queries);
    if (saved !== undefined) return splitOfSaved(saved, place, dataset, options);
  }
  // Runs without dev queries share the train side and test with the others, so dev is saved as usual.
  const settings = { ...SPLIT_DEFAULTS, ...definedOnly(options), dev: options.dev || SPLIT_DEFAULTS.dev };
  const made = seededSplit(dataset, settings);
  const place = await writableSplitFolder(dataset, folder);
  if (place !== undefined && !(await saveSplit(place, made, settings, false))) {
    // Another run saved one in the meantime.
    return splitOfSaved((await readSplit(place, dataset.queries))!, place, dataset, options);
  }
  const parts = options.dev === 0 ? withoutDev(made) : made;
  const source = `${made.source} (${place ?? 'not saved: the data is read-only'})`;
  return { ...made, ...parts, source, folder: place, warnings: emptyParts(parts, options) };
}

/** A new seeded split of the judged queries, not saved. Throws DATA when there are none. */
export function seededSplit(dataset: Topics, options: SplitOptions = {}): Splits {
  checkShares(options);
  requireJudged(dataset);
  const settings = { ...SPLIT_DEFAULTS, ...definedOnly(options) };
  const parts = splitQueries(dataset.queries, dataset.qrels, settings);
  return { ...parts, kind: 'seeded', source: described(settings), warnings: emptyParts(parts, settings) };
}

/** The split that the qrels files themselves are; undefined when there is one file or none. */
export function splitOfQrels(dataset: Topics, options: SplitOptions = {}): Splits | undefined {
  const files = dataset.qrelsBySplit;
  const present = PARTS.filter((part) => files[part] !== undefined);
  if (present.length < 2) return undefined;
  requireJudged(dataset);
  const of = (qrels: Qrels = new Map()): string[] => judgedQueryIds(dataset.queries, qrels);
  let parts: QuerySplit = { train: of(files.train), dev: of(files.dev), test: of(files.test) };
  checkDisjoint(parts, `${dataset.path}: the qrels files`);
  let source = `qrels/{${present.join(',')}}`;
  if (options.dev === 0) parts = { ...parts, dev: [] };
  else if (files.dev === undefined) {
    parts = { ...parts, ...splitDevOff(parts.train, dataset.queries, dataset.qrels, options) };
    source += `, dev: ${percent(options.dev ?? SPLIT_DEFAULTS.dev)} of train, seed ${options.seed ?? SPLIT_DEFAULTS.seed}`;
  }
  return { ...parts, kind: 'qrels', source, warnings: emptyParts(parts, options) };
}

function splitOfSaved(saved: SavedSplit, folder: string, dataset: Topics, options: SplitOptions): Splits {
  const { settings, test } = saved;
  let parts: QuerySplit = { train: saved.train, dev: saved.dev ?? [], test };
  if (options.dev === 0) parts = withoutDev(parts);
  else if (saved.dev === undefined) {
    parts = { test, ...splitDevOff(saved.train, dataset.queries, dataset.qrels, { ...options, by: settings.by }) };
  }
  const warnings = differences(settings, options, folder);
  const known = new Set([...parts.train, ...parts.dev, ...test]);
  const missing = judgedQueryIds(dataset.queries, dataset.qrels).filter((id) => !known.has(id)).length;
  if (missing > 0) warnings.push(`${missing} judged queries are in no part of ${folder}; ${ANEW}`);
  return {
    ...parts,
    kind: 'saved',
    source: `${folder} (${described(settings)})`,
    folder,
    warnings: [...warnings, ...emptyParts(parts, options)],
  };
}

const ANEW = 'for a new split: docopt dataset split DATA --force';

/** Settings asked for that the saved split does not have. Defaults are not taken for a wish. */
function differences(saved: SplitOptions, asked: SplitOptions, folder: string): string[] {
  const keys = (['train', 'dev', 'seed', 'by'] as const).filter((key) => {
    const wished =
      asked[key] !== undefined && asked[key] !== SPLIT_DEFAULTS[key] && !(key === 'dev' && asked.dev === 0);
    return wished && saved[key] !== undefined && asked[key] !== saved[key];
  });
  if (keys.length === 0) return [];
  const list = keys.map((key) => `${key} ${asked[key]} (saved: ${saved[key]})`).join(', ');
  return [`the split saved in ${folder} is used, not ${list}; ${ANEW}`];
}

function described({ train, dev, seed, by }: SplitOptions): string {
  if (train === undefined || dev === undefined) return 'made by hand';
  return `seed ${seed}, by ${by}, ${percent(train)} train of which ${percent(dev)} dev`;
}

function withoutDev({ train, dev, test }: QuerySplit): QuerySplit {
  return { train: [...train, ...dev].sort(compareIds), dev: [], test };
}

async function placesOf(dataset: Topics, folder?: string): Promise<string[]> {
  const beside = (await statOrUndefined(dataset.path))?.isDirectory() ? [dataset.path] : [];
  return folder === undefined ? beside : [...beside, folder];
}

/** Where a new split can be saved: beside the data, else in `folder`; undefined when neither can be written. */
export async function writableSplitFolder(dataset: Topics, folder?: string): Promise<string | undefined> {
  for (const place of await placesOf(dataset, folder)) {
    if (place === folder) await makeFolder(folder);
    if (await isWritable(place)) return join(place, 'splits');
  }
  return undefined;
}

function requireJudged({ path, queries, qrels }: Topics): void {
  if (judgedQueryIds(queries, qrels).length > 0) return;
  const missing = queries.length === 0 ? 'queries' : qrels.size === 0 ? 'judgements' : undefined;
  if (missing !== undefined) {
    throw dataError(
      path,
      `there are no ${missing}, so there is nothing to split`,
      'Name a data set with queries and qrels.',
    );
  }
  const hint = 'Check that the ids in qrels/ and queries.jsonl are the same: docopt validate DATA';
  throw dataError(path, 'no query has a positive judgement, so there is nothing to split', hint);
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
