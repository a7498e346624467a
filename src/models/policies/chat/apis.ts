/**
 * The three APIs, each as a body, a call through the vendor's own SDK, and a reader. Bodies and readers are plain functions,
 * because batch jobs carry the same bodies and bring back the same answers without a call.
 */
import { WireError } from '../../../run/wire/mod.ts';
import type { Message, Sampling } from '../../../types.ts';
import type { Endpoint } from '../../endpoint.ts';
import type { AnswerUsage, RawAnswer } from './answer.ts';
import type { Family } from './families.ts';

export type ApiName = 'responses' | 'chat' | 'messages';

/** A request before it has the form of an API. */
export interface ChatRequest {
  readonly model: string;
  readonly family: Family;
  readonly messages: readonly Message[];
  readonly sampling: Omit<Sampling, 'samples'>;
  /** Most tokens that may come out, thinking included. */
  readonly maxTokens: number;
  readonly thinkingTokens: number;
  readonly structured: boolean;
  readonly effort?: string;
}

export type Body = Readonly<Record<string, unknown>>;

export interface ChatApi {
  readonly name: ApiName;
  /** Of batch jobs. */
  readonly route: string;
  body(request: ChatRequest): Body;
  /** Resolves with the parsed answer of the service. */
  call(fetch: typeof globalThis.fetch, endpoint: Endpoint, body: Body): Promise<unknown>;
  /** Throws WireError 'malformed' for what is no answer of this API. */
  read(answer: unknown): RawAnswer;
}

export function apiOf(name: ApiName): ChatApi {
  return { responses: RESPONSES, chat: CHAT, messages: MESSAGES }[name];
}

/** A day: the wire has the deadlines. */
const NEVER_MS = 86_400_000;

const SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
} as const;

const RESPONSES: ChatApi = {
  name: 'responses',
  route: '/v1/responses',
  body(request) {
    const { model, messages, maxTokens, structured } = request;
    return {
      model,
      input: messages.map(({ role, content }) => ({ role, content })),
      max_output_tokens: maxTokens,
      store: false,
      ...sampling(request, { temperature: 'temperature', topP: 'top_p' }),
      ...(request.effort === undefined ? {} : { reasoning: { effort: request.effort } }),
      ...(structured
        ? { text: { format: { type: 'json_schema', name: 'rewrite', schema: SCHEMA, strict: true } } }
        : {}),
    };
  },
  async call(fetch, endpoint, body) {
    return (await openAiClient(fetch, endpoint)).responses.create(body as never);
  },
  read(answer) {
    const { status, output, usage, incomplete_details, error } = asObject(answer, 'openai');
    if (!Array.isArray(output)) throw malformed('openai', 'no output');
    let text = '';
    let refused = false;
    for (const item of output as Record<string, unknown>[]) {
      // Items of type 'reasoning' are nobody's document.
      if (item.type !== 'message' || !Array.isArray(item.content)) continue;
      for (const part of item.content as Record<string, unknown>[]) {
        if (part.type === 'output_text') text += stringOf(part.text);
        else if (part.type === 'refusal') refused = true;
      }
    }
    const reason = stringOf((incomplete_details as Record<string, unknown> | null | undefined)?.reason);
    const failure = stringOf((error as Record<string, unknown> | null | undefined)?.code);
    const finish = refused
      ? 'refusal'
      : status === 'failed' || status === 'cancelled'
        ? /policy|prompt/.test(failure)
          ? 'filtered'
          : 'error'
        : status === 'incomplete'
          ? reason === 'content_filter'
            ? 'filtered'
            : 'length'
          : 'stop';
    const { input_tokens, output_tokens, input_tokens_details, output_tokens_details } = looseObject(usage);
    return {
      text,
      finish,
      usage: usageOf({
        input: input_tokens,
        cached: looseObject(input_tokens_details).cached_tokens,
        output: output_tokens,
        thinking: looseObject(output_tokens_details).reasoning_tokens,
      }),
    };
  },
};

const CHAT: ChatApi = {
  name: 'chat',
  route: '/v1/chat/completions',
  body(request) {
    const { model, family, messages, maxTokens, structured, sampling: drawn } = request;
    return {
      model,
      messages: messages.map(({ role, content }) => ({ role, content })),
      // The newer name is OpenAI's alone; servers of others know the older.
      [family.sampling === 'all' ? 'max_tokens' : 'max_completion_tokens']: maxTokens,
      ...sampling(request, { temperature: 'temperature', topP: 'top_p', topK: 'top_k' }),
      ...(family.seed ? { seed: drawn.seed } : {}),
      ...(request.effort === undefined ? {} : { reasoning_effort: request.effort }),
      ...(structured
        ? { response_format: { type: 'json_schema', json_schema: { name: 'rewrite', schema: SCHEMA, strict: true } } }
        : {}),
    };
  },
  async call(fetch, endpoint, body) {
    return (await openAiClient(fetch, endpoint)).chat.completions.create(body as never);
  },
  read(answer) {
    const { choices, usage } = asObject(answer, 'chat');
    const choice = Array.isArray(choices) ? looseObject(choices[0]) : {};
    if (typeof choice.message !== 'object' || choice.message === null) throw malformed('chat', 'no choice');
    const { content, refusal } = choice.message as Record<string, unknown>;
    const finishes: Record<string, RawAnswer['finish']> = { length: 'length', content_filter: 'filtered' };
    const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = looseObject(usage);
    return {
      text: stringOf(content),
      finish: stringOf(refusal) === '' ? (finishes[stringOf(choice.finish_reason)] ?? 'stop') : 'refusal',
      usage: usageOf({
        input: prompt_tokens,
        cached: looseObject(prompt_tokens_details).cached_tokens,
        output: completion_tokens,
        thinking: looseObject(completion_tokens_details).reasoning_tokens,
      }),
    };
  },
};

