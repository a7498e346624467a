import { beforeAll, describe, expect, it } from 'vitest';
import { withTokenCounts } from '../../../select/commands/count-tokens.ts';
import { fittedOnPool } from '../../../select/pool.ts';
import type { SelectAnswer, SelectedEntry } from '../../../select/select.ts';
import {
  createService,
  type IndexState,
  type ServedIndex,
  type ServiceOptions,
} from '../../../select/serve/service.ts';
import { fitLsa } from '../../../src/models/embedders/mod.ts';
import type { Reranker } from '../../../src/ports.ts';
import { silentLog } from '../../../src/run/log.ts';
import { EXAMPLE_SCORES, exampleVectors } from '../../support/pools.ts';
import { scoreTableReranker } from '../../support/score-table-reranker.ts';
import { DOCUMENTS, servedIndex } from '../../support/served-index.ts';

let index: ServedIndex;
beforeAll(async () => {
  index = await servedIndex();
});

const scores = Object.fromEntries(DOCUMENTS.map(({ id }, i) => [id, ((i * 37) % 41) / 41]));

function service(changes: Partial<ServiceOptions> = {}) {
  const state: IndexState = { state: 'ready', index };
  return createService({
    version: '0.0.0',
    log: silentLog,
    index: () => state,
    rerankerFor: (documents) =>
      documents === undefined ? scoreTableReranker(scores) : scoreTableReranker(Object.fromEntries(documents.scores)),
    embed: fittedOnPool((texts) => fitLsa(texts, { dimensions: 8 })),
    budget: 6,
    capacity: 4,
    countTokens: withTokenCounts,
    poolSize: 30,
    maxBodyBytes: 20_000,
    ...changes,
  });
}

type Answer = SelectAnswer & {
  embeddings: string;
  selected: (SelectedEntry & { title: string; text: string; metadata: object })[];
};
interface SearchAnswer {
  query: string;
  results: { text: string }[];
}

async function read<T = Answer>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

function post(app: ReturnType<typeof service>, path: string, body: unknown, headers: Record<string, string> = {}) {
  return app.request(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers });
}

