/** Deaths and interruptions at any moment, through the real command line: nothing half is ever seen, nothing is paid for twice. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { createRng } from '../../src/kernels/rng.ts';
import { type CliResult, finished, run, runJson, start, tempFolder } from '../support/cli.ts';

const cwd = tempFolder('interrupt-');
const rng = createRng(7);
let data = '';

const at = (...names: string[]): string => join(cwd, ...names);
const read = (...names: string[]): string => readFileSync(at(...names), 'utf8');
const lines = (...names: string[]): string[] =>
  read(...names)
    .split('\n')
    .slice(0, -1);
/** What a user sees in the folder of a command's output: temporary files are hidden. */
const visible = (folder: string): string[] => readdirSync(at(folder)).filter((name) => !name.startsWith('.'));

const train = (out: string, ...more: string[]): string[] => [
  ...['docopt', 'train', '--data', data, '--retriever', 'bm25', '--policy', 'edit', '--no-baselines', '--out', out],
  ...['--steps', '8', '--index-refresh-rate', '4', '--checkpoint-every', '2', '--documents-per-step', '6'],
  ...['--metrics', 'nDCG@5', ...more],
];
const rewrite = (out: string, batchSize: number): string[] => [
  ...['docopt', 'rewrite-corpus', '--corpus', 'wide.jsonl', '--policy', 'exp', '--out', out],
  ...['--batch-size', String(batchSize)],
];
const index = (out: string): string[] => [
  ...['docopt', 'index', '--corpus', 'wide.jsonl', '--retriever', 'bm25', '--out', out],
];

/** Waits for something that the process does. Fails when it ends before. */
async function until(child: ChildProcess, what: () => boolean): Promise<void> {
  while (!what()) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the process ended too early');
    await wait(2);
  }
}

async function killedWhen(argv: readonly string[], moment: (child: ChildProcess) => Promise<void>): Promise<CliResult> {
  const child = start(argv, { cwd });
  const done = finished(child);
  await moment(child);
  child.kill('SIGKILL');
  return done;
}

/** metrics.jsonl without its times; report.json without its times, the machine, and whether the split was new. */
const series = (out: string): unknown[] =>
  lines(out, 'metrics.jsonl').map((line) => ({ ...JSON.parse(line), step_time: 0 }));
const figures = (out: string): unknown => {
  const { seconds: _, environment: __, splits, ...rest } = JSON.parse(read(out, 'report.json'));
  return { ...rest, splits: { ...splits, source: '' } };
};

let straightMs = 0;

beforeAll(async () => {
  data = at('data');
  await runJson(['docopt', 'dataset', 'from-code', join(import.meta.dirname, '../../src/data'), '--out', data]);
  // Wide enough that a signal comes before the end.
  const rows = lines('data/corpus.jsonl').map((line) => JSON.parse(line) as { _id: string; text: string });
  const copies = Array.from({ length: 4 }, (_, n) =>
    rows.map((row) => JSON.stringify({ ...row, _id: `${row._id}-${n}`, text: `${row.text}\n// copy${n}` })),
  );
  writeFileSync(at('wide.jsonl'), `${copies.flat().join('\n')}\n`);
  const started = performance.now();
  await runJson(train('exp'), { cwd });
  straightMs = performance.now() - started;
}, 60_000);

