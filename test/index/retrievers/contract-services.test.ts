/** Retrievers that are services, under the one contract, against local servers that speak their protocols. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { createRetriever } from '../../../index/mod.ts';
import type { EmbedderSpec } from '../../../src/config/specs.ts';
import type { ModelServices } from '../../../src/models/services.ts';
import { createWire } from '../../../src/run/wire/mod.ts';
import { retrievalIndexContract } from '../../contracts/retrieval-index.ts';
import { startModelService } from '../../support/servers/models.ts';

const server = await startModelService({ dimensions: 48 });
afterAll(() => server.close());

const wire = createWire({ concurrency: 4 });
const services: ModelServices = {
  env: { COHERE_API_KEY: 'k', VOYAGE_API_KEY: 'k', JINA_API_KEY: 'k', OPENAI_API_KEY: 'k' },
  wire: async () => wire,
};
const { url } = server;
const EMBEDDERS: readonly EmbedderSpec[] = [
  { driver: 'openai', model: 'text-embedding-3-small', dimensions: 48, url: `${url}/v1` },
  { driver: 'cohere', model: 'embed-v4.0', dimensions: 48, url },
  { driver: 'voyage', model: 'voyage-3.5', dimensions: 48, url },
  { driver: 'jina', model: 'jina-embeddings-v3', dimensions: 48, url },
  { driver: 'tei', url },
];

for (const embedder of EMBEDDERS) {
  retrievalIndexContract({
    name: embedder.driver,
    create: () => createRetriever({ driver: 'dense', embedder }, services),
    deterministic: true,
    lexical: false,
    openVocabulary: true,
    tolerance: 0,
  });
}

for (const embedder of [
  { driver: 'tei', url },
  { driver: 'jina', model: 'jina-colbert-v2', dimensions: 48, url },
] as const) {
  retrievalIndexContract({
    name: `late interaction over ${embedder.driver}`,
    create: () => createRetriever({ driver: 'late-interaction', embedder }, services),
    deterministic: true,
    lexical: false,
    openVocabulary: true,
    tolerance: 0,
  });
}

// @ts-expect-error A plain JavaScript file, as its users copy it.
const { createServer } = (await import('../../../examples/http-retriever/server.mjs')) as {
  createServer(): Server;
};
const blackBox = createServer();
await new Promise<void>((resolve) => blackBox.listen(0, '127.0.0.1', resolve));
afterAll(() => {
  blackBox.closeAllConnections();
  blackBox.close();
});
const http = { driver: 'http', url: `http://127.0.0.1:${(blackBox.address() as AddressInfo).port}` } as const;
const RANKS = 'it answers ranks alone';

retrievalIndexContract({
  name: 'http (the reference server)',
  create: () => createRetriever(http, services),
  deterministic: true,
  lexical: true,
  tolerance: 0,
  skips: { 'gives equal texts equal scores, in id order': RANKS, 'scores pairs as it scores in search': RANKS },
});

const bm25 = { driver: 'bm25', k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' } as const;
const lsa = { driver: 'dense', embedder: { driver: 'lsa', dimensions: 200, seed: 1, analyzer: 'english' } } as const;
const fusion = { driver: 'fusion', method: 'rrf', rankConstant: 60, depth: 1000 } as const;

for (const method of ['rrf', 'weighted'] as const) {
  retrievalIndexContract({
    name: `fusion of bm25 and lsa (${method})`,
    create: () => createRetriever({ ...fusion, method, retrievers: [bm25, lsa] }),
    deterministic: true,
    lexical: false,
    tolerance: 0,
    skips: {
      'gives equal texts equal scores, in id order':
        'equal texts have neighbouring ranks, and ranks are what is added up',
    },
  });
}
retrievalIndexContract({
  name: 'fusion of bm25 and the reference server',
  create: () => createRetriever({ ...fusion, retrievers: [bm25, http], weights: [0.3, 0.7] }, services),
  deterministic: true,
  lexical: true,
  tolerance: 0,
  skips: { 'gives equal texts equal scores, in id order': RANKS },
});

test('an unchanged text keeps its vector whatever the service answers the second time', async () => {
  const index = await createRetriever({ driver: 'dense', embedder: EMBEDDERS[0] }, services).build({
    size: 1,
    ids: ['a'],
    positionOf: () => 0,
    original: () => ({ id: 'a', title: '', text: 'one cat' }),
    indexText: () => 'one cat',
  });
  const sent = server.asked.length;
  server.always({ kind: 'answer', status: 500, body: 'no' });
  const query = [{ id: 'q', text: 'one cat' }];
  const [[swapped]] = await index.searchReplacing([{ id: 'a', text: 'one cat' }], [query], 1);
  server.always(undefined);
  expect(swapped).toEqual((await index.search(query, 1))[0]);
  expect(server.asked.length).toBe(sent);
});