describe('POST /v1/select', () => {
  it('selects from the index and hands back the original documents', async () => {
    const response = await post(service(), '/v1/select', { query: { text: 'light pollution' } });
    expect(response.status).toBe(200);
    const answer = await read(response);
    expect(answer.selected).toHaveLength(4);
    expect(answer.calls).toHaveLength(6);
    expect(answer).toMatchObject({
      budget: 6,
      capacity: 4,
      selector: 'morph-hybrid',
      selectorReason: 'the default where a pool has lexical ranks',
      failed: [],
      pool: 30,
      embeddings: 'lsa',
    });
    for (const entry of answer.selected) {
      const original = DOCUMENTS.find(({ id }) => id === entry.id)!;
      // The index text ends in 'pollution'; what people get does not.
      expect(entry.text).toBe(original.text);
      expect(entry.title).toBe(original.title);
      expect(entry.metadata).toEqual(original.metadata ?? {});
      expect(entry.firstStageScore).toBeGreaterThan(0);
      if (entry.source === 'scored') expect(entry.relevanceScore).toBe(scores[entry.id]);
    }
    expect(answer.selected.map(({ rank }) => rank)).toEqual([1, 2, 3, 4]);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-type')).toMatch(/application\/json/);
  });

  it('takes budget, capacity, selector and a plain string', async () => {
    const response = await post(service(), '/v1/select', {
      query: 'light',
      budget: 2,
      capacity: 3,
      selector: 'single-stage',
      all: true,
    });
    const answer = await read(response);
    expect(answer).toMatchObject({ budget: 2, capacity: 3, selector: 'single-stage' });
    expect(answer.calls).toHaveLength(2);
    expect(answer.selected).toHaveLength(30);
    expect(answer.selected[29]).toMatchObject({ relevanceScore: null, std: null });
  });

  it("selects from the request's own documents", async () => {
    const documents = exampleVectors().map((embedding, d) => ({
      id: `d${d}`,
      text: `text ${d}`,
      metadata: { d },
      embedding,
      score: EXAMPLE_SCORES[d],
    }));
    const response = await post(service(), '/v1/select', {
      query: { embedding: [1, 0] },
      documents,
      budget: 3,
      capacity: 2,
      selector: 'boundary-morph',
    });
    const answer = await read(response);
    expect(answer.calls).toEqual(['d2', 'd1', 'd5']);
    expect(answer.selected.map(({ id }) => id)).toEqual(['d3', 'd4']);
    expect(answer.selected[0]).toMatchObject({ text: 'text 3', title: '', metadata: { d: 3 } });
    expect(answer.embeddings).toBe('given');
  });

  it('fills a capacity in tokens with documents of the index', async () => {
    const body = { query: 'light', budget: 5, capacity: { tokens: 60, fill: 'skip' } };
    const answer = await read<Answer & { tokens: number }>(await post(service(), '/v1/select', body));
    expect(answer).toMatchObject({ capacity: { tokens: 60, fill: 'skip' }, selector: 'morph-hybrid' });
    expect(answer.tokens).toBeGreaterThan(40);
    expect(answer.tokens).toBeLessThanOrEqual(60);
    expect(answer.selected.length).toBeGreaterThan(1);
  });

  it.each([
    [{ tokens: -1 }, /tokens is -1/],
    [{ fill: 'skip' }, /capacity.tokens/],
    [{ tokens: 5, fill: 'best' }, /capacity.fill/],
    [{ tokens: 5, documents: 3 }, /capacity.documents/],
  ])('refuses the capacity %j', async (capacity, message) => {
    const response = await post(service(), '/v1/select', { query: 'light', capacity });
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toMatch(message);
  });

  it('embeds documents that come without embeddings, and says so', async () => {
    const documents = DOCUMENTS.slice(0, 12).map(({ id, text }) => ({ id, text, score: 0.5 }));
    const answer = await read(await post(service(), '/v1/select', { query: 'moth light', documents }));
    expect(answer.embeddings).toMatch(/^lsa.*, fitted on the pool$/);
    expect(answer.selected).toHaveLength(4);
  });

  it('serves requests at once, each with its own answer', async () => {
    const app = service({ rerankerFor: () => scoreTableReranker(scores, 2) });
    const queries = ['light', 'moth', 'bird sky', 'turtle beach'];
    const alone = [];
    for (const query of queries) alone.push((await read(await post(app, '/v1/select', { query }))).calls);
    const together = await Promise.all(
      [...queries, ...queries].map(async (query) => (await read(await post(app, '/v1/select', { query }))).calls),
    );
    expect(together).toEqual([...alone, ...alone]);
    expect(new Set(alone.map((calls) => calls.join())).size).toBeGreaterThan(1);
  });

  it('answers at the deadline from what it knows', async () => {
    const app = service({ rerankerFor: () => scoreTableReranker(scores, 60) });
    const answer = await read(await post(app, '/v1/select', { query: 'light', budget: 20, deadlineMs: 150 }));
    expect(answer.calls.length).toBeLessThan(10);
    expect(answer.unanswered).toHaveLength(1);
    expect(answer.selected).toHaveLength(4);
  });

  it('keeps failed pairs apart', async () => {
    const answer = await read(
      await post(service({ rerankerFor: () => scoreTableReranker({}) }), '/v1/select', { query: 'light' }),
    );
    expect(answer.failed).toEqual(answer.calls);
    expect(answer.warnings[0]).toMatch(/All 6 reranker calls failed/);
  });

  it('says in its answer what is known against its reranker', async () => {
    const app = service({ rerankerFor: () => ({ ...scoreTableReranker(scores), warnings: ['worse than nothing'] }) });
    expect((await read(await post(app, '/v1/select', { query: 'light' }))).warnings).toEqual(['worse than nothing']);
  });

  it('stops when the caller goes away', async () => {
    let asked = 0;
    const slow: Reranker = {
      id: 'slow',
      async score(_query, documents) {
        asked++;
        await new Promise((resolve) => setTimeout(resolve, 10));
        return Float64Array.from(documents, () => 0.5);
      },
    };
    const controller = new AbortController();
    const request = new Request('http://localhost/v1/select', {
      method: 'POST',
      body: JSON.stringify({ query: 'light', budget: 30 }),
      signal: controller.signal,
    });
    const answer = service({ rerankerFor: () => slow }).request(request);
    setTimeout(() => controller.abort(), 50);
    expect((await answer).status).toBe(503);
    expect(asked).toBeLessThan(15);
  });
});

