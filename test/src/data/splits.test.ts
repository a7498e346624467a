import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  loadDataset,
  resolveSplits,
  type Splits,
  saveSplit,
  seededSplit,
  splitQueries,
} from '../../../src/data/mod.ts';
import { createRng, shuffle } from '../../../src/kernels/rng.ts';
import type { Qrels, Query } from '../../../src/types.ts';
import { folderWith, jsonl, temporaryFolder } from '../../support/temp-folder.ts';

/** `n` queries, each with its own relevant document, unless `documentOf` says otherwise. */
function collection(n: number, documentOf = (i: number) => `d${i}`): { queries: Query[]; qrels: Qrels } {
  const queries = Array.from({ length: n }, (_, i) => ({ id: `q${i}`, text: `query number ${i}` }));
  return { queries, qrels: new Map(queries.map(({ id }, i) => [id, new Map([[documentOf(i), 1]])])) };
}

function beirFolder(n: number, qrels: Readonly<Record<string, string>> = {}): string {
  const rows = Array.from({ length: n }, (_, i) => i);
  const all = rows.map((i) => `q${i}\td${i}\t1\n`).join('');
  const files = Object.keys(qrels).length === 0 ? { 'qrels/test.tsv': `query-id\tcorpus-id\tscore\n${all}` } : qrels;
  return folderWith({
    'corpus.jsonl': jsonl(...rows.map((i) => ({ _id: `d${i}`, title: '', text: `document ${i}` }))),
    'queries.jsonl': jsonl(...rows.map((i) => ({ _id: `q${i}`, text: `query number ${i}` }))),
    ...files,
  });
}

const lines = (from: number, to: number): string =>
  `query-id\tcorpus-id\tscore\n${Array.from({ length: to - from }, (_, i) => `q${from + i}\td${from + i}\t1\n`).join('')}`;
const parts = ({ train, dev, test: rest }: Pick<Splits, 'train' | 'dev' | 'test'>) => ({ train, dev, test: rest });
const sizes = (split: Pick<Splits, 'train' | 'dev' | 'test'>) => [
  split.train.length,
  split.dev.length,
  split.test.length,
];

test('20 % train of which a quarter is dev, every judged query exactly once', () => {
  const { queries, qrels } = collection(200);
  const split = splitQueries(queries, qrels);
  expect(sizes(split)).toEqual([30, 10, 160]);
  expect([...split.train, ...split.dev, ...split.test].sort()).toEqual(queries.map(({ id }) => id).sort());
});

test('the same in whatever order queries and judgements come; another seed gives another split', () => {
  const { queries, qrels } = collection(100);
  const expected = splitQueries(queries, qrels, { seed: 7 });
  for (const seed of [1, 2, 3]) {
    const rng = createRng(seed);
    const shuffled = new Map(shuffle([...qrels], rng));
    expect(splitQueries(shuffle([...queries], rng), shuffled, { seed: 7 })).toEqual(expected);
  }
  expect(splitQueries(queries, qrels, { seed: 8 })).not.toEqual(expected);
});

test('another dev share never touches test', () => {
  const { queries, qrels } = collection(100);
  const whole = splitQueries(queries, qrels, { dev: 0 });
  for (const dev of [0.1, 0.25, 0.5, 0.9]) {
    const split = splitQueries(queries, qrels, { dev });
    expect(split.test).toEqual(whole.test);
    expect([...split.train, ...split.dev].sort()).toEqual([...whole.train].sort());
    expect(split.dev.length).toBe(Math.round(dev * 20));
  }
});

test('equal texts stay together, whatever their case and spacing, and the share counts unique texts', () => {
  const { qrels } = collection(60);
  const queries = Array.from({ length: 60 }, (_, i) => ({
    id: `q${i}`,
    text: i % 3 === 0 ? ` Query  ${i - (i % 3)}\n` : `query ${i - (i % 3)}`,
  }));
  for (const seed of [1, 2, 3, 4, 5]) {
    const split = splitQueries(queries, qrels, { seed });
    expect(sizes(split)).toEqual([9, 3, 48]); // 4 of 20 texts, one of them dev, three queries each
    for (const part of [split.train, split.dev, split.test]) {
      for (const id of part) {
        const first = Number(id.slice(1)) - (Number(id.slice(1)) % 3);
        for (const twin of [first, first + 1, first + 2]) expect(part).toContain(`q${twin}`);
      }
    }
  }
});

test('only queries with a text and a positive judgement take part', () => {
  const { queries } = collection(4);
  const qrels = new Map([
    ['q0', new Map([['d0', 1]])],
    ['q1', new Map([['d1', 0]])],
    ['q2', new Map([['d2', -1]])],
    [
      'q3',
      new Map([
        ['d3', -1],
        ['d4', 2],
      ]),
    ],
    ['no-text', new Map([['d0', 1]])],
  ]);
  const split = splitQueries(queries, qrels, { train: 0.5 });
  expect([...split.train, ...split.dev, ...split.test].sort()).toEqual(['q0', 'q3']);
});

