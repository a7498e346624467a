import { beforeEach, describe, expect, it } from 'vitest';
import type { DocOptError } from '../../../../../src/errors.ts';
import { apiEmbedder } from '../../../../../src/models/embedders/api/api-embedder.ts';
import type { ApiEmbedderOptions } from '../../../../../src/models/embedders/api/options.ts';
import type { ModelServices } from '../../../../../src/models/services.ts';
import type { Embedder } from '../../../../../src/ports.ts';
import { createBudget, createWire, type Wire } from '../../../../../src/run/wire/mod.ts';
import { memoryCache, type ResponseCache } from '../../../../../src/store/response-cache.ts';
import { createFakeClock } from '../../../../support/servers/fake-clock.ts';
import { type ModelServiceOptions, startModelService, vectorOf } from '../../../../support/servers/models.ts';
import { openAiError, type Service } from '../../../../support/servers/service.ts';

const services: Service[] = [];
beforeEach(() => async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
});

const KEY = 'sk-test-key-123456';

interface Setup {
  readonly embedder: Embedder;
  readonly service: Service;
  readonly wire: Wire;
}

async function setUp(
  options: Partial<ApiEmbedderOptions> = {},
  server: ModelServiceOptions = {},
  more: { cache?: ResponseCache; maxCost?: number; service?: Service; warnings?: string[]; attempts?: number } = {},
): Promise<Setup> {
  const service = more.service ?? (await startModelService({ dimensions: 32, key: KEY, ...server }));
  if (more.service === undefined) services.push(service);
  const budget = createBudget({ maxCost: more.maxCost });
  const wire = createWire({ cache: more.cache, budget, clock: createFakeClock(), seed: 1, attempts: more.attempts });
  const driver = options.driver ?? 'openai';
  const block: ApiEmbedderOptions = {
    driver,
    ...(driver === 'tei' ? {} : { model: 'm' }),
    url: driver === 'openai' ? `${service.url}/v1` : service.url,
    ...options,
  };
  const env = { OPENAI_API_KEY: KEY, COHERE_API_KEY: KEY, VOYAGE_API_KEY: KEY, JINA_API_KEY: KEY, TEI_API_KEY: KEY };
  const log = {
    info: () => {},
    debug: () => {},
    warn: (m: string) => void more.warnings?.push(m),
    progress: () => ({ tick() {}, end() {} }),
  };
  const context: ModelServices = { env, wire: async () => wire, log };
  return { embedder: await apiEmbedder(block, context).load(), service, wire };
}

const embeddings = (service: Service) => service.asked.filter(({ method }) => method === 'POST');
const row = (matrix: { data: ArrayLike<number>; columns: number }, i: number): number[] =>
  Array.from({ length: matrix.columns }, (_, j) => matrix.data[i * matrix.columns + j]);
const failure = async (work: Promise<unknown>): Promise<DocOptError> =>
  work.then(
    () => expect.unreachable('it should have failed'),
    (error) => error,
  );

const DRIVERS: readonly [name: string, options: Partial<ApiEmbedderOptions>, server?: ModelServiceOptions][] = [
  ['openai, base64', { driver: 'openai' }],
  ['openai, float', { driver: 'openai', encoding: 'float' }],
  ['openai, a server that knows no base64', { driver: 'openai' }, { floatsOnly: true }],
  ['cohere', { driver: 'cohere' }],
  ['voyage', { driver: 'voyage' }],
  ['jina', { driver: 'jina' }],
  ['tei', { driver: 'tei' }],
];