describe('POST /v1/search', () => {
  it('answers like docopt search, with originals', async () => {
    const response = await post(service(), '/v1/search', { query: 'turtle', k: 2 });
    expect(response.status).toBe(200);
    const answer = await read<SearchAnswer>(response);
    expect(answer.query).toBe('turtle');
    expect(answer.results).toHaveLength(2);
    expect(answer.results[0]).toMatchObject({ rank: 1, score: expect.any(Number) });
    expect(answer.results[0].text).toMatch(/turtle/);
    expect(answer.results[0].text).not.toMatch(/pollution/);
  });
});

describe('bad requests', () => {
  const cases: [string, string, unknown, number, string, RegExp][] = [
    ['/v1/select', 'no JSON', '{"query": ', 400, 'USAGE', /not JSON/],
    ['/v1/select', 'an empty body', '', 400, 'USAGE', /not JSON/],
    ['/v1/select', 'a list', [], 400, 'USAGE', /not an object/],
    ['/v1/select', 'no query', {}, 400, 'DATA', /'query' is missing/],
    [
      '/v1/select',
      'an unknown key',
      { query: 'x', budgett: 3 },
      400,
      'USAGE',
      /unknown key 'budgett'. Did you mean 'budget'\?/,
    ],
    [
      '/v1/select',
      'a negative budget',
      { query: 'x', budget: -1 },
      400,
      'USAGE',
      /budget is -1, expected a whole number/,
    ],
    ['/v1/select', 'a text budget', { query: 'x', budget: '5' }, 400, 'USAGE', /budget is "5"/],
    ['/v1/select', 'a huge capacity', { query: 'x', capacity: 1e9 }, 400, 'USAGE', /capacity is 1000000000/],
    ['/v1/select', 'a long query', { query: 'x'.repeat(10_001) }, 400, 'USAGE', /10001 characters/],
    ['/v1/select', 'an unknown selector', { query: 'x', selector: 'bogus' }, 400, 'USAGE', /no selector 'bogus'/],
    ['/v1/select', 'only an embedding', { query: { embedding: [1] } }, 400, 'USAGE', /query.text is missing/],
    [
      '/v1/select',
      'an embedding of another width',
      { query: { text: 'light', embedding: [1, 2] } },
      400,
      'DATA',
      /embedding has 2 numbers/,
    ],
    [
      '/v1/select',
      'duplicate documents',
      {
        query: 'x',
        documents: [
          { id: 'a', text: 'b' },
          { id: 'a', text: 'c' },
        ],
      },
      400,
      'DATA',
      /has the id of documents\[0\]/,
    ],
    [
      '/v1/select',
      'a document with an unknown key',
      { query: 'x', documents: [{ id: 'a', txt: 'b' }] },
      400,
      'USAGE',
      /Did you mean 'text'/,
    ],
    [
      '/v1/select',
      'a body beyond the limit',
      { query: 'x', documents: [{ id: 'a', text: 'b'.repeat(30_000) }] },
      413,
      'TOO_LARGE',
      /larger than 20000 bytes/,
    ],
    ['/v1/search', 'k = 0', { query: 'x', k: 0 }, 400, 'USAGE', /k is 0/],
    ['/v1/search', 'a key of the other route', { query: 'x', budget: 1 }, 400, 'USAGE', /unknown key 'budget'/],
    ['/v1/nothing', 'no such route', {}, 404, 'NOT_FOUND', /There is no \/v1\/nothing/],
    ['/healthz', 'the wrong method', {}, 405, 'USAGE', /\/healthz takes GET/],
  ];
  it.each(cases)('%s: %s', async (path, _what, body, status, code, message) => {
    const response = await post(service(), path, body);
    expect(response.status).toBe(status);
    const { error, ...rest } = await read<{ error: unknown }>(response);
    expect(rest).toEqual({});
    expect(error).toEqual({ code, message: expect.stringMatching(message), hint: expect.any(String) });
  });

  it('counts the bytes of a body that does not tell its length', async () => {
    const chunk = new TextEncoder().encode('x'.repeat(1000));
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent++;
        if (sent > 1000) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const request = new Request('http://localhost/v1/select', { method: 'POST', body, duplex: 'half' } as RequestInit);
    const response = await service().request(request);
    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(50);
  });

  it('tells the log what broke and the caller that something did', async () => {
    const lines: string[] = [];
    const log = { ...silentLog, warn: (line: string) => lines.push(line) };
    const broken: Reranker = { id: 'broken', score: () => Promise.reject(new TypeError('secret detail')) };
    const response = await post(service({ log, rerankerFor: () => broken }), '/v1/select', { query: 'light' });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toMatch(/secret detail/);
    expect(lines.join()).toMatch(/secret detail/);
  });

  it('refuses an unknown default selector at once', () => {
    expect(() => service({ selector: 'bogus' })).toThrow(/no selector 'bogus'/);
  });
});

