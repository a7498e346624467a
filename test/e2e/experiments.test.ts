/** `docopt experiments` and `docopt cache` through the real program. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { answersPath } from '../../src/run/wire/command-wire.ts';
import { openResponseCache } from '../../src/store/response-cache.ts';
import { tempFolder } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { writeSnippets } from '../support/snippets.ts';

const cwd = tempFolder('experiments-');
const at = (...names: string[]): string => join(cwd, ...names);
const docopt = (...argv: string[]) => runHere(['docopt', ...argv], { cwd });

async function json<T>(...argv: string[]): Promise<T> {
  const { status, stdout, stderr } = await docopt(...argv, '--json');
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout) as T;
}

beforeAll(async () => {
  mkdirSync(at('data'));
  writeSnippets(at('data'));
  for (const [out, steps] of [
    ['all/a', '2'],
    ['all/b', '6'],
  ]) {
    const argv = ['train', '--data', 'data', '--retriever', 'bm25', '--policy', 'edit', '--no-baselines', '--out', out];
    expect((await docopt(...argv, '--steps', steps, '--metrics', 'nDCG@5')).status).toBe(0);
  }
  cpSync(at('all/b'), at('all/half'), { recursive: true });
  rmSync(at('all/half/report.json'));
});

describe('docopt experiments', () => {
  it('lists those of a folder, the unfinished too', async () => {
    const { experiments } = await json<{ experiments: { experiment: string; finished: boolean; done: number }[] }>(
      'experiments',
      'list',
      'all',
    );
    expect(experiments.map(({ finished, done }) => [finished, done])).toEqual([
      [true, 2],
      [true, 6],
      [false, 6],
    ]);
    expect((await docopt('experiments', 'list', 'all')).stdout).toMatch(/all\/half .*6 of 6, unfinished/);
  });

  it('shows one; its figures are those of its report', async () => {
    const shown = await json<{ trained: number; report: unknown }>('experiments', 'show', 'all/b');
    const report = JSON.parse(readFileSync(at('all/b/report.json'), 'utf8'));
    expect(shown.trained).toBe(report.metrics['nDCG@5'].trained);
    expect(shown.report).toEqual(report);
  });

  it('compares two: the difference of their figures; one with itself is 0', async () => {
    const mean = (name: string): number =>
      JSON.parse(readFileSync(at(`all/${name}/report.json`), 'utf8')).metrics['nDCG@5'].trained;
    const compare = async (a: string, b: string) =>
      (await json<{ comparisons: { delta: number }[] }>('experiments', 'compare', a, b)).comparisons[0].delta;
    expect(await compare('all/a', 'all/b')).toBeCloseTo(mean('b') - mean('a'), 12);
    expect(await compare('all/b', 'all/b')).toBe(0);
  });

  it('removes one only with --yes, and nothing that is not a training', async () => {
    cpSync(at('all/a'), at('gone'), { recursive: true });
    expect((await docopt('experiments', 'rm', 'gone')).stdout).toMatch(/would remove/);
    expect(existsSync(at('gone'))).toBe(true);
    writeFileSync(at('gone/thesis.txt'), 'mine');
    expect(await docopt('experiments', 'rm', 'gone', '--yes')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/not ours: thesis.txt/),
    });
    rmSync(at('gone/thesis.txt'));
    expect((await docopt('experiments', 'rm', 'gone', '--yes')).status).toBe(0);
    expect(existsSync(at('gone'))).toBe(false);
    expect(await docopt('experiments', 'rm', 'data', '--yes')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/holds no training/),
    });
    expect(existsSync(at('data/corpus.jsonl'))).toBe(true);
  });

  it.each([
    [['show', 'nowhere'], 1, /holds no training/],
    [['list', 'nowhere'], 2, /is no folder/],
    [['compare', 'all/a'], 2, /which training/],
    [['compare', 'all/a', 'all/half'], 1, /not finished/],
    [['rm'], 2, /which training/],
  ])('refuses %j', async (argv, status, message) => {
    const result = await docopt('experiments', ...argv);
    expect([result.status, result.stderr]).toEqual([status, expect.stringMatching(message)]);
  });
});

describe('docopt cache', () => {
  it('counts, and clears only with --yes; no byte of an answer stays', async () => {
    const path = answersPath(cwd);
    const secret = Buffer.from('an-answer-that-was-paid-for-0123456789');
    const cache = await openResponseCache(path, { warn: () => {} });
    cache.put([['k1', secret]], 'model-a');
    cache.close();
    const stats = async () =>
      (await json<{ caches: { models: { entries: number }[] }[] }>('cache', 'stats')).caches[0].models;
    expect(await stats()).toMatchObject([{ model: 'model-a', entries: 1, bytes: secret.length }]);
    expect((await docopt('cache', 'clear')).stdout).toMatch(/nothing cleared/);
    expect(await stats()).toHaveLength(1);
    expect((await docopt('cache', 'clear', '--yes')).status).toBe(0);
    expect(await stats()).toEqual([]);
    for (const file of [path, `${path}-wal`]) {
      if (existsSync(file)) expect(readFileSync(file).includes(secret)).toBe(false);
    }
  });
});