describe.each(DRIVERS)('embedder %s', (_, options, server) => {
  it('answers one unit row per text, equal texts alike, blank ones zeros, and never sends those', async () => {
    const { embedder, service } = await setUp(options, server);
    expect(embedder.dimensions).toBe(32);
    const matrix = await embedder.embed(['one cat', '', 'two dogs', 'one cat', ' \n '], 'document');
    expect([matrix.rows, matrix.columns]).toEqual([5, 32]);
    for (const [i, text] of ['one cat', undefined, 'two dogs', 'one cat', undefined].entries()) {
      const expected = text === undefined ? new Float32Array(32) : vectorOf(text, 32);
      row(matrix, i).forEach((value, j) => {
        expect(value).toBeCloseTo(expected[j], 6);
      });
    }
    const bodies = JSON.stringify(embeddings(service).map(({ body }) => body));
    expect(bodies).not.toMatch(/""|" \\n "/);
    expect(bodies.split('one cat').length - 1).toBe(1);
  });

  it('is asked once for a text, ever', async () => {
    const cache = memoryCache();
    const { embedder, service } = await setUp(options, server, { cache });
    const first = await embedder.embed(['one cat', 'two dogs'], 'document');
    const sent = embeddings(service).length;
    const again = await setUp(options, server, { cache, service });
    expect(await again.embedder.embed(['two dogs', 'one cat'], 'document')).toMatchObject({
      data: Float32Array.from([...row(first, 1), ...row(first, 0)]),
    });
    expect(embeddings(service).length).toBe(sent);
  });

  it('takes the answers to more than one request apart again', async () => {
    const { embedder, service } = await setUp({ ...options, batchSize: 7 }, server);
    const texts = Array.from({ length: 40 }, (_, i) => `text number ${i}`);
    const matrix = await embedder.embed(texts, 'document');
    texts.forEach((text, i) => {
      expect(row(matrix, i)[3]).toBeCloseTo(vectorOf(text, 32)[3], 6);
    });
    expect(embeddings(service).length).toBeGreaterThanOrEqual(6);
  });
});

describe('vectors that are none', () => {
  const spoiled: readonly [
    what: string,
    change: (data: { index: number; embedding: unknown }[]) => unknown,
    message: RegExp,
  ][] = [
    [
      'another width',
      (d) => [d[0], { ...d[1], embedding: [1, 2, 3] }],
      /3 dimensions for input 2 of 2, "two dogs" where 32/,
    ],
    ['null for a vector', (d) => [d[0], { ...d[1], embedding: null }], /no vector for input 2 of 2, "two dogs"/],
    [
      'null inside',
      (d) => [{ ...d[0], embedding: Array(32).fill(null) }, d[1]],
      /null at dimension 0 for input 1 of 2, "one cat"/,
    ],
    ['zeros', (d) => [d[0], { ...d[1], embedding: Array(32).fill(0) }], /length 0 for input 2/],
    ['huge values', (d) => [d[0], { ...d[1], embedding: Array(32).fill(1e300) }], /length Infinity for input 2/],
    [
      'NaN in base64',
      (d) => [
        d[0],
        { ...d[1], embedding: Buffer.from(new Float32Array(32).fill(Number.NaN).buffer).toString('base64') },
      ],
      /NaN at dimension 0 for input 2/,
    ],
    ['texts', (d) => [d[0], { ...d[1], embedding: 'not base64 at all!' }], /no vector for input 2/],
    ['one missing', (d) => [d[0]], /1 vectors for 2 texts/],
    ['one too many', (d) => [...d, { ...d[1], index: 2 }], /3 vectors for 2 texts/],
    ['an index twice', (d) => [d[0], { ...d[1], index: 0 }], /twice for input 1/],
    ['an index outside', (d) => [d[0], { ...d[1], index: 7 }], /numbered a vector 7 among 2/],
    ['no list', () => 'nothing', /0 vectors for 2 texts/],
  ];

  it.each(spoiled)('%s is an error that says which, and nothing of it is kept', async (_, change, message) => {
    const { embedder, service } = await setUp();
    const spoil = (body: unknown) => ({ ...(body as object), data: change((body as { data: never }).data) });
    service.next({ kind: 'spoil', change: spoil });
    const error = await failure(embedder.embed(['one cat', 'two dogs'], 'document'));
    expect(error).toMatchObject({ code: 'UPSTREAM' });
    expect(error.message).toMatch(message);
    expect((await embedder.embed(['one cat', 'two dogs'], 'document')).rows).toBe(2);
    expect(embeddings(service).at(-1)?.body).toMatchObject({ input: ['one cat', 'two dogs'] });
  });

  it('a bare NaN in the JSON names its text', async () => {
    const { embedder, service } = await setUp({ encoding: 'float' }, { floatsOnly: true });
    const body = `{"data": [{"index": 0, "embedding": [${Array(32).fill('NaN').join(',')}]}]}`;
    service.next({ kind: 'answer', body });
    expect((await failure(embedder.embed(['one cat'], 'query'))).message).toMatch(
      /null at dimension 0 for input 1 of 1, "one cat"/,
    );
  });

  it('answers in another order are put back by their index', async () => {
    const { embedder, service } = await setUp();
    service.next({
      kind: 'spoil',
      change: (body) => ({ ...(body as object), data: (body as { data: unknown[] }).data.toReversed() }),
    });
    const matrix = await embedder.embed(['one cat', 'two dogs', 'three birds'], 'document');
    expect(row(matrix, 2)[0]).toBeCloseTo(vectorOf('three birds', 32)[0], 6);
  });
});