describe('with an API key', () => {
  const key = 'a-long-enough-key';

  it('asks for the bearer token everywhere but at the health checks', async () => {
    const app = service({ apiKey: key });
    expect((await app.request('/healthz')).status).toBe(200);
    expect((await app.request('/readyz')).status).toBe(200);
    for (const path of ['/metrics', '/v1/info', '/nowhere']) expect((await app.request(path)).status).toBe(401);
    for (const authorization of [
      '',
      'Bearer',
      'Bearer wrong',
      `Basic ${key}`,
      key,
      `Bearer ${key}x`,
      `Bearer ${key.slice(1)}`,
    ]) {
      const response = await post(app, '/v1/select', { query: 'light' }, { authorization });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      const text = await response.text();
      expect(JSON.parse(text).error.code).toBe('UNAUTHORIZED');
      expect(text).not.toContain(key);
    }
    const good = await post(app, '/v1/select', { query: 'light' }, { authorization: `Bearer ${key}` });
    expect(good.status).toBe(200);
    expect((await app.request('/metrics', { headers: { authorization: `bearer ${key}` } })).status).toBe(200);
  });

  it('does not read the body of strangers', async () => {
    const response = await post(service({ apiKey: key }), '/v1/select', 'x'.repeat(30_000));
    expect(response.status).toBe(401);
  });
});

describe('health and metrics', () => {
  it('is alive while it is not ready', async () => {
    let state: IndexState = { state: 'loading' };
    const app = service({ index: () => state });
    expect((await app.request('/healthz')).status).toBe(200);
    const waiting = await app.request('/readyz');
    expect(waiting.status).toBe(503);
    expect(await waiting.json()).toMatchObject({ ready: false, error: { code: 'NOT_READY' } });
    const early = await post(app, '/v1/select', { query: 'light' });
    expect(early.status).toBe(503);
    expect(early.headers.get('retry-after')).toBe('2');
    state = { state: 'ready', index };
    expect((await post(app, '/v1/select', { query: 'light' })).status).toBe(200);
  });

  it('without an index serves requests that bring their documents', async () => {
    const app = service({ index: () => ({ state: 'none' }) });
    expect((await app.request('/readyz')).status).toBe(200);
    expect((await post(app, '/v1/select', { query: 'light' })).status).toBe(503);
    const documents = [{ id: 'a', text: 'light', score: 0.9 }];
    expect((await post(app, '/v1/select', { query: 'light', documents })).status).toBe(200);
  });

  it('reports the manifest chain and the defaults', async () => {
    const chain = [
      { kind: 'index', fingerprint: 'abc' },
      { kind: 'corpus', fingerprint: 'def' },
    ];
    expect(await (await service().request('/readyz')).json()).toEqual({ ready: true, chain });
    expect(await (await service().request('/v1/info')).json()).toMatchObject({
      chain,
      documents: 40,
      retriever: 'bm25',
      selector: 'morph-hybrid where a pool has lexical ranks, else dense-log',
      budget: 6,
      capacity: 4,
      pool: 30,
    });
  });

  it('counts requests, latency and calls in the Prometheus format', async () => {
    const app = service();
    await post(app, '/v1/select', { query: 'light' });
    await post(app, '/v1/select', { query: '' });
    await app.request('/evil"path');
    const response = await app.request('/metrics');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0.0.4/);
    const text = await response.text();
    expect(text).toContain('morph_requests_total{route="/v1/select",status="200"} 1\n');
    expect(text).toContain('morph_requests_total{route="/v1/select",status="400"} 1\n');
    expect(text).toContain('morph_requests_total{route="other",status="404"} 1\n');
    expect(text).toContain('morph_request_seconds_count{route="/v1/select"} 2\n');
    expect(text).toContain('morph_reranker_calls_total 6\n');
    expect(text).toContain('morph_index_documents 40\n');
    expect(text).toContain('morph_requests_in_flight 1\n');
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^(# (HELP|TYPE) morph_\w+ .+|morph_\w+(\{[^}]*\})? [0-9.e+-]+)$/);
    }
  });
});