test('by document: no relevant document is on both sides, on random collections', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const rng = createRng(seed);
    const n = 2 + rng.int(60);
    const queries = Array.from({ length: n }, (_, i) => ({ id: `q${i}`, text: `text ${rng.int(n * 2)}` }));
    const qrels = new Map(
      queries.map(({ id }) => [id, new Map(Array.from({ length: 1 + rng.int(2) }, () => [`d${rng.int(n * 2)}`, 1]))]),
    );
    const split = splitQueries(queries, qrels, { by: 'document', train: 0.3, seed });
    const sideOf = new Map<string, string>();
    for (const part of ['train', 'dev', 'test'] as const) {
      for (const id of split[part]) {
        for (const key of [...qrels.get(id)!.keys(), `text ${queries.find((query) => query.id === id)!.text}`]) {
          expect(sideOf.get(key) ?? part).toBe(part);
          sideOf.set(key, part);
        }
      }
    }
    expect(split.train.length + split.dev.length + split.test.length).toBe(n);
  }
});

test('by document, when all queries share one document: nothing can train, and it is said', () => {
  const dataset = {
    ...collection(10, () => 'same'),
    name: 'x',
    path: '/nowhere',
    corpus: undefined as never,
    qrelsBySplit: {},
  };
  const split = seededSplit(dataset, { by: 'document' });
  expect(sizes(split)).toEqual([0, 0, 10]);
  expect(split.warnings.join()).toMatch(/no training queries/);
});

test('small and extreme shares', () => {
  const two = collection(2);
  expect(sizes(splitQueries(two.queries, two.qrels))).toEqual([1, 0, 1]);
  const one = collection(1);
  expect(sizes(splitQueries(one.queries, one.qrels))).toEqual([0, 0, 1]);
  const ten = collection(10);
  expect(sizes(splitQueries(ten.queries, ten.qrels, { train: 1 }))).toEqual([7, 3, 0]);
  expect(sizes(splitQueries(ten.queries, ten.qrels, { train: 0 }))).toEqual([0, 0, 10]);
  expect(sizes(splitQueries(ten.queries, ten.qrels, { train: 0.99 }))).toEqual([7, 2, 1]);
  const dataset = { ...ten, name: 'x', path: '/nowhere', corpus: undefined as never, qrelsBySplit: {} };
  expect(seededSplit(dataset, { train: 1 }).warnings.join()).toMatch(/no test queries/);
  expect(() => seededSplit(dataset, { train: 1.5 })).toThrow(/--train 1.5: expected a share between 0 and 1/);
});

test('a new split is saved beside the data and taken from there afterwards', async () => {
  const folder = beirFolder(40);
  const dataset = await loadDataset(folder);
  const made = await resolveSplits(dataset, { seed: 3 });
  expect(made.kind).toBe('seeded');
  expect(made.folder).toBe(join(folder, 'splits'));
  expect(readFileSync(join(folder, 'splits', 'train.txt'), 'utf8')).toBe(made.train.map((id) => `${id}\n`).join(''));
  const again = await resolveSplits(dataset);
  expect(again.kind).toBe('saved');
  expect(parts(again)).toEqual(parts(made));
  expect(again.warnings).toEqual([]);
  expect(again.source).toMatch(/splits \(seed 3, by query, 20 % train of which 25 % dev\)$/);
  const defaults = await resolveSplits(dataset, { train: 0.2, dev: 0.25, seed: 1, by: 'query' });
  expect([parts(defaults), defaults.warnings]).toEqual([parts(made), []]);
  const other = await resolveSplits(dataset, { seed: 4 });
  expect(parts(other)).toEqual(parts(made));
  expect(other.warnings.join()).toMatch(/is used, not seed 4 \(saved: 3\)/);
});

test('dev 0 gives dev back to train, for this run only', async () => {
  const dataset = await loadDataset(beirFolder(40));
  const without = await resolveSplits(dataset, { dev: 0 });
  expect(sizes(without)).toEqual([8, 0, 32]);
  expect(without.warnings).toEqual([]);
  const usual = await resolveSplits(dataset);
  expect(sizes(usual)).toEqual([6, 2, 32]);
  const asked = await resolveSplits(dataset, { dev: 0.5 });
  expect(sizes(asked)).toEqual([6, 2, 32]);
  expect(asked.warnings.join()).toMatch(/is used, not dev 0.5 \(saved: 0.25\)/);
  expect((await resolveSplits(dataset, { dev: 0 })).train).toEqual(without.train);
});

test('read-only data: the split goes to the other folder and is found there', async () => {
  const folder = beirFolder(40);
  chmodSync(folder, 0o555);
  const dataset = await loadDataset(folder);
  const experiment = join(temporaryFolder(), 'experiment');
  const made = await resolveSplits(dataset, {}, experiment);
  expect(existsSync(join(folder, 'splits'))).toBe(false);
  expect(made.folder).toBe(join(experiment, 'splits'));
  const again = await resolveSplits(dataset, {}, experiment);
  expect(again.kind).toBe('saved');
  expect(parts(again)).toEqual(parts(made));
  const nowhere = await resolveSplits(dataset);
  expect(nowhere.folder).toBeUndefined();
  expect(nowhere.source).toMatch(/not saved/);
  expect(parts(nowhere)).toEqual(parts(made));
  chmodSync(folder, 0o755);
});