describe('a training', () => {
  it('killed at any moment and resumed gives the series and the report of the straight run', async () => {
    const rows = (): number => (existsSync(at('killed/metrics.jsonl')) ? lines('killed/metrics.jsonl').length : -1);
    // Before anything, in the first rewrite, between checkpoints, at one, at a refresh, while measuring; then anywhere.
    const moments = [-1, 0, 1, 2, 4, 7, 8].map((step) => async (child: ChildProcess) => {
      await until(child, () => rows() >= step).catch(() => {});
      await wait(step < 0 ? 200 : 3 * step);
    });
    const anywhere = Array.from({ length: 2 }, () => () => wait(straightMs * (0.2 + 0.7 * rng.next())));
    let killed = 0;
    for (const moment of [...moments, ...anywhere]) {
      const { signal, status, stderr } = await killedWhen(train('killed', '--resume'), moment);
      if (signal === 'SIGKILL') killed++;
      else expect([status, stderr]).toEqual([0, expect.any(String)]);
    }
    expect(killed).toBeGreaterThan(5);
    await runJson(train('killed', '--resume'), { cwd });
    expect(series('killed')).toEqual(series('exp'));
    expect(read('killed/completions.jsonl')).toBe(read('exp/completions.jsonl'));
    expect(figures('killed')).toEqual(figures('exp'));
  }, 120_000);

  it('stopped by Ctrl-C exits 130 with one error document, and --resume alone finds it and goes on', async () => {
    const own = join('.docopt', 'experiments');
    const begun = (): string => join(own, existsSync(at(own)) ? (readdirSync(at(own))[0] ?? '') : '');
    const child = start([...train('x').filter((word) => word !== '--out' && word !== 'x'), '--json'], { cwd });
    const done = finished(child);
    await until(child, () => existsSync(at(begun(), 'metrics.jsonl')) && lines(begun(), 'metrics.jsonl').length >= 3);
    child.kill('SIGINT');
    const { status, stdout } = await done;
    expect([status, JSON.parse(stdout)]).toEqual([
      130,
      {
        error: {
          code: 'INTERRUPTED',
          message: expect.stringMatching(/after step \d+ of 8/),
          hint: `Continue with: docopt train --out ${at(begun())} --resume`,
        },
      },
    ]);
    expect(existsSync(at(begun(), 'report.json'))).toBe(false);
    const { stderr } = await run(['docopt', 'train', '--resume'], { cwd });
    expect(stderr).toContain(`experiment: ${at(begun())} (the latest unfinished one)`);
    expect(series(begun())).toEqual(series('exp'));
    const none = await run(['docopt', 'train', '--resume'], { cwd });
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('there is no unfinished one')]);
  }, 60_000);

  it('refuses a second one in its folder, and finishes', async () => {
    const first = start(train('shared'), { cwd });
    const done = finished(first);
    await until(first, () => existsSync(at('shared/metrics.jsonl')));
    first.kill('SIGSTOP');
    try {
      const { error } = await runJson<{ error: object }>(train('shared', '--resume'), { cwd, status: 1 });
      expect(error).toEqual({
        code: 'ENVIRONMENT',
        message: expect.stringContaining(`another process (pid ${first.pid} on `),
        hint: expect.stringContaining('choose another --out'),
      });
    } finally {
      first.kill('SIGCONT');
    }
    expect((await done).status).toBe(0);
    expect(series('shared')).toEqual(series('exp'));
  }, 60_000);
});

describe('rewrite-corpus', () => {
  const journal = at('rewritten/.corpus.journal.jsonl');
  const entries = (): number => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').length - 1 : 0);

  it('killed, stopped and run again asks the policy for nothing twice', async () => {
    const argv = rewrite('rewritten/corpus', 2);
    expect((await killedWhen(argv, (child) => until(child, () => entries() > 5))).signal).toBe('SIGKILL');
    expect(visible('rewritten')).toEqual([]);
    const first = entries();

    const child = start(argv, { cwd });
    const done = finished(child);
    await until(child, () => entries() > first + 5);
    child.kill('SIGINT');
    const { status, stderr } = await done;
    expect([status, stderr]).toEqual([130, expect.stringContaining(`${first} documents were finished before`)]);
    expect(visible('rewritten')).toEqual([]);
    const second = entries();

    const report = await runJson<{ documents: number; from: { policy: number; journal: number } }>(
      rewrite('rewritten/corpus', 64),
      { cwd },
    );
    expect(report.from).toMatchObject({ journal: second, policy: report.documents - second });
    expect(readdirSync(at('rewritten'))).toEqual(['corpus']);
    await runJson(rewrite('straight', 64), { cwd });
    expect(read('rewritten/corpus/corpus.jsonl')).toBe(read('straight/corpus.jsonl'));
  }, 60_000);
});

