import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DocOptError } from '../../../../src/errors.ts';
import { floatToHalf, halfToFloat } from '../../../../src/kernels/float16.ts';
import { type ApiTokenEmbedderOptions, apiTokenEmbedder } from '../../../../src/models/token-embedders/api.ts';
import type { TokenEmbedder } from '../../../../src/ports.ts';
import { createBudget, createWire } from '../../../../src/run/wire/mod.ts';
import { memoryCache, type ResponseCache } from '../../../../src/store/response-cache.ts';
import { createFakeClock } from '../../../support/servers/fake-clock.ts';
import { startModelService, vectorOf } from '../../../support/servers/models.ts';
import type { Service } from '../../../support/servers/service.ts';

const WIDTH = 16;
let service: Service;
beforeAll(async () => {
  service = await startModelService({ dimensions: WIDTH, maxInputs: 4 });
});
afterAll(() => service.close());

const JINA = { driver: 'jina', model: 'jina-colbert-v2' } as const;
const TEI = { driver: 'tei' } as const;

async function opened(
  options: Pick<ApiTokenEmbedderOptions, 'driver'> & Partial<ApiTokenEmbedderOptions>,
  more: { cache?: ResponseCache; maxCost?: number; price?: { input: number; output: number } } = {},
): Promise<TokenEmbedder> {
  const budget = createBudget({ maxCost: more.maxCost });
  const wire = createWire({ cache: more.cache, price: more.price, budget, clock: createFakeClock(), attempts: 1 });
  const services = { env: { JINA_API_KEY: 'k' }, wire: async () => wire };
  return apiTokenEmbedder({ url: service.url, ...options }, services).load();
}

const posts = () => service.asked.filter(({ method }) => method === 'POST');
const inHalves = (vector: Float32Array) => vector.map((value) => halfToFloat(floatToHalf(value)));
const failure = async (work: Promise<unknown>): Promise<DocOptError> =>
  work.then(
    () => expect.unreachable('it should have failed'),
    (error) => error,
  );

describe.each([TEI, JINA])('token embedder $driver', (options) => {
  it('answers one unit vector per token, in half precision, and nothing for a blank text', async () => {
    const embedder = await opened(options);
    expect(embedder.dimensions).toBe(WIDTH);
    const [cats, blank, long] = await embedder.embedTokens(['cats', '  ', 'cats chase mice'], 'query');
    expect([cats.rows, blank.rows, long.rows]).toEqual([3, 0, 5]);
    expect([cats.columns, blank.columns]).toEqual([WIDTH, WIDTH]);
    expect(cats.data.subarray(WIDTH, 2 * WIDTH)).toEqual(inHalves(vectorOf('cats', WIDTH)));
    expect(long.data.subarray(3 * WIDTH, 4 * WIDTH)).toEqual(inHalves(vectorOf('mice', WIDTH)));
  });

  it('asks once for a text, ever, and gets the same bits back', async () => {
    const cache = memoryCache();
    const first = await opened(options, { cache });
    const fresh = await first.embedTokens(['cats', 'mice'], 'document');
    const asked = posts().length;
    const second = await opened(options, { cache });
    expect(await second.embedTokens(['mice', 'cats'], 'document')).toEqual([...fresh].reverse());
    expect(second.id).toBe(first.id);
    expect(posts().length).toBe(asked);
  });

  it('finds out how many texts the service takes', async () => {
    const embedder = await opened(options);
    const texts = Array.from({ length: 30 }, (_, i) => `text number ${i}`);
    const from = posts().length;
    const found = await embedder.embedTokens(texts, 'query');
    expect(found[29].data.subarray(3 * WIDTH, 4 * WIDTH)).toEqual(inHalves(vectorOf('29', WIDTH)));
    const sizes = posts()
      .slice(from)
      .map(({ body }) => ((body as { input?: string[] }).input ?? (body as { inputs: string[] }).inputs).length);
    // TEI says so in /info; Jina's cap is met once on the way down.
    expect(sizes.filter((size) => size > 4)).toEqual(options.driver === 'tei' ? [] : [30, 15, 8]);
  });

  it('refuses what is no matrix of the texts, naming the text', async () => {
    const embedder = await opened(options);
    type Items = { embeddings: unknown[][] }[];
    const spoil = (change: (rows: unknown[][]) => void) => (body: unknown) => {
      const data = (body as { data?: Items }).data;
      change(data === undefined ? (body as unknown[][][])[1] : data[1].embeddings);
      return body;
    };
    const cases: [change: (body: unknown) => unknown, message: RegExp][] = [
      [
        spoil((rows) => {
          rows[0][3] = null;
        }),
        /answered null for token 0 of input 2 of 2, "beta"/,
      ],
      [
        spoil((rows) => {
          rows[1] = [1, 2];
        }),
        /2 dimensions for token 1 of input 2 of 2, "beta" where 16/,
      ],
      [
        spoil((rows) => {
          rows[0].fill(0);
        }),
        /a vector of length 0 for token 0 of input 2/,
      ],
      [
        spoil((rows) => {
          rows.length = 0;
        }),
        /no token vectors for input 2 of 2, "beta"/,
      ],
      [
        (body) => (Array.isArray(body) ? body.slice(1) : { data: (body as { data: Items }).data.slice(1) }),
        /1 matrices for 2 texts/,
      ],
    ];
    for (const [change, message] of cases) {
      service.next({ kind: 'spoil', change });
      const error = await failure(embedder.embedTokens(['alpha', 'beta'], 'query'));
      expect(error.code).toBe('UPSTREAM');
      expect(error.message).toMatch(message);
    }
    // Nothing of a bad answer was kept.
    expect((await embedder.embedTokens(['beta'], 'query'))[0].rows).toBe(3);
  });
});

