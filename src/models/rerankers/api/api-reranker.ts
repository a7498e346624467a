/** Rerankers with a /rerank route: Cohere, Jina, Voyage, TEI, vLLM, Infinity. */
import type { Reranker } from '../../../ports.ts';
import { costOf, priceOf, type Wire, type WireCost } from '../../../run/wire/mod.ts';
import { noPrice } from '../../embedders/api/api-embedder.ts';
import { type Endpoint, endpointOf } from '../../endpoint.ts';
import { envOf, type ModelServices, wireOf } from '../../services.ts';
import { type TeiInfo, teiInfo } from '../../tei-info.ts';
import { RERANK_DIALECTS, type RerankDialect, type RerankService } from './dialects.ts';
import { type PairScorer, pairReranker, scoresOf } from './scored-pairs.ts';

export interface ApiRerankerOptions {
  readonly driver: RerankService;
  readonly model?: string;
  readonly url?: string;
  readonly authFrom?: string;
  /** What the service answers. Default probability. */
  readonly scoreSpace?: 'probability' | 'logit';
  /** Most documents in one request. */
  readonly batchSize?: number;
}

export function createApiReranker(options: ApiRerankerOptions, services: ModelServices): Reranker {
  const { driver, model, url } = options;
  const id = `${driver}(${model ?? (url === undefined ? 'default' : new URL(url).host)})`;
  const wire = (): Promise<Wire> => wireOf(services);
  return pairReranker(id, wire, async () => openScorer(id, options, services, await wire()));
}

async function openScorer(
  id: string,
  options: ApiRerankerOptions,
  services: ModelServices,
  wire: Wire,
): Promise<PairScorer> {
  const { driver, scoreSpace = 'probability' } = options;
  const endpoint = endpointOf(driver, options, envOf(services));
  const dialect = RERANK_DIALECTS[driver];
  const served = driver === 'tei' ? await servedModel(endpoint, wire) : undefined;
  const model = options.model ?? served?.model;
  const most = served === undefined ? Number.POSITIVE_INFINITY : (served.inputs ?? dialect.inputs);
  const inputs = Math.min(options.batchSize ?? dialect.inputs, most);
  return {
    identity: [driver, endpoint.url, model ?? ''],
    model: model ?? driver,
    inputs,
    scoreSpace,
    score: (query, texts) => {
      const body = dialect.body({ model: driver === 'tei' ? undefined : model, query, texts, scoreSpace });
      return wire.json(
        {
          service: driver,
          url: dialect.url(endpoint),
          headers: endpoint.headers,
          body,
          repeat: 'always',
          tokens: Math.ceil(bytesOf(query, texts) / 4),
          cost: costFor(driver, model ?? '', query, texts, dialect, wire),
          deadlineMs: PAIR_DEADLINE_MS,
        },
        (answer) => scoresOf(dialect.read(answer).items, texts.length, id),
      );
    },
  };
}

/** Somebody waits for the answer. */
const PAIR_DEADLINE_MS = 60_000;

const known = new WeakMap<Wire, Map<string, Promise<TeiInfo>>>();

/** What a TEI server serves, asked once. */
function servedModel(endpoint: Endpoint, wire: Wire): Promise<TeiInfo> {
  const own = known.get(wire) ?? new Map<string, Promise<TeiInfo>>();
  known.set(wire, own);
  const found = own.get(endpoint.url);
  if (found !== undefined) return found;
  const asked = teiInfo(endpoint, wire).catch((error) => {
    own.delete(endpoint.url);
    throw error;
  });
  own.set(endpoint.url, asked);
  return asked;
}

/** Cohere counts a document of more than 500 tokens as several, and 100 of them as one search. */
const CHUNK_BYTES = 500;
const CHUNKS_PER_SEARCH = 100;

function costFor(
  service: RerankService,
  model: string,
  query: string,
  texts: readonly string[],
  dialect: RerankDialect,
  wire: Wire,
): WireCost | undefined {
  const price = priceOf(service, model, wire.price);
  if (price === undefined) {
    if (wire.capped) throw noPrice(service, model);
    return undefined;
  }
  const chunks = texts.reduce((sum, text) => sum + Math.max(1, Math.ceil(Buffer.byteLength(text) / CHUNK_BYTES)), 0);
  const most = { input: bytesOf(query, texts), searches: Math.ceil(chunks / CHUNKS_PER_SEARCH) };
  return {
    what: model,
    upTo: costOf(price, most),
    actual({ bytes }) {
      try {
        const { tokens, searches } = dialect.read(JSON.parse(Buffer.from(bytes).toString('utf8')));
        if (price.search !== undefined) return searches === undefined ? undefined : costOf(price, { searches });
        return tokens === undefined ? undefined : costOf(price, { input: tokens });
      } catch {
        return undefined;
      }
    },
  };
}

/** The query is read once for every document. Bytes are never fewer than tokens. */
function bytesOf(query: string, texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) + texts.length * (Buffer.byteLength(query) + 8);
}
