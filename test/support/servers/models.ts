/**
 * A local service that speaks every protocol of the model drivers, with vectors and scores that mean something: a text's
 * vector is the sum of its words' random directions, a pair's score the share of query words that the document has.
 */
import { createRng, deriveSeed } from '../../../src/kernels/rng.ts';
import { type Answer, type Asked, openAiError, type Service, startService } from './service.ts';

export interface ModelServiceOptions {
  /** Width of the vectors when nobody asks for another. */
  readonly dimensions?: number;
  /** Most inputs in a request; more is refused as the protocol does it. */
  readonly maxInputs?: number;
  /** Only this key is let in. */
  readonly key?: string;
  /** Answers floats although base64 was asked for, as some servers do. */
  readonly floatsOnly?: boolean;
  /** Of `/info`. */
  readonly teiModel?: string;
  /** chat: no logprobs in the answer. */
  readonly noLogprobs?: boolean;
}

export function startModelService(options: ModelServiceOptions = {}): Promise<Service> {
  return startService((asked) => {
    const given = String(asked.headers.authorization ?? '').replace(/^Bearer /, '');
    if (options.key !== undefined && given !== options.key) {
      return { status: 401, body: openAiError(`Incorrect API key provided: ${given}.`, 'invalid_api_key') };
    }
    const route = ROUTES[`${asked.method} ${asked.path}`];
    return route === undefined ? { status: 404, body: { detail: 'Not Found' } } : route(asked, options);
  });
}

type Json = Record<string, unknown>;
type Route = (asked: Asked, options: ModelServiceOptions) => Answer;

const openAiEmbeddings: Route = ({ body }, options) => {
  const { input, model, encoding_format, embedding_type, dimensions, output_dimension } = body as Json;
  const texts = (typeof input === 'string' ? [input] : input) as string[];
  const refused = refuseInputs(texts, options);
  if (refused !== undefined) return refused;
  const width = (dimensions ?? output_dimension ?? options.dimensions ?? widthOf(model)) as number;
  const base64 = (encoding_format ?? embedding_type) === 'base64' && options.floatsOnly !== true;
  return {
    body: {
      object: 'list',
      model,
      data: texts.map((text, index) => ({
        object: 'embedding',
        index,
        embedding: encode(vectorOf(text, width), base64),
      })),
      usage: { prompt_tokens: tokensOf(texts), total_tokens: tokensOf(texts) },
    },
  };
};

function widthOf(model: unknown): number {
  return (
    ({ 'text-embedding-3-small': 1536, 'text-embedding-3-large': 3072 } as Record<string, number>)[String(model)] ?? 64
  );
}

function refuseInputs(texts: unknown, { maxInputs = 2048 }: ModelServiceOptions): Answer | undefined {
  const refuse = (message: string): Answer => ({ status: 400, body: openAiError(message) });
  if (!Array.isArray(texts) || texts.length === 0)
    return refuse("'$.input' is invalid. Please check the API reference.");
  if (texts.some((text) => typeof text !== 'string' || text === ''))
    return refuse("'input' cannot be an empty string.");
  if (texts.length > maxInputs) return refuse(`batch size is too large: ${texts.length} inputs, at most ${maxInputs}`);
  return undefined;
}

const cohereEmbed: Route = ({ body }, options) => {
  const { texts, output_dimension, input_type, embedding_types } = body as Json;
  if (input_type === undefined || embedding_types === undefined) {
    return { status: 400, body: { message: 'invalid request: input_type and embedding_types are required' } };
  }
  const refused = refuseInputs(texts, { maxInputs: 96 });
  if (refused !== undefined) return { ...refused, body: { message: 'invalid request: too many texts, at most 96' } };
  const width = (output_dimension ?? options.dimensions ?? 1536) as number;
  return {
    body: {
      id: 'x',
      texts,
      embeddings: { float: (texts as string[]).map((text) => [...vectorOf(text, width)]) },
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: tokensOf(texts as string[]) } },
    },
  };
};

const teiEmbed: Route = ({ body }, options) => {
  const { inputs } = body as { inputs: string[] };
  if (inputs.length > (options.maxInputs ?? 32)) {
    return {
      status: 413,
      body: {
        error: `batch size ${inputs.length} > maximum allowed batch size ${options.maxInputs ?? 32}`,
        error_type: 'Validation',
      },
    };
  }
  return { body: inputs.map((text) => [...vectorOf(text, options.dimensions ?? 64)]) };
};

/** One vector per word between two special ones, not of unit length, of the first 510 words: what a model's last layer has. */
function tokenVectors(text: string, width: number): number[][] {
  return ['[CLS]', ...words(text.slice(0, 20_000)).slice(0, 510), '[SEP]'].map((word) =>
    Array.from(vectorOf(word, width), (value) => 3 * value),
  );
}

const teiEmbedAll: Route = (asked, options) => {
  const refused = teiEmbed(asked, options);
  if (refused.status !== undefined) return refused;
  const { inputs } = asked.body as { inputs: string[] };
  return { body: inputs.map((text) => tokenVectors(text, options.dimensions ?? 64)) };
};

