/** How services are asked for one vector per token, and how they answer: one table. */
import { type Endpoint, versioned } from '../endpoint.ts';

export type TokenService = 'tei' | 'jina';

export interface TokenRequest {
  readonly model: string;
  readonly role: 'query' | 'document';
  readonly texts: readonly string[];
  readonly dimensions?: number;
}

export interface TokenAnswer {
  /** As they came, `index` where the service gives one; values may be anything. */
  readonly items: readonly { readonly index?: unknown; readonly embeddings?: unknown }[];
  /** Tokens that are billed. */
  readonly tokens?: number;
}

export interface TokenDialect {
  /** Most texts and tokens in one request: an answer has some 10 kB a token. */
  readonly inputs: number;
  readonly tokens: number;
  /** The service tells queries from documents. */
  readonly roles: boolean;
  url(endpoint: Endpoint): string;
  body(request: TokenRequest): Record<string, unknown>;
  read(body: unknown): TokenAnswer;
}

export const TOKEN_DIALECTS: Readonly<Record<TokenService, TokenDialect>> = {
  /** The states of all tokens, unpooled and not of unit length. */
  tei: {
    inputs: 32,
    tokens: 8192,
    roles: false,
    url: ({ url }) => `${url}/embed_all`,
    body: ({ texts }) => ({ inputs: texts, truncate: true }),
    read: (body) => ({ items: Array.isArray(body) ? body.map((embeddings: unknown) => ({ embeddings })) : [] }),
  },
  jina: {
    inputs: 128,
    tokens: 16_384,
    roles: true,
    url: (endpoint) => versioned(endpoint, 'v1', '/multi-vector'),
    body: ({ model, role, texts, dimensions }) => ({
      model,
      input: texts,
      input_type: role,
      embedding_type: 'float',
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    read(body) {
      const { data, usage } = (body ?? {}) as { data?: unknown; usage?: { total_tokens?: unknown } };
      const billed = usage?.total_tokens;
      return {
        items: Array.isArray(data) ? data.map((item) => (item ?? {}) as TokenAnswer['items'][number]) : [],
        ...(typeof billed === 'number' && billed >= 0 ? { tokens: billed } : {}),
      };
    },
  },
};
