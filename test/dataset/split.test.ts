import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { datasetSplitCommand } from '../../dataset/command.ts';
import { splitDataset } from '../../dataset/mod.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { datasetSplitSchema } from '../../src/config/schemas/mod.ts';
import { loadDataset, resolveSplits } from '../../src/data/mod.ts';
import { folderWith, jsonl, temporaryFolder } from '../support/temp-folder.ts';

function data(n: number, qrels?: Readonly<Record<string, string>>): string {
  const rows = Array.from({ length: n }, (_, i) => i);
  return folderWith({
    'corpus.jsonl': jsonl(...rows.map((i) => ({ _id: `d${i}`, text: `document ${i}` }))),
    'queries.jsonl': jsonl(...rows.map((i) => ({ _id: `q${i}`, text: `query ${i}` }))),
    ...(qrels ?? { 'qrels/test.tsv': rows.map((i) => `q${i}\td${i}\t1\n`).join('') }),
  });
}

const idsIn = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean);

test('the files are what later runs use', async () => {
  const folder = data(50);
  const split = await splitDataset(folder, { train: 0.4, dev: 0.5, seed: 3 });
  expect([split.train.length, split.dev.length, split.test.length]).toEqual([10, 10, 30]);
  for (const part of ['train', 'dev', 'test'] as const) {
    expect(idsIn(join(folder, 'splits', `${part}.txt`))).toEqual(split[part]);
  }
  const used = await resolveSplits(await loadDataset(folder));
  expect([used.train, used.dev, used.test]).toEqual([split.train, split.dev, split.test]);
});

test('another one replaces the earlier one only with force, and says so; the same one is no change', async () => {
  const folder = data(50);
  const first = await splitDataset(folder, { seed: 1 });
  await expect(splitDataset(folder, { seed: 2 })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('holds another split (train 0.2, dev 0.25, seed 1, by query)'),
    hint: expect.stringContaining('--force'),
  });
  expect(idsIn(join(folder, 'splits', 'test.txt'))).toEqual(first.test);
  expect((await splitDataset(folder, { seed: 1 })).warnings).toEqual([]);
  const second = await splitDataset(folder, { seed: 2, force: true });
  expect(second.test).not.toEqual(first.test);
  expect(second.warnings.join()).toMatch(/replaced an earlier split \(train 0.2, dev 0.25, seed 1, by query\)/);
  expect(idsIn(join(folder, 'splits', 'test.txt'))).toEqual(second.test);
  expect((await splitDataset(folder, { seed: 1, force: true })).test).toEqual(first.test);
});

test('qrels files per split win', async () => {
  const folder = data(10, { 'qrels/train.tsv': 'q1\td1\t1\nq2\td2\t1\n', 'qrels/test.tsv': 'q5\td5\t1\n' });
  const split = await splitDataset(folder, { dev: 0 });
  expect([split.kind, split.train, split.test]).toEqual(['qrels', ['q1', 'q2'], ['q5']]);
  expect(existsSync(join(folder, 'splits'))).toBe(false);
  const out = join(temporaryFolder(), 'split');
  await splitDataset(folder, { dev: 0, out });
  expect(idsIn(join(out, 'train.txt'))).toEqual(['q1', 'q2']);
});

test('a split made by hand, and folders with other files, are not touched', async () => {
  const folder = data(10);
  mkdirSync(join(folder, 'splits'));
  writeFileSync(join(folder, 'splits', 'train.txt'), 'q1\n');
  writeFileSync(join(folder, 'splits', 'test.txt'), 'q2\n');
  await expect(splitDataset(folder)).rejects.toThrow(/holds another split \(made by hand\)/);
  expect(idsIn(join(folder, 'splits', 'train.txt'))).toEqual(['q1']);
  await splitDataset(folder, { force: true });
  expect(idsIn(join(folder, 'splits', 'test.txt')).length).toBe(8);

  const other = folderWith({ 'precious.txt': 'x' });
  await expect(splitDataset(folder, { out: other, force: true })).rejects.toThrow(
    /holds other files \(precious\.txt\)/,
  );
  expect(readdirSync(other)).toEqual(['precious.txt']);
});

test('read-only data needs --out', async () => {
  const folder = data(10);
  chmodSync(folder, 0o555);
  await expect(splitDataset(folder)).rejects.toThrow(/is read-only, so the split cannot be saved beside the data/);
  const out = join(temporaryFolder(), 'a', 'b');
  expect((await splitDataset(folder, { out })).folder).toBe(out);
  expect(idsIn(join(out, 'test.txt')).length).toBe(8);
  chmodSync(folder, 0o755);
});

test('the command: JSON, text and warnings', async () => {
  const warnings: string[] = [];
  const context = { log: { warn: (message: string) => warnings.push(message) } } as unknown as CommandContext;
  const folder = data(10);
  const result = await datasetSplitCommand.run(datasetSplitSchema.parse({ data: folder, train: 1 }), context);
  expect(result.json).toMatchObject({
    kind: 'seeded',
    folder: join(folder, 'splits'),
    counts: { train: 7, dev: 3, test: 0 },
  });
  expect(result.text).toMatch(/^train 7 {2}dev 3 {2}test 0 /);
  expect(warnings.join()).toMatch(/no test queries/);
  await expect(datasetSplitCommand.run(datasetSplitSchema.parse({}), context)).rejects.toThrow(/DATA is missing/);
  const nothing = data(2, { 'qrels/test.tsv': 'q0\td0\t0\n' });
  await expect(splitDataset(nothing)).rejects.toThrow(/no query has a positive judgement/);
});
