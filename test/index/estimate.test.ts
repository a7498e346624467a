import { afterAll, expect, it } from 'vitest';
import { estimateRetrievers } from '../../index/estimate.ts';
import { createRetriever } from '../../index/mod.ts';
import { retrieverSchema } from '../../src/config/specs.ts';
import { arrayCorpus } from '../../src/data/mod.ts';
import { createWire } from '../../src/run/wire/mod.ts';
import { startModelService } from '../support/servers/models.ts';

const service = await startModelService({ dimensions: 16 });
afterAll(() => service.close());

const wire = createWire({ price: { input: 1, output: 0 } });
const services = { env: { JINA_API_KEY: 'k', VOYAGE_API_KEY: 'k' }, wire: async () => wire };
const TEXTS = ['cats chase mice', 'dogs sleep', ''];
const texts = () => [{ role: 'document', texts: TEXTS } as const];
const jina = {
  driver: 'late-interaction',
  embedder: { driver: 'jina', model: 'jina-colbert-v2', dimensions: 16, url: service.url },
};

it('counts every service in a retriever: token vectors too, and each part of a fusion', async () => {
  const voyage = {
    driver: 'dense',
    embedder: { driver: 'voyage', model: 'voyage-3.5', dimensions: 16, url: service.url },
  };
  const fusion = retrieverSchema.parse({ driver: 'fusion', retrievers: [{ driver: 'bm25' }, voyage, jina] });
  const { embeddings, costUsd } = await estimateRetrievers([fusion], texts, services);
  expect(embeddings.map(({ model, sent, blank }) => [model, sent, blank])).toEqual([
    ['voyage-3.5', 2, 1],
    ['jina-colbert-v2', 2, 1],
  ]);
  expect(costUsd).toBeGreaterThan(0);
  expect(service.asked.length).toBe(0);
});

it('does not count token vectors that are on record', async () => {
  const spec = retrieverSchema.parse(jina);
  const corpus = arrayCorpus(TEXTS.map((text, i) => ({ id: `d${i}`, title: '', text })));
  await createRetriever(spec, services).build(corpus);
  const { embeddings } = await estimateRetrievers([spec], texts, services);
  expect(embeddings[0]).toMatchObject({ recorded: 2, sent: 0, requests: 0, usd: 0 });
});
