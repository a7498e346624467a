import { afterEach, describe, expect, it } from 'vitest';
import type { ChatPolicySpec } from '../../../../../src/config/schemas/chat-policy.ts';
import { policySchema } from '../../../../../src/config/specs.ts';
import { arrayCorpus } from '../../../../../src/data/mod.ts';
import { createChatPolicy, settleChatSpec } from '../../../../../src/models/policies/chat/chat-policy.ts';
import { createBudget, createWire, type WireOptions } from '../../../../../src/run/wire/mod.ts';
import { memoryCache } from '../../../../../src/store/response-cache.ts';
import type { Sampling } from '../../../../../src/types.ts';
import { type Model, startChatService } from '../../../../support/servers/chat-apis.ts';
import { createFakeClock } from '../../../../support/servers/fake-clock.ts';
import type { Fault, Service } from '../../../../support/servers/service.ts';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

const SAMPLING: Sampling = { samples: 1, temperature: 0.3, topP: 0.9, topK: 30, maxNewTokens: 200, seed: 7 };
const KEY = 'sk-test-0123456789abcdef';

const FORMS = {
  responses: { driver: 'openai', model: 'gpt-5.4-mini', api: 'responses' },
  'chat completions': { driver: 'openai', model: 'gpt-4.1', api: 'chat' },
  messages: { driver: 'anthropic', model: 'claude-haiku-4-5' },
  'a server of one’s own': { driver: 'chat', model: 'm' },
} as const;
type Form = keyof typeof FORMS;

async function serve(form: Form, model: Model, more: Record<string, unknown> = {}, wireOptions: WireOptions = {}) {
  const service = await startChatService(model);
  services.push(service);
  const spec = policySchema.parse({ ...FORMS[form], url: service.url, ...more }) as ChatPolicySpec;
  const wire = createWire({ clock: createFakeClock(), seed: 1, ...wireOptions });
  const env = { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY };
  const policy = createChatPolicy(settleChatSpec(spec, arrayCorpus([])), { env, wire: async () => wire });
  const rewrite = async (text: string, sampling = SAMPLING) =>
    (await policy.generate([{ document: { id: 'd', text } }], sampling))[0][0];
  return { service, policy, wire, rewrite };
}

const upper: Model = ({ document, body }) => {
  const wantsJson = JSON.stringify(body).includes('json_schema');
  const text = document.toUpperCase();
  return { text: wantsJson ? JSON.stringify({ text }) : text, thinking: 'SECRET THOUGHTS' };
};

