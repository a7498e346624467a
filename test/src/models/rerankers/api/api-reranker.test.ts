/** Rerankers that are services: the one contract, then what services do wrong. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DocOptError } from '../../../../../src/errors.ts';
import { createReranker, type RerankerBlock } from '../../../../../src/models/rerankers/mod.ts';
import type { ModelServices } from '../../../../../src/models/services.ts';
import type { Reranker } from '../../../../../src/ports.ts';
import { createBudget, createWire, type Wire, type WireOptions } from '../../../../../src/run/wire/mod.ts';
import { memoryCache } from '../../../../../src/store/response-cache.ts';
import { rerankerContract } from '../../../../contracts/reranker.ts';
import { createFakeClock } from '../../../../support/servers/fake-clock.ts';
import { scoreOf, startModelService } from '../../../../support/servers/models.ts';
import { openAiError, type Service } from '../../../../support/servers/service.ts';

const KEY = 'co-secret-key-123456';
const server = await startModelService({ key: KEY });
afterAll(() => server.close());
const { url } = server;

const env = {
  COHERE_API_KEY: KEY,
  JINA_API_KEY: KEY,
  VOYAGE_API_KEY: KEY,
  TEI_API_KEY: KEY,
  VLLM_API_KEY: KEY,
  INFINITY_API_KEY: KEY,
  CHAT_API_KEY: KEY,
};
const BLOCKS: Readonly<Record<string, RerankerBlock>> = {
  cohere: { driver: 'cohere', model: 'rerank-v3.5', url },
  jina: { driver: 'jina', model: 'jina-reranker-v2-base-multilingual', url },
  voyage: { driver: 'voyage', model: 'rerank-2.5', url },
  tei: { driver: 'tei', url },
  'tei, logits': { driver: 'tei', url, scoreSpace: 'logit' },
  vllm: { driver: 'vllm', model: 'bge-reranker', url },
  infinity: { driver: 'infinity', model: 'bge-reranker', url },
  chat: { driver: 'chat', model: 'qwen3-reranker', url },
};

const make = (block: RerankerBlock, options: WireOptions = {}): { reranker: Reranker; wire: Wire } => {
  const wire = createWire({ clock: createFakeClock(), seed: 1, ...options });
  const services: ModelServices = { env, wire: async () => wire };
  return { reranker: createReranker(block, { services }), wire };
};

const documents = [
  { id: 'both', title: 'night sky', text: 'lamps' },
  { id: 'one', title: '', text: 'the night is long' },
  { id: 'none', title: 'cheese', text: 'and mice' },
  { id: 'odd', title: '', text: 'sky \ud800 \u0000' },
  { id: 'empty', title: '', text: ' ' },
];
const query = { id: 'q', text: 'night sky' };

for (const [name, block] of Object.entries(BLOCKS)) {
  rerankerContract({
    name,
    create: () => make(block).reranker,
    queries: [query, { id: 'r', text: 'mice \udc00' }],
    documents,
    // The logarithm there and back.
    tolerance: name.includes('logits') || name === 'chat' ? 1e-12 : 0,
  });
}

const failure = async (work: Promise<unknown>): Promise<DocOptError> => {
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(DocOptError);
  return error;
};

describe.each(Object.entries(BLOCKS))('%s', (_name, block) => {
  it('puts scores back by their index, and asks once for a pair, ever', async () => {
    const cache = memoryCache();
    const { reranker } = make(block, { cache });
    const scores = await reranker.score(query, documents);
    ['night sky lamps', 'the night is long', 'cheese and mice'].forEach((text, i) => {
      expect(scores[i]).toBeCloseTo(scoreOf('night sky', text), 9);
    });
    expect(scores[4]).toBe(0);
    const before = server.asked.filter(({ method }) => method === 'POST').length;
    expect(await make(block, { cache, offline: block.driver !== 'tei' }).reranker.score(query, documents)).toEqual(
      scores,
    );
    expect(server.asked.filter(({ method }) => method === 'POST').length).toBe(before);
  });
});

describe('a service that fails', () => {
  let own: Service;
  beforeEach(async () => {
    own = await startModelService();
  });
  afterEach(() => own.close());
  const cohere = (more: object = {}): RerankerBlock => ({
    driver: 'cohere',
    model: 'rerank-v3.5',
    url: own.url,
    ...more,
  });

  it('leaves its pairs unscored, with one warning, and is asked again for the next', async () => {
    const { reranker } = make(cohere(), { attempts: 1 });
    own.next({ kind: 'answer', status: 500, body: { message: 'internal error' } });
    expect([...(await reranker.score(query, documents.slice(0, 2)))]).toEqual([Number.NaN, Number.NaN]);
    expect(reranker.warnings).toEqual([expect.stringMatching(/answered 500: internal error/)]);
    expect((await reranker.score(query, documents.slice(0, 1)))[0]).toBeCloseTo(0.95, 9);
  });

  it('three times in a row is left alone for a while', async () => {
    const { reranker } = make(cohere(), { attempts: 1 });
    own.always({ kind: 'answer', status: 500, body: { message: 'internal error' } });
    for (const document of documents.slice(0, 4)) await reranker.score(query, [document]);
    expect(own.asked.length).toBe(3);
    expect(reranker.warnings?.at(-1)).toMatch(/3 requests in a row failed/);
  });

  it('in part: a pair without a score, with null, NaN or a text fails alone', async () => {
    const { reranker } = make(cohere());
    const change = (body: unknown) => {
      const { results } = body as { results: { index: number; relevance_score: unknown }[] };
      const of = (index: number, score: unknown) => ({
        ...results.find((one) => one.index === index)!,
        relevance_score: score,
      });
      return { results: [of(0, 0.5), of(1, null), of(2, '0.3')] };
    };
    own.next({ kind: 'spoil', change });
    expect([...(await reranker.score(query, documents.slice(0, 4)))]).toEqual([
      0.5,
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
    // A failed pair is not on record.
    expect((await reranker.score(query, documents.slice(1, 2)))[0]).toBeGreaterThan(0);
    own.next({ kind: 'answer', body: '{"results": [{"index": 0, "relevance_score": NaN}]}' });
    expect((await make(cohere()).reranker.score(query, documents.slice(0, 1)))[0]).toBeNaN();
  });

  it('numbers that cannot be trusted are no answer', async () => {
    for (const results of [
      [
        { index: 0, relevance_score: 0.1 },
        { index: 0, relevance_score: 0.2 },
      ],
      [{ index: 5, relevance_score: 0.1 }],
      [{ index: '0', relevance_score: 0.1 }],
    ]) {
      const { reranker } = make(cohere());
      own.always({ kind: 'answer', body: { results } });
      const scores = await reranker.score(query, documents.slice(0, 2));
      expect(scores.every(Number.isNaN)).toBe(true);
      expect(reranker.warnings?.join()).toMatch(/numbered a document/);
    }
  });

  it('logits where probabilities were expected fail with the remedy, and are right with it', async () => {
    own.always({
      kind: 'answer',
      body: {
        results: [
          { index: 0, relevance_score: 9.2 },
          { index: 1, relevance_score: -4.1 },
        ],
      },
    });
    const wrong = make(cohere()).reranker;
    expect([...(await wrong.score(query, documents.slice(0, 2)))]).toEqual([Number.NaN, Number.NaN]);
    expect(wrong.warnings?.[0]).toMatch(/9.2.*scoreSpace=logit/);
    const [high, low] = await make(cohere({ scoreSpace: 'logit' })).reranker.score(query, documents.slice(0, 2));
    expect(high).toBe(1 / (1 + Math.exp(-9.2)));
    expect(low).toBe(1 / (1 + Math.exp(4.1)));
  });

  it('a wrong key, model or address ends it at once, without the key in the message', async () => {
    for (const [status, body] of [
      [401, { message: `invalid api token: ${KEY}` }],
      [404, { message: "model 'rerank-x' not found" }],
    ] as const) {
      own.next({ kind: 'answer', status, body });
      const error = await failure(make(cohere()).reranker.score(query, documents));
      expect(error).toMatchObject({ code: 'UPSTREAM', status });
      expect(error.message).not.toContain(KEY);
    }
    const { reranker } = make({ driver: 'cohere', model: 'rerank-v3.5' });
    const keyless = createReranker(
      { driver: 'cohere', model: 'm' },
      { services: { env: {}, wire: async () => make(cohere()).wire } },
    );
    expect(await failure(keyless.score(query, documents))).toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/COHERE_API_KEY/),
    });
    expect(reranker.id).toBe('cohere(rerank-v3.5)');
  });

  it('halves what is refused for its size', async () => {
    const { reranker } = make(cohere());
    own.next({ kind: 'answer', status: 400, body: { message: 'too many documents' } });
    const scores = await reranker.score(query, documents.slice(0, 3));
    expect([...scores].every((score) => score > 0)).toBe(true);
    expect(own.asked.map(({ body }) => (body as { documents: string[] }).documents.length)).toEqual([3, 2, 1]);
  });

  it('is paid by the search, and a cap stops it', async () => {
    const { reranker, wire } = make(cohere(), { budget: createBudget({ maxCost: 0.005 }) });
    for (let i = 0; i < 2; i++) await reranker.score({ id: 'q', text: `night ${i}` }, documents);
    expect(wire.report().usd).toBeCloseTo(0.004, 12);
    expect(await failure(reranker.score({ id: 'q', text: 'night 3' }, documents))).toMatchObject({ code: 'COST_CAP' });
  });

  it('chat: a server without logprobs is told so; neither yes nor no is a failed pair', async () => {
    const mute = await startModelService({ noLogprobs: true });
    const block: RerankerBlock = { driver: 'chat', model: 'm', url: mute.url };
    const error = await failure(make(block).reranker.score(query, documents));
    await mute.close();
    expect(error.message).toMatch(/no logprobs/);
    own.next({
      kind: 'answer',
      body: {
        choices: [
          {
            logprobs: { content: [{ token: 'Well', logprob: -0.1, top_logprobs: [{ token: 'Well', logprob: -0.1 }] }] },
          },
        ],
      },
    });
    const { reranker } = make({ driver: 'chat', model: 'm', url: own.url });
    expect((await reranker.score(query, documents.slice(0, 1)))[0]).toBeNaN();
    own.next({ kind: 'answer', status: 400, body: openAiError('top_logprobs must be at most 5') });
    expect((await reranker.score(query, documents.slice(1, 2)))[0]).toBeNaN();
    expect(reranker.warnings?.join()).toMatch(/top_logprobs/);
    const [yes] = await reranker.score(query, documents.slice(2, 3));
    expect(yes).toBeCloseTo(0.05, 9);
    const asked = own.asked.at(-1)?.body as { max_tokens: number; messages: { content: string }[] };
    expect(asked.max_tokens).toBe(1);
    expect(asked.messages[1].content).toMatch(/<Query>: night sky\n<Document>: cheese and mice$/);
  });
});
