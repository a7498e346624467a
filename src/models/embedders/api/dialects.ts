/** How each service wants to be asked for vectors, and how it answers: one table, plain HTTP. */
import { type Endpoint, versioned } from '../../endpoint.ts';

export interface EmbedRequest {
  readonly model: string;
  readonly role: 'query' | 'document';
  readonly texts: readonly string[];
  /** Only when it is another width than the model's own. */
  readonly dimensions?: number;
  readonly encoding: 'base64' | 'float';
}

export interface EmbedAnswer {
  /** As they came, `index` where the service gives one; values may be anything. */
  readonly items: readonly { readonly index?: unknown; readonly embedding: unknown }[];
  /** Tokens that are billed. */
  readonly tokens?: number;
}

export interface EmbedDialect {
  /** Most texts in one request. */
  readonly inputs: number;
  /** Most tokens in one request. */
  readonly tokens: number;
  url(endpoint: Endpoint): string;
  body(request: EmbedRequest): Record<string, unknown>;
  read(body: unknown): EmbedAnswer;
}

type Json = Record<string, unknown>;

/** {data: [{index, embedding}], usage: {total_tokens}}: OpenAI's shape, which many share. */
export function readOpenAiShape(body: unknown): EmbedAnswer {
  const { data, usage } = (body ?? {}) as { data?: unknown; usage?: Json };
  const items = Array.isArray(data)
    ? data.map((item) => ({ index: (item as Json | null)?.index, embedding: (item as Json | null)?.embedding }))
    : [];
  return { items, tokens: countIn(usage?.total_tokens ?? usage?.prompt_tokens) };
}

function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** What the role is called, model by model; models that know no roles are listed with none. */
const JINA_TASKS: Readonly<Record<string, { readonly query: string; readonly document: string } | undefined>> = {
  'jina-embeddings-v2-base-en': undefined,
  'jina-embeddings-v2-base-code': undefined,
  'jina-code-embeddings-0.5b': { query: 'nl2code.query', document: 'nl2code.passage' },
  'jina-code-embeddings-1.5b': { query: 'nl2code.query', document: 'nl2code.passage' },
};
const JINA_RETRIEVAL = { query: 'retrieval.query', document: 'retrieval.passage' };

export const DIALECTS: Readonly<Record<'cohere' | 'voyage' | 'jina' | 'tei', EmbedDialect>> = {
  cohere: {
    inputs: 96,
    tokens: 100_000,
    url: (endpoint) => versioned(endpoint, 'v2', '/embed'),
    body: ({ model, role, texts, dimensions }) => ({
      model,
      texts,
      input_type: role === 'query' ? 'search_query' : 'search_document',
      embedding_types: ['float'],
      truncate: 'END',
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    }),
    read(body) {
      const { embeddings, meta } = (body ?? {}) as { embeddings?: Json; meta?: { billed_units?: Json } };
      const rows = embeddings?.float;
      const items = Array.isArray(rows) ? rows.map((embedding: unknown) => ({ embedding })) : [];
      return { items, tokens: countIn(meta?.billed_units?.input_tokens) };
    },
  },
  voyage: {
    inputs: 1000,
    tokens: 100_000,
    url: (endpoint) => versioned(endpoint, 'v1', '/embeddings'),
    body: ({ model, role, texts, dimensions, encoding }) => ({
      model,
      input: texts,
      input_type: role,
      truncation: true,
      ...(encoding === 'base64' ? { encoding_format: 'base64' } : {}),
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    }),
    read: readOpenAiShape,
  },
  jina: {
    inputs: 512,
    tokens: 100_000,
    url: (endpoint) => versioned(endpoint, 'v1', '/embeddings'),
    body: ({ model, role, texts, dimensions, encoding }) => {
      const tasks = Object.hasOwn(JINA_TASKS, model) ? JINA_TASKS[model] : JINA_RETRIEVAL;
      return {
        model,
        input: texts,
        embedding_type: encoding,
        truncate: true,
        ...(tasks === undefined ? {} : { task: tasks[role] }),
        ...(dimensions === undefined ? {} : { dimensions }),
      };
    },
    read: readOpenAiShape,
  },
  tei: {
    inputs: 32,
    tokens: 16_384,
    url: (endpoint) => `${endpoint.url}/embed`,
    body: ({ texts }) => ({ inputs: texts, normalize: true, truncate: true }),
    read: (body) => ({ items: Array.isArray(body) ? body.map((embedding: unknown) => ({ embedding })) : [] }),
  },
};