test('qrels files per split win over saved and seeded ones', async () => {
  const folder = beirFolder(20, {
    'qrels/train.tsv': lines(0, 8),
    'qrels/dev.tsv': lines(8, 10),
    'qrels/test.tsv': lines(10, 20),
  });
  mkdirSync(join(folder, 'splits'));
  for (const part of ['train', 'dev', 'test']) writeFileSync(join(folder, 'splits', `${part}.txt`), 'q19\n');
  const split = await resolveSplits(await loadDataset(folder), { seed: 5 });
  expect(split.kind).toBe('qrels');
  expect(split.train).toEqual(['q0', 'q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7']);
  expect(split.dev).toEqual(['q8', 'q9']);
  expect(sizes(split)).toEqual([8, 2, 10]);
});

test('train and test files without dev: dev is a share of train', async () => {
  const folder = beirFolder(20, { 'qrels/train.tsv': lines(0, 8), 'qrels/test.tsv': lines(8, 20) });
  const dataset = await loadDataset(folder);
  expect(sizes(await resolveSplits(dataset))).toEqual([6, 2, 12]);
  expect(sizes(await resolveSplits(dataset, { dev: 0 }))).toEqual([8, 0, 12]);
  expect(existsSync(join(folder, 'splits'))).toBe(false);
});

test('a lone qrels file is not a split, whatever its name', async () => {
  const folder = beirFolder(20, { 'qrels/train.tsv': lines(0, 20) });
  expect(sizes(await resolveSplits(await loadDataset(folder)))).toEqual([3, 1, 16]);
});

test('dev and test files without train: nothing to train on, and it is said', async () => {
  const folder = beirFolder(20, { 'qrels/dev.tsv': lines(0, 8), 'qrels/test.tsv': lines(8, 20) });
  const split = await resolveSplits(await loadDataset(folder));
  expect(sizes(split)).toEqual([0, 8, 12]);
  expect(split.warnings.join()).toMatch(/no training queries/);
});

test('what is wrong with files of a split', async () => {
  const overlap = beirFolder(4, { 'qrels/train.tsv': lines(0, 2), 'qrels/test.tsv': lines(1, 4) });
  await expect(loadDataset(overlap).then((dataset) => resolveSplits(dataset))).rejects.toThrow(
    /query 'q1' is in train and in test/,
  );

  const unknown = beirFolder(4);
  mkdirSync(join(unknown, 'splits'));
  writeFileSync(join(unknown, 'splits', 'train.txt'), 'q0\ngone\n');
  writeFileSync(join(unknown, 'splits', 'test.txt'), 'q1\n');
  await expect(loadDataset(unknown).then((dataset) => resolveSplits(dataset))).rejects.toThrow(
    /train\.txt:2: unknown query id 'gone'/,
  );

  const half = beirFolder(4);
  mkdirSync(join(half, 'splits'));
  writeFileSync(join(half, 'splits', 'train.txt'), 'q0\n');
  await expect(loadDataset(half).then((dataset) => resolveSplits(dataset))).rejects.toThrow(/test\.txt: no such file/);

  writeFileSync(join(half, 'splits', 'test.txt'), 'q1\r\n\r\nq2');
  const byHand = await loadDataset(half).then((dataset) => resolveSplits(dataset, { seed: 9 }));
  expect(sizes(byHand)).toEqual([1, 0, 2]);
  expect(byHand.warnings.join()).toMatch(/1 judged queries are in no part/);

  const nothing = beirFolder(2, { 'qrels/test.tsv': 'query-id\tcorpus-id\tscore\nq0\td0\t0\n' });
  await expect(loadDataset(nothing).then((dataset) => resolveSplits(dataset))).rejects.toThrow(
    /no query has a positive judgement/,
  );
});

test('two runs at once agree on one split', async () => {
  const folder = beirFolder(40);
  const dataset = await loadDataset(folder);
  const both = await Promise.all([resolveSplits(dataset, { seed: 1 }), resolveSplits(dataset, { seed: 2 })]);
  expect(parts(both[0])).toEqual(parts(both[1]));
  expect(parts(await resolveSplits(dataset))).toEqual(parts(both[0]));
});

test('a saved split is replaced as a whole', async () => {
  const folder = join(temporaryFolder(), 'splits');
  expect(await saveSplit(folder, { train: ['a'], dev: ['b'], test: ['c'] }, { seed: 1 }, false)).toBe(true);
  expect(await saveSplit(folder, { train: ['x'], dev: [], test: ['y'] }, { seed: 2 }, false)).toBe(false);
  expect(readFileSync(join(folder, 'train.txt'), 'utf8')).toBe('a\n');
  expect(await saveSplit(folder, { train: ['x'], dev: [], test: ['y'] }, { seed: 2 }, true)).toBe(true);
  expect(readFileSync(join(folder, 'train.txt'), 'utf8')).toBe('x\n');
  expect(readFileSync(join(folder, 'dev.txt'), 'utf8')).toBe('');
});
