/**
 * What embedding will cost, before anything is sent: counted on the very texts that would go out, each distinct one once,
 * less what is on record. Nothing is connected to, and no key is needed.
 */
import type { EmbedderSpec, TokenEmbedderSpec } from '../../config/specs.ts';
import { costOf, priceOf } from '../../run/wire/mod.ts';
import { addressOf } from '../endpoint.ts';
import { envOf, type ModelServices, wireOf } from '../services.ts';
import { cl100kCounter, estimatingCounter } from '../token-counter.ts';
import { tokensKey } from '../token-embedders/api.ts';
import { TOKEN_DIALECTS } from '../token-embedders/api-dialects.ts';
import { vectorKey } from './api/api-embedder.ts';
import { withWidth } from './api/options.ts';
import { packBatches, prepareTexts } from './api/parts.ts';
import { transportFacts } from './api/transport.ts';

export interface EmbeddingEstimate {
  readonly model: string;
  /** As given, repeats included. */
  readonly texts: number;
  /** Never sent. */
  readonly blank: number;
  /** Longer than the model's limit. */
  readonly overlong: number;
  /** Distinct texts that were paid for already. */
  readonly recorded: number;
  /** Distinct texts that would be sent, in so many requests, with so many tokens. */
  readonly sent: number;
  readonly requests: number;
  readonly tokens: number;
  /** false: tokens are estimated by length, for the service's tokenizer is not public. */
  readonly exact: boolean;
  /** US dollars; null = there is no listed price. */
  readonly usd: number | null;
  /** When the price was looked up, or 'given'. */
  readonly priceAsOf: string | null;
}

export interface TextSource {
  readonly role: 'query' | 'document';
  readonly texts: Iterable<string>;
}

/** Texts that are prepared at once: memory stays bounded for any collection. */
const CHUNK = 1000;

type Embedding = Exclude<EmbedderSpec, { driver: 'lsa' | 'onnx' }>;
type TokenEmbedding = Exclude<TokenEmbedderSpec, { driver: 'onnx' }>;

/** undefined for embedders that run here and cost nothing. */
export async function estimateEmbedding(
  block: EmbedderSpec,
  sources: readonly TextSource[],
  services: ModelServices,
): Promise<EmbeddingEstimate | undefined> {
  if (block.driver === 'lsa' || block.driver === 'onnx') return undefined;
  const options = withWidth(block);
  const { roles, limits } = transportFacts(block.driver);
  const keyOf: KeyOf = (url, model, role, text) => vectorKey(options, url, model, roles ? role : '', text);
  return estimateTexts(block, limits, keyOf, sources, services);
}

/** The same for one vector per token. */
export async function estimateTokenEmbedding(
  block: TokenEmbedderSpec,
  sources: readonly TextSource[],
  services: ModelServices,
): Promise<EmbeddingEstimate | undefined> {
  if (block.driver === 'onnx') return undefined;
  const keyOf: KeyOf = (url, model, role, text) => tokensKey(block, url, model, role, text);
  return estimateTexts(block, TOKEN_DIALECTS[block.driver], keyOf, sources, services);
}

/** Under what an answer is on record. */
type KeyOf = (url: string, model: string, role: TextSource['role'], text: string) => string;

async function estimateTexts(
  options: Embedding | TokenEmbedding,
  limits: { readonly inputs: number; readonly tokens: number },
  keyOf: KeyOf,
  sources: readonly TextSource[],
  services: ModelServices,
): Promise<EmbeddingEstimate> {
  const { driver } = options;
  const wire = await wireOf(services);
  const url = addressOf(driver, options, envOf(services));
  const model = options.model ?? 'default';
  const counter = driver === 'openai' ? await cl100kCounter() : estimatingCounter;
  const sum = { texts: 0, blank: 0, overlong: 0, recorded: 0, sent: 0, requests: 0, tokens: 0 };
  for (const { role, texts } of sources) {
    const seen = new Set<string>();
    const sizes: { tokens: number }[] = [];
    for (const chunk of chunksOf(texts)) {
      const { parts, blank, overlong } = prepareTexts(chunk, role, options, counter);
      sum.texts += chunk.length;
      sum.blank += blank;
      sum.overlong += overlong;
      for (const { text, tokens } of parts) {
        const key = keyOf(url, model, role, text);
        if (seen.has(key)) continue;
        seen.add(key);
        if (wire.cache.get(key) !== undefined) {
          sum.recorded++;
          continue;
        }
        sum.sent++;
        sum.tokens += tokens;
        sizes.push({ tokens });
      }
    }
    sum.requests += packBatches(sizes, {
      ...limits,
      inputs: Math.min(options.batchSize ?? limits.inputs, limits.inputs),
    }).length;
  }
  const price = priceOf(driver, model, wire.price);
  return {
    model,
    ...sum,
    exact: counter.exact,
    usd: price === undefined ? null : costOf(price, { input: sum.tokens }),
    priceAsOf: price?.asOf ?? null,
  };
}

function* chunksOf(texts: Iterable<string>): Generator<string[]> {
  let chunk: string[] = [];
  for (const text of texts) {
    chunk.push(text);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
