/** What killed processes left beside a file or a folder goes with the next write; what the living hold stays. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryName, writeFileAtomic } from '../../../src/data/atomic.ts';
import { loadDataset, loadTopics, writeBeir } from '../../../src/data/mod.ts';
import { folderWith, jsonl, temporaryFolder } from '../../support/temp-folder.ts';

const dead = spawnSync(process.execPath, ['-e', '']).pid;
const leftBy = (pid: number, path: string): string => temporaryName(path).replace(`-${process.pid}-`, `-${pid}-`);

test('files and folders', async () => {
  const folder = temporaryFolder();
  const [file, data] = [join(folder, 'report.json'), join(folder, 'data')];
  const [gone, living, own] = [leftBy(dead, file), leftBy(process.ppid, file), temporaryName(file)];
  const elsewhere = leftBy(dead, file).replace(/tmp-..../, 'tmp-0000');
  const notes = `${file}.tmp-notes`;
  for (const path of [gone, living, own, elsewhere, notes]) writeFileSync(path, 'half');
  const half = leftBy(dead, data);
  mkdirSync(join(half, 'qrels'), { recursive: true });
  await writeFileAtomic(file, ['{}']);
  expect([gone, living, own, elsewhere, notes].map((path) => existsSync(path))).toEqual([
    false,
    true,
    true,
    true,
    true,
  ]);
  expect(existsSync(half)).toBe(true);
  await writeBeir(data, { documents: [{ id: 'a', title: '', text: 'b' }], queries: [], qrels: new Map() });
  expect(existsSync(half)).toBe(false);
  expect(readdirSync(data).sort()).toEqual(['corpus.jsonl', 'qrels', 'queries.jsonl']);
});

test('a data set is replaced when the new one is complete, and not before', async () => {
  const folder = join(temporaryFolder(), 'data');
  const content = (text: string, id = 'a') => ({ documents: [{ id, title: '', text }], queries: [], qrels: new Map() });
  await writeBeir(folder, content('first'));
  await expect(writeBeir(folder, content('second'))).rejects.toMatchObject({ code: 'USAGE' });
  await expect(writeBeir(folder, content('third', 'not an id'), { replace: true })).rejects.toMatchObject({
    code: 'DATA',
  });
  expect(readFileSync(join(folder, 'corpus.jsonl'), 'utf8')).toContain('first');
  await writeBeir(folder, content('fourth'), { replace: true });
  expect((await loadDataset(folder)).corpus.original(0).text).toBe('fourth');
  expect(readdirSync(join(folder, '..'))).toEqual(['data']);
});

test('questions and judgements are read without the documents', async () => {
  const folder = folderWith({
    'corpus.jsonl': 'not JSON at all\n',
    'queries.jsonl': jsonl({ _id: 'q', text: 'boat' }),
    'qrels/test.tsv': 'query-id\tcorpus-id\tscore\nq\td\t1\n',
  });
  expect(await loadTopics(folder, { judged: true })).toMatchObject({ queries: [{ id: 'q', text: 'boat' }] });
  await expect(loadDataset(folder)).rejects.toThrow(/invalid JSON/);
});