/** Shorter system prompts are not cached by the vendor, and asking for it would be paid for. */
const CACHED_FROM_BYTES = 4096;

const MESSAGES: ChatApi = {
  name: 'messages',
  route: '/v1/messages',
  body(request) {
    const { model, family, messages, maxTokens, structured, thinkingTokens, effort } = request;
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
    // Thinking by a budget needs 1,024 tokens at least, and then no temperature may be given.
    const budget = family.thinking === 'budget' && thinkingTokens >= 1024 ? thinkingTokens : undefined;
    return {
      model,
      max_tokens: maxTokens,
      ...(system.length === 0 ? {} : { system: systemBlocks(system.join('\n\n')) }),
      messages: messages.filter(({ role }) => role !== 'system').map(({ role, content }) => ({ role, content })),
      ...(budget === undefined
        ? sampling(request, { temperature: 'temperature' })
        : { thinking: { type: 'enabled', budget_tokens: budget } }),
      ...(effort !== undefined || structured
        ? {
            output_config: {
              ...(effort === undefined ? {} : { effort }),
              ...(structured ? { format: { type: 'json_schema', schema: SCHEMA } } : {}),
            },
          }
        : {}),
    };
  },
  async call(fetch, endpoint, body) {
    return (await anthropicClient(fetch, endpoint)).messages.create(body as never);
  },
  read(answer) {
    const { content, stop_reason, usage } = asObject(answer, 'anthropic');
    if (!Array.isArray(content)) throw malformed('anthropic', 'no content');
    // Blocks of type 'thinking' and 'redacted_thinking' are nobody's document.
    const text = (content as Record<string, unknown>[])
      .filter(({ type }) => type === 'text')
      .map((block) => stringOf(block.text))
      .join('');
    const finishes: Record<string, RawAnswer['finish']> = {
      end_turn: 'stop',
      stop_sequence: 'stop',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      refusal: 'refusal',
    };
    const counted = looseObject(usage);
    const cached = numberOf(counted.cache_read_input_tokens);
    const cacheWritten = numberOf(counted.cache_creation_input_tokens);
    return {
      text,
      finish: finishes[stringOf(stop_reason)] ?? 'error',
      usage: usageOf({
        input: numberOf(counted.input_tokens) + cached + cacheWritten,
        cached,
        cacheWritten,
        output: counted.output_tokens,
        thinking: looseObject(counted.output_tokens_details).thinking_tokens,
      }),
    };
  },
};

function systemBlocks(text: string): unknown {
  const cached = Buffer.byteLength(text) >= CACHED_FROM_BYTES;
  return [{ type: 'text', text, ...(cached ? { cache_control: { type: 'ephemeral' } } : {}) }];
}

/** The settings of sampling that this family takes, under the names that this API has for them. */
function sampling(
  { family, sampling: drawn }: ChatRequest,
  names: Partial<Record<'temperature' | 'topP' | 'topK', string>>,
): Record<string, number> {
  const allowed = {
    all: ['temperature', 'topP', 'topK'],
    'temperature-and-top-p': ['temperature', 'topP'],
    temperature: ['temperature'],
    none: [],
  }[family.sampling] as readonly ('temperature' | 'topP' | 'topK')[];
  return Object.fromEntries(
    allowed.flatMap((key) => {
      const [name, value] = [names[key], drawn[key]];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The vendor's own client, its HTTP on the wire. */
export async function openAiClient(fetch: typeof globalThis.fetch, endpoint: Endpoint) {
  const { default: OpenAI } = await import('openai');
  return new OpenAI({
    apiKey: endpoint.key ?? 'none',
    baseURL: `${endpoint.url.replace(/\/v\d$/, '')}/v1`,
    maxRetries: 0,
    timeout: NEVER_MS,
    fetch,
    logLevel: 'off',
    ...(endpoint.key === undefined ? { defaultHeaders: { authorization: null } } : {}),
  });
}

/** As `openAiClient`. */
export async function anthropicClient(fetch: typeof globalThis.fetch, endpoint: Endpoint) {
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({
    apiKey: endpoint.key ?? 'none',
    authToken: null,
    baseURL: endpoint.url.replace(/\/v\d$/, ''),
    maxRetries: 0,
    timeout: NEVER_MS,
    fetch,
    logLevel: 'off',
    ...(endpoint.key === undefined ? { defaultHeaders: { authorization: null } } : {}),
  });
}

function asObject(value: unknown, service: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw malformed(service, 'something that is no object');
}

function looseObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' && value >= 0 ? value : 0);

function usageOf(counts: Partial<Record<keyof AnswerUsage, unknown>>): AnswerUsage {
  const { input, cached, cacheWritten, output, thinking } = counts;
  return {
    input: numberOf(input),
    cached: numberOf(cached),
    cacheWritten: numberOf(cacheWritten),
    output: numberOf(output),
    thinking: numberOf(thinking),
  };
}

function malformed(service: string, what: string): WireError {
  return new WireError('malformed', `${service} answered ${what}`, {
    hint: 'Is this the address of the API itself, and does it speak this protocol?',
  });
}
