/** Retrievers that are services, under the one contract, against local servers that speak their protocols. */
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
