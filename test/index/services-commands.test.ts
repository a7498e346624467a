/** The commands with retrievers and rerankers that are services: money, offline, keys, and what is left on record. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../support/in-process.ts';
import { startModelService } from '../support/servers/models.ts';
import type { Service } from '../support/servers/service.ts';
import { folderWith, jsonl, temporaryFolder } from '../support/temp-folder.ts';

const KEY = 'sk-secret-of-the-test-42';
const TOPICS = ['night sky lamps', 'owls and mice', 'cheese from goats', 'boats on rivers', 'bread and salt'];
const documents = Array.from({ length: 40 }, (_, i) => ({
  _id: `d${i}`,
  title: '',
  text: `${TOPICS[i % 5]} number ${i} `.repeat(40),
}));
const queries = TOPICS.map((text, i) => ({ _id: `q${i}`, text }));
const qrels = TOPICS.map((_, i) => `q${i}\td${i}\t1`).join('\n');

let service: Service;
let data: string;
beforeAll(async () => {
  service = await startModelService({ key: KEY, dimensions: 64 });
  data = folderWith({
    'corpus.jsonl': jsonl(...documents),
    'queries.jsonl': jsonl(...queries),
    'qrels/test.tsv': `query-id\tcorpus-id\tscore\n${qrels}\n`,
  });
});
afterAll(() => service.close());

const SMALL = ['--retriever', 'text-embedding-3-small', '--set', 'retriever.embedder.dimensions=64'];
const run = (cwd: string, argv: readonly string[], env: Record<string, string> = {}) =>
  runHere(argv, {
    cwd,
    env: {
      OPENAI_BASE_URL: `${service.url}/v1`,
      OPENAI_API_KEY: KEY,
      COHERE_BASE_URL: service.url,
      COHERE_API_KEY: KEY,
      ...env,
    },
  });
const sentTexts = (from: number): number =>
  service.asked.slice(from).reduce((sum, { body }) => sum + ((body as { input?: string[] }).input?.length ?? 0), 0);

describe('commands that ask services', () => {
  it('count, stop at a cap with 3, go on behind it, and search offline what is on record', async () => {
    const project = temporaryFolder();
    const start = service.asked.length;
    const index = ['docopt', 'index', '--data', data, ...SMALL, '--set', 'retriever.embedder.batchSize=8', '--json'];
    const dry = await run(project, [...index, '--dry-run']);
    const [estimate] = JSON.parse(dry.stdout).embeddings;
    expect(estimate).toMatchObject({ exact: true, recorded: 0, blank: 0 });
    expect(estimate.usd).toBeCloseTo((estimate.tokens * 0.02) / 1e6, 12);
    expect(service.asked.length).toBe(start);

    const capped = await run(project, [...index, '--max-cost', String(estimate.usd / 2)]);
    expect(capped.status).toBe(3);
    expect(JSON.parse(capped.stdout).error.code).toBe('COST_CAP');
    const paid = sentTexts(start);
    expect(paid).toBeGreaterThan(0);
    expect(paid).toBeLessThan(documents.length);

    const rest = await run(project, index);
    expect([rest.status, rest.stderr.includes(KEY)]).toEqual([0, false]);
    // Every document once over both runs, and the queries that the reranker is fitted with.
    expect(sentTexts(start)).toBe(estimate.sent);

    const search = ['docopt', 'search', TOPICS[0], '-k', '2', '--json'];
    const found = await run(project, search);
    const again = await run(project, search, { DOCOPT_OFFLINE: '1' });
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(found.stdout));
    const other = await run(project, ['docopt', 'search', 'something new', '--json'], { DOCOPT_OFFLINE: '1' });
    expect([other.status, JSON.parse(other.stdout).error.code]).toEqual([1, 'ENVIRONMENT']);
  });

  it('keep the cap of a project over commands', async () => {
    const project = temporaryFolder();
    const evaluate = [
      'docopt',
      'eval',
      '--data',
      data,
      '--split',
      'all',
      ...SMALL,
      '--set',
      'cost.projectMax=0.0003',
      '--json',
    ];
    const results = [];
    for (const prompt of ['a ', 'b ', 'c ', 'd ']) {
      results.push(await run(project, [...evaluate, '--set', `retriever.embedder.documentPrompt=${prompt}`]));
    }
    const statuses = results.map(({ status }) => status);
    expect(statuses[0]).toBe(0);
    expect(statuses.at(-1)).toBe(3);
  });

  it('name what went wrong, and never the key', async () => {
    const project = temporaryFolder();
    const wrong = await run(project, ['docopt', 'eval', '--data', data, '--split', 'all', ...SMALL], {
      OPENAI_API_KEY: 'sk-wrong-key-123456',
    });
    expect(wrong.status).toBe(1);
    expect(wrong.stderr).toMatch(/401: Incorrect API key provided: \[redacted\]/);
    const keyless = await run(project, ['docopt', 'eval', '--data', data, '--retriever', 'voyage-4'], {});
    expect([keyless.status, keyless.stderr]).toEqual([2, expect.stringMatching(/VOYAGE_API_KEY is not set/)]);
    const hosts = await run(project, [
      'docopt',
      'eval',
      '--data',
      data,
      '--split',
      'all',
      ...SMALL,
      '--set',
      'wire.hosts=api.openai.com',
    ]);
    expect([hosts.status, hosts.stderr]).toEqual([1, expect.stringMatching(/not on the list of allowed hosts/)]);
  });

  it('select with a reranker that is a service, which may fail', async () => {
    const pool = folderWith({
      'pool.json': JSON.stringify({
        query: { text: 'night sky' },
        documents: documents.slice(0, 20).map(({ _id, text }) => ({ id: _id, text })),
      }),
    });
    const select = [
      'morph',
      'select',
      '--pool',
      'pool.json',
      '--reranker',
      'cohere:rerank-v3.5',
      '-B',
      '5',
      '-k',
      '3',
      '--json',
    ];
    const { status, stdout } = await run(pool, select);
    const answer = JSON.parse(stdout);
    expect([status, answer.calls.length, answer.failed, answer.reranker]).toEqual([0, 5, [], 'cohere(rerank-v3.5)']);
    service.next({ kind: 'answer', status: 400, body: { message: 'this document is not welcome' } });
    const partial = JSON.parse((await run(pool, [...select, '--set', 'wire.cache=false'])).stdout);
    expect(partial.failed.length).toBe(1);
    expect(partial.warnings.join()).toMatch(/not welcome/);
  });
});