/** Jina's: queries and documents are told apart, and documents have no vectors for their special tokens. */
const jinaMultiVector: Route = ({ body }, options) => {
  const { input, model, input_type, dimensions } = body as Json;
  const refused = refuseInputs(input, options);
  if (refused !== undefined) return refused;
  if (input_type !== 'query' && input_type !== 'document') {
    return { status: 422, body: { detail: 'input_type: Input should be query or document' } };
  }
  const texts = input as string[];
  const width = (dimensions ?? options.dimensions ?? 128) as number;
  return {
    body: {
      model,
      object: 'list',
      usage: { total_tokens: tokensOf(texts), prompt_tokens: tokensOf(texts) },
      data: texts.map((text, index) => {
        const all = tokenVectors(text, width);
        const embeddings = input_type === 'query' ? all : all.slice(1, -1);
        return { object: 'embeddings', index, embeddings: embeddings.length === 0 ? all : embeddings };
      }),
    },
  };
};

const teiInfo: Route = (_, options) => ({
  body: {
    model_id: options.teiModel ?? 'hashed/words',
    model_type: { embedding: { pooling: 'mean' } },
    max_client_batch_size: options.maxInputs ?? 32,
    max_batch_tokens: 16_384,
    max_input_length: 512,
    version: '1.7.0',
  },
});

const teiRerank: Route = ({ body }) => {
  const { query, texts, raw_scores } = body as { query: string; texts: string[]; raw_scores?: boolean };
  const scored = texts.map((text, index) => {
    const score = scoreOf(query, text);
    return { index, score: raw_scores === true ? Math.log(score / (1 - score)) : score };
  });
  return { body: scored.sort((a, b) => b.score - a.score) };
};

/** Cohere's v2, Jina's and vLLM's: results by falling score. */
const resultsRerank: Route = ({ body }) => {
  const { query, documents, model } = body as {
    query: string;
    documents: (string | { text: string })[];
    model: string;
  };
  const results = documents.map((document, index) => ({
    index,
    relevance_score: scoreOf(query, typeof document === 'string' ? document : document.text),
  }));
  return {
    body: {
      model,
      results: results.sort((a, b) => b.relevance_score - a.relevance_score),
      usage: { total_tokens: tokensOf(documents.map(String)) },
      meta: { billed_units: { search_units: 1 } },
    },
  };
};

const voyageRerank: Route = (asked, options) => {
  const { results, usage, model } = resultsRerank(asked, options).body as Json;
  return { body: { object: 'list', data: results, usage, model } };
};

/** Yes or no to the last message, as the share of the query's words that the document has. */
const chat: Route = ({ body }, options) => {
  const { messages, model } = body as { messages: { content: string }[]; model: string };
  const text = messages.at(-1)!.content;
  const query = /<Query>:?\s*([\s\S]*?)\n/.exec(text)?.[1] ?? '';
  const document = /<Document>:?\s*([\s\S]*)$/.exec(text)?.[1] ?? '';
  const yes = scoreOf(query, document);
  const top = [
    { token: 'yes', logprob: Math.log(yes) },
    { token: 'no', logprob: Math.log(1 - yes) },
    { token: 'maybe', logprob: -12 },
  ].sort((a, b) => b.logprob - a.logprob);
  return {
    body: {
      id: 'x',
      object: 'chat.completion',
      model,
      choices: [
        {
          index: 0,
          finish_reason: 'length',
          message: { role: 'assistant', content: top[0].token },
          logprobs: options.noLogprobs === true ? null : { content: [{ ...top[0], top_logprobs: top }] },
        },
      ],
      usage: { prompt_tokens: tokensOf([text]), completion_tokens: 1, total_tokens: tokensOf([text]) + 1 },
    },
  };
};

const ROUTES: Readonly<Record<string, Route>> = {
  'POST /v1/embeddings': openAiEmbeddings,
  'POST /embeddings': openAiEmbeddings,
  'POST /v2/embed': cohereEmbed,
  'POST /embed': teiEmbed,
  'POST /embed_all': teiEmbedAll,
  'POST /v1/multi-vector': jinaMultiVector,
  'GET /info': teiInfo,
  'POST /rerank': (asked, options) =>
    'texts' in (asked.body as Json) ? teiRerank(asked, options) : resultsRerank(asked, options),
  'POST /v2/rerank': resultsRerank,
  'POST /v1/rerank': (asked, options) =>
    String((asked.body as Json).model).startsWith('rerank-')
      ? voyageRerank(asked, options)
      : resultsRerank(asked, options),
  'POST /v1/chat/completions': chat,
};

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function tokensOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.max(1, words(text).length), 0);
}

const directions = new Map<string, Float64Array>();

/** Unit length; a text without a word gets a direction of its own. */
export function vectorOf(text: string, width: number): Float32Array {
  const sum = new Float64Array(width);
  const own = words(text.slice(0, 100_000));
  for (const word of own.length > 0 ? own : [text]) {
    const name = `${width} ${word.slice(0, 40)}`;
    let direction = directions.get(name);
    if (direction === undefined) {
      const rng = createRng(deriveSeed(1, name));
      direction = Float64Array.from({ length: width }, () => rng.normal());
      directions.set(name, direction);
    }
    for (let j = 0; j < width; j++) sum[j] += direction[j];
  }
  const norm = Math.hypot(...sum);
  return Float32Array.from(sum, (value) => value / norm);
}

function encode(vector: Float32Array, base64: boolean): string | number[] {
  return base64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
}

/** In (0, 1). */
export function scoreOf(query: string, document: string): number {
  const asked = [...new Set(words(query))];
  const has = new Set(words(document));
  const found = asked.filter((word) => has.has(word)).length;
  return 0.05 + (0.9 * found) / Math.max(1, asked.length);
}