describe('limits', () => {
  it('halves a request that is too large for the server, and remembers', async () => {
    const { embedder, service } = await setUp({}, { maxInputs: 5 });
    const texts = Array.from({ length: 32 }, (_, i) => `text ${i}`);
    await embedder.embed(texts, 'document');
    const first = embeddings(service).length;
    await embedder.embed(
      texts.map((text) => `another ${text}`),
      'document',
    );
    const sizes = embeddings(service)
      .slice(first)
      .map(({ body }) => (body as { input: string[] }).input.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(5);
  });

  it('sends what is too large once, and packs the rest by what that taught', async () => {
    const { embedder, service } = await setUp({ batchSize: 64 }, { maxInputs: 5 });
    const texts = Array.from({ length: 500 }, (_, i) => `text ${i}`);
    const { data } = await embedder.embed(texts, 'document');
    expect(data.subarray(499 * 32)).toEqual(vectorOf('text 499', 32));
    const sizes = embeddings(service).map(({ body }) => (body as { input: string[] }).input.length);
    // One for the width, then 64, 32, 16 and 8 refused, then fours and no others.
    expect(sizes.filter((size) => size > 5)).toEqual([64, 32, 16, 8]);
    expect(sizes.length).toBe(1 + 4 + 500 / 4);
  });

  it('a refusal that has nothing to do with size is not asked again in halves', async () => {
    const { embedder, service } = await setUp();
    service.always({
      kind: 'answer',
      status: 404,
      body: openAiError('The model `m` does not exist', 'model_not_found'),
    });
    const before = service.asked.length;
    expect((await failure(embedder.embed(['a', 'b', 'c'], 'document'))).message).toMatch(
      /404: The model `m` does not exist/,
    );
    expect(service.asked.length - before).toBe(1);
  });

  it('a text that the server will not take is named', async () => {
    const { embedder, service } = await setUp();
    service.always({
      kind: 'answer',
      status: 400,
      body: openAiError("This model's maximum context length is 512 tokens"),
    });
    const error = await failure(embedder.embed(['one', 'two'], 'document'));
    expect(error.message).toMatch(/maximum context length.*for the text "one"/);
  });

  it('cuts long texts by tokens, or splits and averages them, and says so once', async () => {
    const long = 'word '.repeat(50).trim();
    const warnings: string[] = [];
    const cut = await setUp({ maxTokens: 8 }, {}, { warnings });
    await cut.embedder.embed([long, `${long} more`], 'document');
    expect(embeddings(cut.service).at(-1)?.body).toMatchObject({ input: ['word word word word word word word word'] });
    expect(warnings).toHaveLength(1);
    const split = await setUp({ maxTokens: 3, overlong: 'split' });
    const matrix = await split.embedder.embed(['red green blue yellow'], 'document');
    expect(embeddings(split.service).at(-1)?.body).toMatchObject({ input: ['red green blue', ' yellow'] });
    const [a, b] = [vectorOf('red green blue', 32), vectorOf(' yellow', 32)];
    const sum = Array.from(a, (value, j) => value * 3 + b[j]);
    const norm = Math.hypot(...sum);
    row(matrix, 0).forEach((value, j) => {
      expect(value).toBeCloseTo(sum[j] / norm, 6);
    });
  });

  it('packs by tokens and by count', async () => {
    const { embedder, service } = await setUp();
    const texts = Array.from({ length: 60 }, (_, i) => `${i} ${'lorem ipsum dolor sit amet '.repeat(1200)}`);
    await embedder.embed(texts, 'document');
    const sizes = embeddings(service)
      .slice(1)
      .map(({ body }) => (body as { input: string[] }).input.length);
    // About 6,000 tokens each, at most 300,000 a request.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(60);
    expect(sizes.length).toBe(2);
  });
});

describe('settings', () => {
  it("send the width only when it is not the model's own", async () => {
    const small = { model: 'text-embedding-3-small' };
    const own = await setUp({ ...small, dimensions: 1536 }, { dimensions: undefined });
    await own.embedder.embed(['x'], 'query');
    expect(own.service.asked.at(-1)?.body).not.toHaveProperty('dimensions');
    const other = await setUp({ ...small, dimensions: 48 });
    expect((await other.embedder.embed(['x'], 'query')).columns).toBe(48);
    expect(other.service.asked.at(-1)?.body).toMatchObject({ dimensions: 48, model: 'text-embedding-3-small' });
  });

  it('tell queries from documents as each service has it', async () => {
    const asked = async (
      options: Partial<ApiEmbedderOptions>,
      role: 'query' | 'document',
      server: ModelServiceOptions = {},
    ) => {
      const { embedder, service } = await setUp(options, server);
      await embedder.embed(['x'], role);
      return service.asked.at(-1)?.body;
    };
    expect(await asked({ driver: 'cohere' }, 'query')).toMatchObject({ input_type: 'search_query', texts: ['x'] });
    expect(await asked({ driver: 'cohere' }, 'document')).toMatchObject({ input_type: 'search_document' });
    expect(await asked({ driver: 'voyage' }, 'query')).toMatchObject({ input_type: 'query' });
    expect(await asked({ driver: 'jina' }, 'document')).toMatchObject({ task: 'retrieval.passage' });
    expect(
      await asked({ driver: 'jina', model: 'jina-embeddings-v2-base-en' }, 'document', { dimensions: 768 }),
    ).not.toHaveProperty('task');
    expect(await asked({ queryPrompt: 'query: ' }, 'query')).toMatchObject({ input: ['query: x'] });
    expect(await asked({ queryPrompt: 'query: ' }, 'document')).toMatchObject({ input: ['x'] });
  });

  it('empty texts are skipped, stand for a placeholder, or are an error', async () => {
    const placeholder = await setUp({ emptyTexts: 'placeholder' });
    await placeholder.embedder.embed(['', 'x'], 'document');
    expect(placeholder.service.asked.at(-1)?.body).toMatchObject({ input: ['[empty]', 'x'] });
    const strict = await setUp({ emptyTexts: 'error' });
    expect(await failure(strict.embedder.embed(['x', ''], 'document'))).toMatchObject({
      code: 'DATA',
      message: expect.stringMatching(/text 2 of 2 is empty/),
    });
  });

  it('half characters and special tokens are text like any other', async () => {
    const { embedder, service } = await setUp();
    await embedder.embed(['a \ud800 b', '<|endoftext|>'], 'document');
    expect(service.asked.at(-1)?.body).toMatchObject({ input: ['a \ufffd b', '<|endoftext|>'] });
  });

  it('a wrong key is one error without the key, after one request', async () => {
    const error = await failure(setUp({ authFrom: 'COHERE_API_KEY' }, { key: 'another' }));
    expect(error.message).toMatch(/401: Incorrect API key provided: \[redacted\]/);
  });
});

describe('money', () => {
  it('stops before the cap, keeps what was paid for, and goes on with more', async () => {
    const cache = memoryCache();
    const small = { model: 'text-embedding-3-small', dimensions: 32, batchSize: 10 };
    const texts = Array.from({ length: 100 }, (_, i) => `document ${i} `.repeat(100));
    // About 300 tokens each, $0.02 a million: all of it is about $0.0006.
    const first = await setUp(small, {}, { cache, maxCost: 0.0003 });
    const error = await failure(first.embedder.embed(texts, 'document'));
    expect(error).toMatchObject({ code: 'COST_CAP', exitStatus: 3 });
    expect(first.wire.report().usd).toBeLessThanOrEqual(0.0003);
    const answered = first.service.asked.length;
    expect(answered).toBeGreaterThan(2);
    const second = await setUp(small, {}, { cache, service: first.service });
    await second.embedder.embed(texts, 'document');
    expect(first.service.asked.length).toBe(10);
  });

  it('a cap on a model without a price is refused', async () => {
    const error = await failure(setUp({}, {}, { maxCost: 1 }));
    expect(error).toMatchObject({ code: 'CONFIG', hint: expect.stringMatching(/--price/) });
  });
});
