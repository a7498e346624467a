/**
 * List prices in US dollars, each with the day it was looked up. They decide what `--dry-run` says and where a cap stops, not
 * what a vendor bills: check them, and give your own with `--price in,out` (US dollars per million tokens).
 */
export interface Price {
  /** Per million input tokens. */
  readonly input: number;
  /** Per million output tokens. */
  readonly output: number;
  /** Per million input tokens that the service had in its prompt cache; default: as `input`. */
  readonly cached?: number;
  /** Per thousand searches, where that is the unit: one query with up to 100 documents. */
  readonly search?: number;
  /** When it was looked up: YYYY-MM-DD. */
  readonly asOf: string;
}

const LOOKED_UP = '2026-11-30';
const perMillion = (input: number, output = 0, cached?: number): Price => ({
  input,
  output,
  ...(cached === undefined ? {} : { cached }),
  asOf: LOOKED_UP,
});

/** Service -> model -> price. */
export const PRICES: Readonly<Record<string, Readonly<Record<string, Price>>>> = {
  openai: {
    'text-embedding-3-small': perMillion(0.02),
    'text-embedding-3-large': perMillion(0.13),
    'text-embedding-ada-002': perMillion(0.1),
    'gpt-5.4': perMillion(2.5, 15, 0.25),
    'gpt-5.4-mini': perMillion(0.75, 4.5, 0.075),
    'gpt-5.4-nano': perMillion(0.2, 1.25, 0.02),
    'gpt-5.2': perMillion(1.75, 14, 0.175),
    'gpt-5-mini': perMillion(0.25, 2, 0.025),
    'gpt-4.1': perMillion(2, 8, 0.5),
  },
  anthropic: {
    'claude-haiku-4-5': perMillion(1, 5, 0.1),
    'claude-sonnet-5': perMillion(2, 10, 0.2),
    'claude-sonnet-5-5': perMillion(2, 10, 0.2),
    'claude-opus-5': perMillion(5, 25, 0.5),
    'claude-opus-5-5': perMillion(4, 20),
    'claude-fable-5-1': perMillion(10, 50),
  },
  voyage: {
    'voyage-4-large': perMillion(0.12),
    'voyage-4': perMillion(0.06),
    'voyage-4-lite': perMillion(0.02),
    'voyage-3-large': perMillion(0.18),
    'voyage-3.5': perMillion(0.06),
    'voyage-3.5-lite': perMillion(0.02),
    'voyage-code-3': perMillion(0.18),
    'voyage-finance-2': perMillion(0.12),
    'voyage-law-2': perMillion(0.12),
    'rerank-2.5': perMillion(0.05),
    'rerank-2.5-lite': perMillion(0.02),
  },
  cohere: {
    'embed-v4.0': perMillion(0.12),
    'embed-english-v3.0': perMillion(0.1),
    'embed-multilingual-v3.0': perMillion(0.1),
    'embed-english-light-v3.0': perMillion(0.1),
    'embed-multilingual-light-v3.0': perMillion(0.1),
    'rerank-v3.5': { ...perMillion(0), search: 2 },
    'rerank-english-v3.0': { ...perMillion(0), search: 2 },
    'rerank-multilingual-v3.0': { ...perMillion(0), search: 2 },
  },
  jina: {
    'jina-embeddings-v4': perMillion(0.05),
    'jina-embeddings-v3': perMillion(0.05),
    'jina-embeddings-v2-base-en': perMillion(0.05),
    'jina-embeddings-v2-base-code': perMillion(0.05),
    'jina-code-embeddings-0.5b': perMillion(0.05),
    'jina-code-embeddings-1.5b': perMillion(0.05),
    'jina-reranker-m0': perMillion(0.05),
    'jina-reranker-v2-base-multilingual': perMillion(0.05),
    'jina-reranker-v3': perMillion(0.05),
  },
};

/** The listed price, the user's own, or undefined. */
export function priceOf(
  service: string,
  model: string,
  own?: { readonly input: number; readonly output: number },
): Price | undefined {
  if (own !== undefined) return { ...own, asOf: 'given' };
  const models = Object.hasOwn(PRICES, service) ? PRICES[service] : {};
  return Object.hasOwn(models, model) ? models[model] : undefined;
}

/** US dollars. */
export function costOf(
  price: Price,
  usage: {
    /** All input tokens, cached ones among them. */
    input?: number;
    cached?: number;
    output?: number;
    searches?: number;
  },
): number {
  const { input = 0, cached = 0, output = 0, searches = 0 } = usage;
  const read = (input - cached) * price.input + cached * (price.cached ?? price.input);
  return (read + output * price.output) / 1e6 + (searches * (price.search ?? 0)) / 1e3;
}
