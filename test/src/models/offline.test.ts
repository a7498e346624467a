/** DOCOPT_OFFLINE=1 at every client of a service: each is refused by name, and nothing is sent. */
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRetriever } from '../../../index/mod.ts';
import {
  embedderSchema,
  lateInteractionSchema,
  policySchema,
  rerankerSchema,
  retrieverSchema,
} from '../../../src/config/specs.ts';
import { arrayCorpus } from '../../../src/data/mod.ts';
import { endpointOf } from '../../../src/models/endpoint.ts';
import { hubFolder } from '../../../src/models/hub.ts';
import { batchService } from '../../../src/models/policies/chat/batch/batch-service.ts';
import { createPolicy } from '../../../src/models/policies/mod.ts';
import { createReranker } from '../../../src/models/rerankers/mod.ts';
import { wireOf } from '../../../src/models/services.ts';
import { createTokenEmbedder } from '../../../src/models/token-embedders/mod.ts';
import { folderWith } from '../../support/temp-folder.ts';

const KEYS = ['OPENAI', 'ANTHROPIC', 'COHERE', 'VOYAGE', 'JINA', 'TEI', 'VLLM', 'INFINITY', 'CHAT'];
const url = 'http://127.0.0.1:9';
const documents = [{ id: 'a', title: '', text: 'wooden boats' }];
const corpus = arrayCorpus(documents);
const env = {
  ...Object.fromEntries(KEYS.map((name) => [`${name}_API_KEY`, 'some-key-0123456789'])),
  DOCOPT_MODELS: folderWith({}),
};
/** Without a wire of a command, so that the variable itself decides. */
const services = { env };

const embedders = ['openai', 'cohere', 'voyage', 'jina', 'tei'].map((driver) =>
  embedderSchema.parse({ driver, model: 'm', url, ...(driver === 'tei' ? {} : { dimensions: 4 }) }),
);
const tokenEmbedders = ['tei', 'jina'].map(
  (driver) =>
    lateInteractionSchema.parse({ driver: 'late-interaction', embedder: { driver, model: 'm', url } }).embedder,
);
const rerankers = ['cohere', 'jina', 'voyage', 'tei', 'vllm', 'infinity', 'chat'].map((driver) =>
  rerankerSchema.parse({ driver, model: 'm', url }),
);
const policies = ['openai', 'anthropic', 'chat'].map((driver) => policySchema.parse({ driver, model: 'm', url }));

const clients: [string, () => Promise<unknown>][] = [
  ...embedders.map((block): [string, () => Promise<unknown>] => [
    `embedder ${block.driver}`,
    async () => createRetriever({ driver: 'dense', embedder: block }, services).build(corpus),
  ]),
  ...tokenEmbedders.map((block): [string, () => Promise<unknown>] => [
    `token embedder ${block.driver}`,
    async () => (await createTokenEmbedder(block, services).load()).embedTokens(['wooden boats'], 'document'),
  ]),
  ...rerankers.map((block): [string, () => Promise<unknown>] => [
    `reranker ${block.driver}`,
    async () => createReranker(block, { services }).score({ id: 'q', text: 'boats' }, documents),
  ]),
  ...policies.map((block): [string, () => Promise<unknown>] => [
    `policy ${block.driver}`,
    async () => {
      const policy = await createPolicy(block, { corpus, analyzer: 'english', trainingPairs: [], seed: 1, services });
      return policy.generate([{ document: documents[0] }], { samples: 1, temperature: 0, seed: 1 });
    },
  ]),
  [
    'retriever http',
    async () => createRetriever(retrieverSchema.parse({ driver: 'http', url }), services).build(corpus),
  ],
  ...(['openai', 'anthropic'] as const).map((driver): [string, () => Promise<unknown>] => [
    `batch jobs of ${driver}`,
    async () =>
      batchService(driver, { wire: await wireOf(services), endpoint: endpointOf(driver, { url }, env) }).poll('b'),
  ]),
  ['hub', () => hubFolder('hf:org/model', (names) => names, services)],
];

describe('DOCOPT_OFFLINE=1', () => {
  const fetch = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('something was sent'));
  beforeEach(() => {
    vi.stubEnv('DOCOPT_OFFLINE', '1');
    fetch.mockClear();
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => fetch.mockRestore());

  it.each(clients)('refuses the %s, and nothing is sent', async (_name, call) => {
    await expect(call()).rejects.toMatchObject({ code: 'ENVIRONMENT', message: expect.stringMatching(/offline/) });
    expect(fetch).not.toHaveBeenCalled();
  });
});
