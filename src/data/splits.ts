import { compareIds } from '../kernels/compare.ts';
import { createRng, deriveSeed, shuffle } from '../kernels/rng.ts';
import type { Qrels, Query } from '../types.ts';

/** How to divide the judged queries. */
export interface SplitOptions {
  /** Share of unique query texts on the train side; default 0.2 (DocOpt 4.1). */
  readonly train?: number;
  /** Share of the train side kept out of everything fitted, to choose the checkpoint; default 0.25. */
  readonly dev?: number;
  /** Default 1. */
  readonly seed?: number;
  /** query: equal texts stay together. document: queries that share a relevant document do too. Default query. */
  readonly by?: 'query' | 'document';
}

/** Query ids, each sorted ascending. */
export interface QuerySplit {
  readonly train: string[];
  readonly dev: string[];
  readonly test: string[];
}

/** Queries with the same normalised text are one query, for splits. */
export function normaliseQuery(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** Ids of the queries that have a text and at least one positive judgement, ascending. */
export function judgedQueryIds(queries: readonly Query[], qrels: Qrels): string[] {
  return queries
    .filter(({ id }) => hasPositive(qrels, id))
    .map(({ id }) => id)
    .sort(compareIds);
}

export function hasPositive(qrels: Qrels, queryId: string): boolean {
  for (const grade of qrels.get(queryId)?.values() ?? []) if (grade > 0) return true;
  return false;
}

/**
 * A seeded split of the judged queries. The same queries give the same split in whatever order they come, and another
 * `dev` share never moves a query between the train side and test. Groups that must stay together and do not fit into
 * the rest of the train side go to test.
 */
export function splitQueries(queries: readonly Query[], qrels: Qrels, options: SplitOptions = {}): QuerySplit {
  const { train = 0.2, seed = 1, by = 'query' } = options;
  const textOf = new Map(queries.map(({ id, text }) => [id, normaliseQuery(text)]));
  const ids = judgedQueryIds(queries, qrels);
  const groups = by === 'document' ? groupByDocument(ids, textOf, qrels) : groupByText(ids, textOf);
  const [trainSide, test] = take(groups, train, textOf, deriveSeed(seed, 'split', 'test'));
  return { ...splitDev(trainSide, textOf, options), test: sorted(test) };
}

/** The train side (groups that stay together) into train and dev. */
function splitDev(
  groups: readonly string[][],
  textOf: ReadonlyMap<string, string>,
  options: SplitOptions,
): { train: string[]; dev: string[] } {
  const { dev = 0.25, seed = 1 } = options;
  const [devGroups, trainGroups] = take(groups, dev, textOf, deriveSeed(seed, 'split', 'dev'));
  return { train: sorted(trainGroups), dev: sorted(devGroups) };
}

/** A seeded dev share of given train queries; what must stay together does. */
export function splitDevOff(
  trainIds: readonly string[],
  queries: readonly Query[],
  qrels: Qrels,
  options: SplitOptions,
): { train: string[]; dev: string[] } {
  const textOf = new Map(queries.map(({ id, text }) => [id, normaliseQuery(text)]));
  const ids = [...trainIds].sort(compareIds);
  const groups = options.by === 'document' ? groupByDocument(ids, textOf, qrels) : groupByText(ids, textOf);
  return splitDev(groups, textOf, options);
}

/** Shuffles the groups and takes about `share` of their unique texts; something on both sides whenever 0 < share < 1 allows. */
function take(
  groups: readonly string[][],
  share: number,
  textOf: ReadonlyMap<string, string>,
  seed: number,
): [taken: string[][], left: string[][]] {
  const weights = new Map(groups.map((group) => [group, new Set(group.map((id) => textOf.get(id))).size]));
  let total = 0;
  for (const weight of weights.values()) total += weight;
  let room = Math.round(share * total);
  if (share > 0 && share < 1 && groups.length > 1) room = Math.min(Math.max(room, 1), total - 1);
  const taken: string[][] = [];
  const left: string[][] = [];
  for (const group of shuffle([...groups], createRng(seed))) {
    const weight = weights.get(group)!;
    if (weight <= room) {
      taken.push(group);
      room -= weight;
    } else left.push(group);
  }
  return [taken, left];
}

function groupByText(ids: readonly string[], textOf: ReadonlyMap<string, string>): string[][] {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const text = textOf.get(id)!;
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [id]);
    else group.push(id);
  }
  return [...groups.values()];
}

/** Connected components of queries that share a text or a relevant document (union-find). */
function groupByDocument(ids: readonly string[], textOf: ReadonlyMap<string, string>, qrels: Qrels): string[][] {
  const parents = ids.map((_, i) => i);
  const root = (i: number): number => {
    while (parents[i] !== i) {
      parents[i] = parents[parents[i]];
      i = parents[i];
    }
    return i;
  };
  const firstWith = new Map<string, number>();
  const join = (key: string, i: number): void => {
    const other = firstWith.get(key);
    if (other === undefined) firstWith.set(key, i);
    else parents[root(i)] = root(other);
  };
  ids.forEach((id, i) => {
    join(`text ${textOf.get(id)}`, i);
    for (const [documentId, grade] of qrels.get(id) ?? []) if (grade > 0) join(`document ${documentId}`, i);
  });
  const groups = new Map<number, string[]>();
  ids.forEach((id, i) => {
    const group = groups.get(root(i));
    if (group === undefined) groups.set(root(i), [id]);
    else group.push(id);
  });
  return [...groups.values()];
}

function sorted(groups: readonly string[][]): string[] {
  return groups.flat().sort(compareIds);
}