describe('two at once into one place', () => {
  it('rewrite-corpus: the second is refused, the first finishes', async () => {
    const first = start(rewrite('both/corpus', 2), { cwd });
    const done = finished(first);
    await until(first, () => existsSync(at('both/.corpus.lock')) && read('both/.corpus.lock').includes(`${first.pid}`));
    first.kill('SIGSTOP');
    const second = await run(rewrite('both/corpus', 2), { cwd });
    first.kill('SIGCONT');
    expect([second.status, second.stderr]).toEqual([1, expect.stringMatching(/another process \(pid \d+ on /)]);
    expect((await done).status).toBe(0);
    expect(readdirSync(at('both'))).toEqual(['corpus']);
  }, 60_000);

  it('dataset from-code and split: one is there whole, whoever came second', async () => {
    const argv = ['docopt', 'dataset', 'from-code', join(import.meta.dirname, '../../src/data'), '--out', 'twice'];
    const made = await Promise.all([run(argv, { cwd }), run(argv, { cwd })]);
    const statuses = made.map(({ status }) => status).sort();
    expect([JSON.stringify(statuses), made.map(({ stderr }) => stderr)]).toEqual([
      expect.stringMatching(/^\[0,[02]\]$/),
      expect.any(Array),
    ]);
    expect(read('twice/corpus.jsonl')).toBe(read('data/corpus.jsonl'));
    const split = await Promise.all([1, 2].map(() => run(['docopt', 'dataset', 'split', 'twice'], { cwd })));
    expect(split.map(({ status, stderr }) => [status, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(readdirSync(at('twice')).sort()).toEqual(['corpus.jsonl', 'qrels', 'queries.jsonl', 'splits']);
  }, 60_000);
});

describe('index', () => {
  it('killed leaves nothing to be seen, and the next build is as if nothing had been', async () => {
    const argv = index('indexes/a');
    for (const part of ['.a.partial', '.a.partial/retriever']) {
      const { signal } = await killedWhen(argv, (child) => until(child, () => existsSync(at('indexes', part))));
      expect([signal, visible('indexes')]).toEqual(['SIGKILL', []]);
    }
    const { error } = await runJson<{ error: { message: string } }>(
      ['docopt', 'search', 'vector', '--index', 'indexes/a'],
      { cwd, status: 1 },
    );
    expect(error.message).toBe("index 'indexes/a' does not exist");

    // The first is held while a second one tries.
    const first = start([...argv, '--json'], { cwd });
    const done = finished(first);
    await until(first, () => existsSync(at('indexes/.a.lock')) && read('indexes/.a.lock').includes(`${first.pid}`));
    first.kill('SIGSTOP');
    const second = await run(argv, { cwd });
    first.kill('SIGCONT');
    expect([second.status, second.stderr]).toEqual([
      1,
      expect.stringMatching(/another process \(pid \d+ on .*\) is building .*indexes\/a\n.*choose another --out/),
    ]);
    const { status, stdout } = await done;
    expect(status).toBe(0);
    expect(readdirSync(at('indexes'))).toEqual(['a']);
    expect(JSON.parse(stdout).fingerprint).toBe((await runJson(index('b'), { cwd })).fingerprint);
  }, 60_000);

  it.each(['SIGTERM', 'SIGINT'] as const)('morph serve over it stops at %s with status 0', async (signal) => {
    const child = start(['morph', 'serve', '--index', 'b', '--port', '0'], { cwd });
    const done = finished(child);
    let said = '';
    child.stdout?.on('data', (text) => {
      said += text;
    });
    await until(child, () => said.includes('\n'));
    expect((await fetch(`${said.trim().replace('listening on ', '')}/healthz`)).status).toBe(200);
    child.kill(signal);
    expect(await done).toMatchObject({ status: 0, signal: null, stdout: said });
  });
});
