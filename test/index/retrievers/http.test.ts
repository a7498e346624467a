import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRetriever } from '../../../index/mod.ts';
import { expandShortForm } from '../../../src/config/specs.ts';
import { arrayCorpus } from '../../../src/data/mod.ts';
import type { ModelServices } from '../../../src/models/services.ts';
import { createWire } from '../../../src/run/wire/mod.ts';
import { trainOptions } from '../../../train/options.ts';
import { createRewarder } from '../../../train/reward.ts';
import { trainingQueries } from '../../../train/training-queries.ts';
import { createFakeClock } from '../../support/servers/fake-clock.ts';
import { type Service, startService } from '../../support/servers/service.ts';

// @ts-expect-error A plain JavaScript file, as its users copy it.
const { createServer } = (await import('../../../examples/http-retriever/server.mjs')) as { createServer(): Server };
const server = createServer();
/** What goes through to the reference server, with faults in between. */
let proxy: Service;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const behind = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy = await startService(async ({ method, path, body }) => {
    const hasBody = method === 'PUT' || method === 'POST';
    const response = await fetch(`${behind}${path}`, { method, body: hasBody ? JSON.stringify(body) : undefined });
    return { status: response.status, body: await response.json() };
  });
});
afterAll(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
});

const services: ModelServices = { env: {}, wire: async () => createWire({ clock: createFakeClock(), attempts: 1 }) };
const corpus = arrayCorpus(
  ['night sky lamps', 'the night is long', 'cheese and mice', ''].map((text, i) => ({ id: `d${i}`, title: '', text })),
);
const retriever = (more: object = {}) => createRetriever({ driver: 'http', url: proxy.url, ...more }, services);
const query = (text: string) => ({ id: text, text });

describe('a black box behind HTTP', () => {
  it('is named by its address', () => {
    const block = { driver: 'http', url: 'http://localhost:8900/x' };
    expect(expandShortForm('retriever', 'http:http://localhost:8900/x')).toEqual(block);
    expect(expandShortForm('retriever', 'http://localhost:8900/x')).toEqual(block);
    expect(expandShortForm('retriever', 'https://example.com')).toEqual({ driver: 'http', url: 'https://example.com' });
  });

  it('is sent a collection once, and answers ranks', async () => {
    const index = await retriever().build(corpus);
    const [ranking] = await index.search([query('night sky')], 10);
    expect(ranking.ids).toEqual(['d0', 'd1']);
    expect([...ranking.scores]).toEqual([-1, -2]);
    const puts = proxy.asked.filter(({ method }) => method === 'PUT').length;
    await retriever().build(corpus);
    expect(proxy.asked.filter(({ method }) => method === 'PUT').length).toBe(puts);
    const { data } = await index.similarities([query('night')], ['d1', 'd3']);
    expect(data[0]).toBeLessThan(0);
    expect(data[0]).toBeGreaterThanOrEqual(-2);
    expect(data[1]).toBe(-1001);
  });

  it('swaps on a shadow, and makes a new one when a swap broke in its middle', async () => {
    const index = await retriever().build(corpus);
    const swap = [{ id: 'd2', text: 'night night night sky' }];
    const queries = [[query('night sky')]];
    const [[before]] = await index.searchReplacing(swap, queries, 5);
    expect(before.ids).toContain('d2');
    const touched = proxy.asked.filter(({ method, path }) => method === 'PUT' && path.includes('/documents/'));
    expect(touched.length).toBeGreaterThan(0);
    for (const { path } of touched) expect(path).toContain('-shadow/');
    // The search after the swap fails: the shadow is left with another text in it.
    const faulty = index.searchReplacing(swap, queries, 5);
    proxy.next({ kind: 'spoil', change: (body) => body }, { kind: 'answer', status: 500, body: { error: 'crash' } });
    await expect(faulty).rejects.toThrow(/500: crash/);
    const [[plain]] = await index.searchReplacing([{ id: 'd1', text: 'owls' }], queries, 5);
    expect(plain.ids).toEqual(['d0']);
    expect(await index.searchReplacing(swap, queries, 5)).toEqual([[before]]);
  });

  it('of somebody else is searched and never written to', async () => {
    await retriever().build(corpus);
    const name = decodeURIComponent(
      proxy.asked.find(({ path }) => path.startsWith('/indexes/docopt-'))!.path.split('/')[2],
    );
    const writes = () => proxy.asked.filter(({ method }) => method === 'PUT' || method === 'DELETE').length;
    const before = writes();
    // Of three documents the second is not in our data.
    const own = arrayCorpus([0, 2].map((i) => ({ id: `d${i}`, title: '', text: 'x' })));
    const index = await retriever({ index: name }).build(own);
    const [ranking] = await index.search([query('night sky mice')], 10);
    expect([...ranking.ids].sort()).toEqual(['d0', 'd2']);
    await expect(index.searchReplacing([{ id: 'd0', text: 'y' }], [[query('night')]], 5)).rejects.toThrow(
      /only searched/,
    );
    expect(writes()).toBe(before);
  });

  it.each([
    [{ rankings: [] }, /1 queries with 0 rankings/],
    [{ results: 1 }, /with no rankings/],
    [{ rankings: [[1, 2]] }, /something else than a list of ids/],
    [{ rankings: [['d0', 'd0']] }, /lists a document twice/],
  ])('that answers %j is told what is wrong', async (body, message) => {
    const index = await retriever().build(corpus);
    proxy.next({ kind: 'answer', body });
    await expect(index.search([query('night')], 3)).rejects.toThrow(message);
  });

  it('gives no similarity reward', async () => {
    const index = await retriever().build(corpus);
    const queries = [query('night'), query('mice')];
    const qrels = new Map([
      ['night', new Map([['d0', 1]])],
      ['mice', new Map([['d2', 1]])],
    ]);
    const training = trainingQueries(corpus, queries, qrels, ['night', 'mice'], 5);
    const make = (reward: 'ranking' | 'similarity') =>
      createRewarder(index, corpus, training, { ...trainOptions('edit', {}), reward }, 0);
    await expect(make('similarity')).rejects.toThrow(/ranks and no similarities/);
    const [{ rewards }] = await (await make('ranking')).reward([
      { document: 2, texts: ['nothing', corpus.indexText(2)] },
    ]);
    expect(rewards[0]).toBeLessThan(0);
    expect(rewards[1]).toBe(0);
  });
});
