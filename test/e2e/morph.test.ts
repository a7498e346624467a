/** The built `morph` in a child process: streams, exit statuses, a stop by signal. Needs `npm run build` (npm test does it). */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SELECTORS } from '../../select/mod.ts';
import { EXAMPLE_SCORES, exampleVectors } from '../support/pools.ts';
import { folderWith, jsonl } from '../support/temp-folder.ts';

const program = resolve('dist/bin/morph.js');
const docopt = resolve('dist/bin/docopt.js');
const built = existsSync(program) && existsSync(resolve('dist/select/serve/embed-worker.js'));

const pool = {
  query: { text: 'q', embedding: [1, 0] },
  documents: exampleVectors().map((embedding, d) => ({
    id: `d${d}`,
    text: `t${d}`,
    embedding,
    score: EXAMPLE_SCORES[d],
  })),
};

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(file: string, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, [file, ...args], { cwd }, (error, stdout, stderr) => {
      done({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

async function serve(args: readonly string[], cwd: string) {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', ...args], { cwd });
  running.push(child);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<number | null>((done) => {
    child.once('exit', done);
  });
  const url = await new Promise<string>((done, fail) => {
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      const match = /^listening on (http:\/\/\S+)\n/.exec(stdout);
      if (match !== null) done(match[1]);
    });
    child.once('exit', () => fail(new Error(`morph serve ended: ${stderr}`)));
  });
  return { child, url, ended, stderr: () => stderr };
}

const ask = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/select`, { method: 'POST', body: JSON.stringify(body), headers });

describe.skipIf(!built)('morph, built', () => {
  it('select prints one JSON document on stdout and nothing else', async () => {
    const cwd = folderWith({ 'pool.json': JSON.stringify(pool) });
    const { status, stdout, stderr } = await run(
      program,
      [
        ...['select', '--pool', 'pool.json', '--reranker', 'recorded', '-B', '3', '-k', '2'],
        ...['--selector', 'boundary-morph', '--json'],
      ],
      cwd,
    );
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout)).toMatchObject({ calls: ['d2', 'd1', 'd5'], selected: [{ id: 'd3' }, { id: 'd4' }] });
  });

  it('ends with 2 and one error document for a wrong name', async () => {
    const cwd = folderWith({ 'pool.json': JSON.stringify(pool) });
    const { status, stdout, stderr } = await run(
      program,
      ['select', '--pool', 'pool.json', '--selector', 'bogus', '--json'],
      cwd,
    );
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'CONFIG',
        message: "selector 'bogus' is not known.",
        hint: `Available: ${SELECTORS.join(', ')}.`,
      },
    });
    expect(stderr).toMatch(/selector 'bogus' is not known/);
  });

  it('serve embeds beside itself, finishes what it is answering on SIGTERM, and ends with 0', async () => {
    const { child, url, ended, stderr } = await serve(
      ['--reranker', 'recorded', '--api-key', 'correct-horse', '--verbose'],
      folderWith({ empty: '' }),
    );
    const documents = Array.from({ length: 60 }, (_, i) => ({
      id: `x${i}`,
      text: `word${i % 7} night light number ${i} word${i % 11}`,
      score: (i % 10) / 10,
    }));
    const headers = { authorization: 'Bearer correct-horse' };
    expect((await ask(url, { query: 'night light', documents })).status).toBe(401);
    const answer = ask(url, { query: 'night word3', documents, budget: 5, capacity: 3 }, headers);
    // While the thread fits, the service answers others; then it is told to stop.
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    child.kill('SIGTERM');
    const response = await answer;
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ embeddings: expect.stringMatching(/fitted on the pool/), budget: 5 });
    expect(await ended).toBe(0);
    expect(stderr()).toMatch(/SIGTERM: answering what was asked, then stopping .*\n(.*\n)*stopped\n$/);
    expect(stderr()).not.toContain('correct-horse');
  });

  it('serve says what to do when the port is taken, and ends with 1', async () => {
    const holder = createServer();
    await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done));
    const { port } = holder.address() as { port: number };
    const cwd = folderWith({ empty: '' });
    const { status, stdout, stderr } = await run(
      program,
      ['serve', '--reranker', 'recorded', '--port', `${port}`],
      cwd,
    );
    holder.close();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/Cannot listen on 127\.0\.0\.1:\d+/);
    expect(stderr).toMatch(/--port 0/);
  });

  it('serves the latest index without a flag', async () => {
    const rows = Array.from({ length: 30 }, (_, i) => ({
      _id: `n${i}`,
      title: '',
      text: `lamp ${i % 5} light ${i % 3} street`,
    }));
    const cwd = folderWith({ 'data/corpus.jsonl': jsonl(...rows) });
    const indexed = await run(docopt, ['index', '--corpus', join('data', 'corpus.jsonl'), '--retriever', 'bm25'], cwd);
    expect([indexed.status, indexed.stderr]).toEqual([0, expect.any(String)]);
    const { child, url, ended } = await serve([], cwd);
    const answer = (await (await ask(url, { query: 'lamp light', budget: 4, capacity: 2 })).json()) as {
      selected: object[];
    };
    expect(answer.selected).toHaveLength(2);
    expect(answer.selected[0]).toMatchObject({
      text: expect.stringMatching(/lamp/),
      firstStageRank: expect.any(Number),
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
