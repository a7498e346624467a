/**
 * A service that speaks the chat protocols of both vendors, as their SDKs expect them: chat completions, responses and
 * messages. What the "model" says is a function of what it was sent.
 */
import { type Answer, type Asked, type Service, startService } from './service.ts';

export interface Heard {
  readonly system: string;
  readonly user: string;
  /** What stands between the marker lines; the whole message where there are none. */
  readonly document: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Said {
  readonly text: string;
  readonly finish?: 'stop' | 'length' | 'refusal' | 'filtered';
  /** Beside the answer, as reasoning models have it. */
  readonly thinking?: string;
}

export type Model = (heard: Heard) => Said | Promise<Said>;

interface Turn {
  readonly role: string;
  readonly content: string;
}

export function startChatService(model: Model): Promise<Service> {
  return startService(async (asked) => answerTo(asked, model));
}

/** The answer of one route; 404 as the vendors have it for all else. */
export async function answerTo({ path, body }: Pick<Asked, 'path' | 'body'>, model: Model): Promise<Answer> {
  const sent = body as Record<string, unknown>;
  if (path === '/v1/chat/completions')
    return { body: chatAnswer(await model(heard(sent, turnsOf(sent.messages))), sent) };
  if (path === '/v1/responses') return { body: responsesAnswer(await model(heard(sent, turnsOf(sent.input))), sent) };
  if (path === '/v1/messages') {
    const system = ((sent.system ?? []) as { text: string }[]).map(({ text }) => ({ role: 'system', content: text }));
    return { body: messagesAnswer(await model(heard(sent, [...system, ...turnsOf(sent.messages)])), sent) };
  }
  return { status: 404, body: { error: { message: `Unknown request URL: ${path}`, type: 'invalid_request_error' } } };
}

function turnsOf(value: unknown): Turn[] {
  return value as Turn[];
}

function heard(body: Record<string, unknown>, turns: readonly Turn[]): Heard {
  const of = (role: string): string =>
    turns
      .filter((turn) => turn.role === role)
      .map(({ content }) => content)
      .join('\n');
  const user = of('user');
  const document = /^<<<DOCUMENT ([0-9a-f]+)>>>\n([\s\S]*)\n<<<END \1>>>$/.exec(user)?.[2] ?? user;
  return { system: of('system'), user, document, body };
}

/** Four characters a token: any fixed rule will do. */
const tokens = (text: unknown): number => Math.ceil(JSON.stringify(text).length / 4);

function chatAnswer({ text, finish = 'stop', thinking }: Said, sent: Record<string, unknown>): unknown {
  const reason = { stop: 'stop', refusal: 'stop', length: 'length', filtered: 'content_filter' }[finish];
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: sent.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: finish === 'refusal' ? null : text,
          refusal: finish === 'refusal' ? text : null,
          ...(thinking === undefined ? {} : { reasoning_content: thinking }),
        },
        finish_reason: reason,
      },
    ],
    usage: {
      prompt_tokens: tokens(sent.messages),
      completion_tokens: tokens(text),
      total_tokens: tokens(sent.messages) + tokens(text),
    },
  };
}

function responsesAnswer({ text, finish = 'stop', thinking }: Said, sent: Record<string, unknown>): unknown {
  const content =
    finish === 'refusal' ? [{ type: 'refusal', refusal: text }] : [{ type: 'output_text', text, annotations: [] }];
  const reason = { length: 'max_output_tokens', filtered: 'content_filter', stop: undefined, refusal: undefined }[
    finish
  ];
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: sent.model,
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    error: null,
    output: [
      ...(thinking === undefined
        ? []
        : [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: thinking }] }]),
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content },
    ],
    usage: {
      input_tokens: tokens(sent.input),
      input_tokens_details: { cached_tokens: 3 },
      output_tokens: tokens(text),
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens(sent.input) + tokens(text),
    },
  };
}

function messagesAnswer({ text, finish = 'stop', thinking }: Said, sent: Record<string, unknown>): unknown {
  const reason = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', filtered: 'refusal' }[finish];
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: sent.model,
    content: [
      ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: 'c2ln' }]),
      { type: 'text', text },
    ],
    stop_reason: reason,
    stop_sequence: null,
    usage: {
      input_tokens: tokens(sent.messages),
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: 0,
      output_tokens: tokens(text),
    },
  };
}