describe('token embedders', () => {
  it('tell queries from documents as each service has it', async () => {
    const jina = await opened({ ...JINA, dimensions: 8 });
    await jina.embedTokens(['one text'], 'document');
    expect(posts().at(-1)!.body).toMatchObject({ model: 'jina-colbert-v2', input_type: 'document', dimensions: 8 });
    await jina.embedTokens(['one text'], 'query');
    expect(posts().at(-1)!.body).toMatchObject({ input_type: 'query', embedding_type: 'float' });
    const tei = await opened({ ...TEI, queryPrompt: '[Q] ', documentPrompt: '[D] ' });
    await tei.embedTokens(['one text'], 'query');
    expect(posts().at(-1)!.body).toEqual({ inputs: ['[Q] one text'], truncate: true });
  });

  it('put matrices in another order back by their index', async () => {
    const embedder = await opened(JINA);
    service.next({ kind: 'spoil', change: (body) => ({ data: [...(body as { data: unknown[] }).data].reverse() }) });
    const [first] = await embedder.embedTokens(['left', 'right'], 'query');
    expect(first.data.subarray(WIDTH, 2 * WIDTH)).toEqual(inHalves(vectorOf('left', WIDTH)));
  });

  it('name a model that a TEI server does not serve, and a model that is missing', async () => {
    expect((await failure(opened({ ...TEI, model: 'other' }))).message).toMatch(/serves 'hashed\/words', not 'other'/);
    expect((await failure(opened({ driver: 'jina' }))).code).toBe('CONFIG');
  });

  it('keep a cap, and refuse one on a model without a price', async () => {
    expect((await failure(opened(JINA, { maxCost: 1 }))).message).toMatch(/no listed price for jina model/);
    const price = { input: 1_000_000, output: 0 };
    const embedder = await opened({ ...JINA, dimensions: WIDTH }, { maxCost: 22, price });
    await embedder.embedTokens(['one two three'], 'query');
    expect((await failure(embedder.embedTokens(['four five six'], 'query'))).code).toBe('COST_CAP');
  });
});
