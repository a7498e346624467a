/** How each service wants to be asked for the scores of documents, and how it answers: one table. */
import { type Endpoint, versioned } from '../../endpoint.ts';

export interface RerankRequest {
  readonly model: string | undefined;
  readonly query: string;
  readonly texts: readonly string[];
  readonly scoreSpace: 'probability' | 'logit';
}

export interface RerankAnswer {
  /** As they came; anything may stand in them. */
  readonly items: readonly { readonly index: unknown; readonly score: unknown }[];
  readonly tokens?: number;
  readonly searches?: number;
}

export interface RerankDialect {
  /** Most documents in one request. */
  readonly inputs: number;
  url(endpoint: Endpoint): string;
  body(request: RerankRequest): Record<string, unknown>;
  read(body: unknown): RerankAnswer;
}

type Json = Record<string, unknown>;

const documents = ({ model, query, texts }: RerankRequest): Json => ({
  ...(model === undefined ? {} : { model }),
  query,
  documents: texts,
});

/** A list of {index, relevance_score} under `list`, and what was billed wherever it stands. */
const readResults =
  (list: 'results' | 'data') =>
  (body: unknown): RerankAnswer => {
    const { usage, meta, ...rest } = (body ?? {}) as { usage?: Json; meta?: { billed_units?: Json } } & Json;
    const rows = rest[list];
    return {
      items: Array.isArray(rows)
        ? rows.map((row) => ({ index: (row as Json | null)?.index, score: (row as Json | null)?.relevance_score }))
        : [],
      tokens: countIn(usage?.total_tokens),
      searches: countIn(meta?.billed_units?.search_units),
    };
  };

function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** What vLLM and Infinity share with Jina, without a version before it. */
const plainRerank: RerankDialect = {
  inputs: 64,
  url: ({ url }) => `${url}/rerank`,
  body: (request) => ({ ...documents(request), return_documents: false }),
  read: readResults('results'),
};

export type RerankService = 'tei' | 'cohere' | 'jina' | 'voyage' | 'vllm' | 'infinity';

export const RERANK_DIALECTS: Readonly<Record<RerankService, RerankDialect>> = {
  cohere: {
    inputs: 100,
    url: (endpoint) => versioned(endpoint, 'v2', '/rerank'),
    body: (request) => ({ ...documents(request), top_n: request.texts.length }),
    read: readResults('results'),
  },
  jina: {
    inputs: 64,
    url: (endpoint) => versioned(endpoint, 'v1', '/rerank'),
    body: (request) => ({ ...documents(request), top_n: request.texts.length, return_documents: false }),
    read: readResults('results'),
  },
  voyage: {
    inputs: 100,
    url: (endpoint) => versioned(endpoint, 'v1', '/rerank'),
    body: (request) => ({ ...documents(request), truncation: true, return_documents: false }),
    read: readResults('data'),
  },
  tei: {
    inputs: 32,
    url: ({ url }) => `${url}/rerank`,
    body: ({ query, texts, scoreSpace }) => ({ query, texts, raw_scores: scoreSpace === 'logit', truncate: true }),
    read: (body) => ({
      items: Array.isArray(body)
        ? body.map((row) => ({ index: (row as Json | null)?.index, score: (row as Json | null)?.score }))
        : [],
    }),
  },
  vllm: plainRerank,
  infinity: {
    ...plainRerank,
    body: (request) => ({
      ...documents(request),
      return_documents: false,
      raw_scores: request.scoreSpace === 'logit',
    }),
  },
};