describe.each(Object.keys(FORMS) as Form[])('a chat policy over %s', (form) => {
  it('rewrites, and keeps thinking out of the document', async () => {
    const { rewrite, policy } = await serve(form, upper);
    expect(await rewrite('one two')).toMatchObject({ text: 'ONE TWO', finish: 'stop' });
    const usage = policy.usage();
    expect(usage).toMatchObject({ answers: 1, recorded: 0, refused: 0 });
    expect(usage.inputTokens).toBeGreaterThan(10);
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  it('sends the key where the vendor wants it, and nothing that the family refuses', async () => {
    const { rewrite, service } = await serve(form, upper);
    await rewrite('one two');
    const [{ headers, body }] = service.asked;
    const sent = body as Record<string, unknown>;
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    const settings = ['temperature', 'top_p', 'top_k', 'seed'].filter((name) => name in sent);
    expect(settings).toEqual(
      {
        responses: [],
        'chat completions': ['temperature', 'top_p'],
        messages: ['temperature'],
        'a server of one’s own': ['temperature', 'top_p', 'top_k', 'seed'],
      }[form],
    );
  });

  it('appends where it is told to', async () => {
    const { rewrite } = await serve(form, upper, { output: 'append' });
    expect((await rewrite('one two')).text).toBe('one two\n\nONE TWO');
  });

  it('tells refusals and truncation apart, and counts them', async () => {
    const { rewrite, policy } = await serve(form, ({ document }) => ({
      text: document === 'long' ? '{"text": "cut o' : "I can't help with that.",
      finish: document === 'long' ? 'length' : 'refusal',
    }));
    expect(await rewrite('bad')).toMatchObject({ text: '', finish: 'refusal' });
    expect((await rewrite('long')).finish).toBe('length');
    expect(policy.usage()).toMatchObject({ answers: 2, refused: 1, truncated: 1 });
  });

  it('asks nothing twice that is on record, and anything new for another seed', async () => {
    const cache = memoryCache();
    const first = await serve(form, upper, {}, { cache });
    await first.rewrite('one');
    await first.rewrite('one');
    expect(first.service.asked.length).toBe(1);
    expect(first.policy.usage()).toMatchObject({ answers: 2, recorded: 1 });
    await first.rewrite('one', { ...SAMPLING, seed: 8 });
    expect(first.service.asked.length).toBe(2);
  });

  it('draws another marker for every request', async () => {
    const { policy, service } = await serve(form, upper);
    await policy.generate([{ document: { id: 'd', text: 'one' } }], { ...SAMPLING, samples: 4 });
    const markers = service.asked.map(({ body }) => /DOCUMENT ([0-9a-f]{24})>>>/.exec(JSON.stringify(body))?.[1]);
    expect(new Set(markers).size).toBe(4);
  });

  it('never spends more than the cap, with requests in flight', async () => {
    const budget = createBudget({ maxCost: 0.03 });
    const { policy, wire, service } = await serve(form, upper, {}, { budget, price: { input: 1, output: 5 } });
    const prompts = Array.from({ length: 200 }, (_, i) => ({
      document: { id: `d${i}`, text: `text ${i} `.repeat(20) },
    }));
    await expect(policy.generate(prompts, SAMPLING)).rejects.toMatchObject({ code: 'COST_CAP' });
    expect(wire.report().usd).toBeGreaterThan(0.01);
    expect(wire.report().usd).toBeLessThanOrEqual(0.03);
    // What was answered is kept: the same request is free now.
    const asked = service.asked.length;
    await policy.generate([prompts[0]], SAMPLING);
    expect(service.asked.length).toBe(asked);
  });
});

const openAiFault = (status: number, message: string, more: object = {}, headers = {}): Fault => ({
  kind: 'answer',
  status,
  headers,
  body: { error: { message, type: 'invalid_request_error', param: null, code: null, ...more } },
});
const anthropicFault = (status: number, type: string, message: string, headers = {}): Fault => ({
  kind: 'answer',
  status,
  headers,
  body: { type: 'error', error: { type, message }, request_id: 'req_1' },
});

describe('what services do wrong', () => {
  const passing: Record<string, [Form, Fault[]]> = {
    'OpenAI 429 with its headers': [
      'responses',
      [
        openAiFault(
          429,
          'Rate limit reached',
          { code: 'rate_limit_exceeded' },
          {
            'retry-after': '3',
            'x-ratelimit-remaining-requests': '0',
            'x-ratelimit-reset-requests': '3s',
          },
        ),
      ],
    ],
    'OpenAI 500': ['responses', [openAiFault(500, 'The server had an error', { type: 'server_error' })]],
    'OpenAI 408': ['chat completions', [openAiFault(408, 'Timeout')]],
    'OpenAI 409': ['chat completions', [openAiFault(409, 'Conflict')]],
    'Anthropic 429 with its headers': [
      'messages',
      [
        anthropicFault(429, 'rate_limit_error', 'Number of request tokens has exceeded', {
          'retry-after': '7',
          'anthropic-ratelimit-requests-remaining': '0',
          'anthropic-ratelimit-requests-reset': new Date(Date.UTC(2026, 0, 1) + 7000).toISOString(),
        }),
      ],
    ],
    'Anthropic 529': ['messages', [anthropicFault(529, 'overloaded_error', 'Overloaded')]],
    'Anthropic 500': ['messages', [anthropicFault(500, 'api_error', 'Internal server error')]],
    'a web page of a proxy with 502': [
      'responses',
      [{ kind: 'answer', status: 502, body: '<html><title>Bad Gateway</title>' }],
    ],
    'a web page of a proxy with 200': [
      'messages',
      [{ kind: 'answer', status: 200, body: '<html><title>Login</title>' }],
    ],
    'an answer cut in half': ['responses', [{ kind: 'half' }]],
    'a reset connection': ['messages', [{ kind: 'reset' }]],
    'JSON of another protocol': ['responses', [{ kind: 'answer', status: 200, body: { hello: 'world' } }]],
  };
  it.each(Object.keys(passing))('%s passes with another try', async (name) => {
    const [form, faults] = passing[name];
    const { rewrite, service } = await serve(form, upper);
    service.next(...faults);
    expect((await rewrite('one')).text).toBe('ONE');
    expect(service.asked.length).toBe(2);
  });

  const final: Record<string, [Form, Fault, RegExp]> = {
    'OpenAI 400 with a parameter': [
      'responses',
      openAiFault(400, "Unsupported parameter: 'temperature'", { param: 'temperature', code: 'unsupported_parameter' }),
      /400: Unsupported parameter/,
    ],
    'OpenAI 401, which quotes the key': [
      'responses',
      openAiFault(401, `Incorrect API key provided: ${KEY}.`, { code: 'invalid_api_key' }),
      /401: Incorrect API key provided: \[redacted\]/,
    ],
    'OpenAI 403': ['responses', openAiFault(403, 'Country not supported'), /403/],
    'OpenAI 404': [
      'chat completions',
      openAiFault(404, 'The model `gpt-9` does not exist', { code: 'model_not_found' }),
      /404: The model/,
    ],
    'OpenAI 429 without credit': [
      'responses',
      openAiFault(429, 'You exceeded your current quota', { code: 'insufficient_quota' }),
      /429: You exceeded/,
    ],
    'Anthropic 400': ['messages', anthropicFault(400, 'invalid_request_error', 'max_tokens: too large'), /max_tokens/],
    'Anthropic 401': [
      'messages',
      anthropicFault(401, 'authentication_error', 'invalid x-api-key'),
      /invalid x-api-key/,
    ],
    'Anthropic 404': ['messages', anthropicFault(404, 'not_found_error', 'model: claude-9'), /model: claude-9/],
    'Anthropic 413': ['messages', anthropicFault(413, 'request_too_large', 'Request exceeds'), /413/],
  };
  it.each(Object.keys(final))('%s ends it with one clear error, the rest unasked', async (name) => {
    const [form, fault, message] = final[name];
    const { policy, service } = await serve(form, upper, { concurrency: 1 });
    service.always(fault);
    const prompts = ['a', 'b', 'c'].map((text) => ({ document: { id: text, text } }));
    const error = await policy.generate(prompts, SAMPLING).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'UPSTREAM', message: expect.stringMatching(message) });
    expect(JSON.stringify(error)).not.toContain(KEY);
    expect(service.asked.length).toBe(1);
  });

  it('a refused document is one document, once others have passed', async () => {
    const { policy, rewrite, service } = await serve('responses', upper);
    await rewrite('good');
    service.next(
      openAiFault(400, 'Invalid prompt: your prompt was flagged as potentially violating our usage policies'),
    );
    expect(await rewrite('bad')).toMatchObject({ text: '', finish: 'filtered' });
    service.next(openAiFault(400, 'maximum context length is 8192 tokens', { code: 'context_length_exceeded' }));
    expect((await rewrite('long')).finish).toBe('error');
    expect(policy.usage()).toMatchObject({ filtered: 1, failed: 1 });
  });

  it('a slow answer is waited for no longer than the wire says', async () => {
    const { rewrite, service } = await serve('responses', upper, {}, { timeoutMs: 50, attempts: 2 });
    service.always({ kind: 'silence' });
    await expect(rewrite('one')).rejects.toThrow(/no answer within 0.1 s \(2 tries\)/);
  });

  it('a page that came with 200 is not put on record', async () => {
    const { rewrite, service } = await serve('responses', upper, {}, { attempts: 1 });
    service.next({ kind: 'answer', status: 200, body: '<html></html>' });
    await expect(rewrite('one')).rejects.toMatchObject({ code: 'UPSTREAM' });
    expect((await rewrite('one')).text).toBe('ONE');
  });
});
