import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DocOptError } from '../../../../src/errors.ts';
import { redact } from '../../../../src/run/redact.ts';
import {
  createBudget,
  createWire,
  requestKey,
  type Wire,
  type WireError,
  type WireOptions,
} from '../../../../src/run/wire/mod.ts';
import { memoryCache } from '../../../../src/store/response-cache.ts';
import { createFakeClock, type FakeClock } from '../../../support/servers/fake-clock.ts';
import { openAiError, type Service, startService } from '../../../support/servers/service.ts';

let service: Service;
let elsewhere: Service;
beforeEach(async () => {
  service = await startService(({ body }) => ({ body: { echo: body } }));
  return () => service.close();
});
beforeAll(async () => {
  elsewhere = await startService(() => ({ body: { stolen: true } }));
});
afterAll(() => elsewhere.close());

const KEY = 'sk-verysecret1234567890';
let clock: FakeClock;
const wireOf = (options: WireOptions = {}): Wire => {
  clock = createFakeClock();
  return createWire({ seed: 7, clock, ...options });
};
const ask = (wire: Wire, more: object = {}): Promise<unknown> =>
  wire.json(
    {
      service: 'test',
      url: `${service.url}/v1/x`,
      headers: { authorization: `Bearer ${KEY}` },
      body: { a: 1 },
      repeat: 'always',
      ...more,
    },
    (body) => body,
  );
const failure = async (work: Promise<unknown>): Promise<DocOptError & Partial<WireError>> => {
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(DocOptError);
  return error;
};
const limited = (headers: Record<string, string>) =>
  ({ kind: 'answer', status: 429, headers, body: openAiError('Rate limit reached', 'rate_limit_exceeded') }) as const;

describe('the wire', () => {
  it('sends JSON and gives back what was answered', async () => {
    expect(await ask(wireOf())).toEqual({ echo: { a: 1 } });
    expect(service.asked[0]).toMatchObject({
      method: 'POST',
      path: '/v1/x',
      headers: { authorization: `Bearer ${KEY}` },
    });
  });

  it('waits as long as Retry-After says, in seconds, as a date, in milliseconds', async () => {
    const wire = wireOf();
    const date = new Date(clock.now() + 40_000).toUTCString();
    service.next(
      limited({ 'retry-after': '7' }),
      limited({ 'retry-after': date }),
      limited({ 'retry-after-ms': '1500' }),
    );
    await ask(wire);
    const [first, second, third] = clock.sleeps;
    // What is asked for, and up to half a second of jitter.
    expect(first).toBeGreaterThanOrEqual(7000);
    expect(first).toBeLessThan(7500);
    expect(second).toBeGreaterThan(31_000);
    expect(second).toBeLessThan(33_500);
    expect(third).toBeGreaterThanOrEqual(1500);
    expect(wire.report()).toMatchObject({ requests: 4, retries: 3 });
  });

  it('backs off with seeded jitter where nothing is said, the same with the same seed', async () => {
    const waits = async (seed: number): Promise<readonly number[]> => {
      const wire = wireOf({ seed });
      service.next(...Array(4).fill({ kind: 'answer', status: 500, body: 'busy' }));
      await ask(wire);
      return clock.sleeps;
    };
    const first = await waits(3);
    expect(await waits(3)).toEqual(first);
    expect(await waits(4)).not.toEqual(first);
    first.forEach((ms, i) => {
      expect(ms).toBeGreaterThanOrEqual(250 * 2 ** i);
      expect(ms).toBeLessThanOrEqual(500 * 2 ** i);
    });
  });

  it('gives up a storm of 429 within the deadline, and says what the service said', async () => {
    const wire = wireOf({ deadlineMs: 60_000 });
    service.always(limited({ 'retry-after': '20' }));
    const error = await failure(ask(wire));
    expect(error).toMatchObject({ code: 'UPSTREAM', fault: 'limited', status: 429 });
    expect(error.message).toMatch(/429: Rate limit reached/);
    expect(service.asked.length).toBe(3);
  });

  it('does not wait for what would come after the deadline', async () => {
    service.always(limited({ 'retry-after': '3600' }));
    const error = await failure(ask(wireOf({ deadlineMs: 60_000 })));
    expect(error.message).toMatch(/asked again in 36\d\d s/);
    expect(clock.sleeps).toEqual([]);
  });

  it('does not repeat a refusal, an empty account or a bad key', async () => {
    for (const [status, body] of [
      [400, openAiError('bad input')],
      [401, openAiError(`Incorrect API key provided: ${KEY}`)],
      [404, { detail: 'Not Found' }],
      [422, { detail: [{ msg: 'field required' }] }],
      [429, openAiError('You exceeded your current quota', 'insufficient_quota')],
    ] as const) {
      const before = service.asked.length;
      service.next({ kind: 'answer', status, body });
      const error = await failure(ask(wireOf()));
      expect(error.status).toBe(status);
      expect(service.asked.length - before).toBe(1);
    }
  });

  it('repeats 5xx, resets and halves of answers only where that is safe', async () => {
    for (const fault of [{ kind: 'answer', status: 500, body: 'oops' }, { kind: 'reset' }, { kind: 'half' }] as const) {
      service.next(fault);
      expect(await ask(wireOf())).toEqual({ echo: { a: 1 } });
      const before = service.asked.length;
      service.next(fault);
      await failure(ask(wireOf(), { repeat: 'unsent' }));
      expect(service.asked.length - before).toBe(1);
    }
    // Refused before it was looked at: safe in any case.
    service.next(limited({ 'retry-after': '1' }));
    expect(await ask(wireOf(), { repeat: 'unsent' })).toEqual({ echo: { a: 1 } });
  });

  it('cuts off a server that drips or is silent', async () => {
    const wire = createWire({ seed: 1, attempts: 1, timeoutMs: 200, idleMs: 100, deadlineMs: 5000 });
    service.next({ kind: 'silence' });
    expect((await failure(ask(wire))).message).toMatch(/no answer within 0.2 s/);
    service.next({ kind: 'drip', everyMs: 300 });
    expect((await failure(ask(wire))).message).toMatch(/stopped for 0.1 s in its middle/);
    // Dripping fast enough for the idle limit still ends with the deadline of the whole.
    const slow = createWire({ seed: 1, attempts: 1, idleMs: 1000, deadlineMs: 400 });
    service.next({ kind: 'drip', everyMs: 60 });
    expect((await failure(ask(slow))).message).toMatch(/network|answer|time/);
  });

  it('names a place where nothing listens, after a few tries', async () => {
    const gone = await startService(() => ({}));
    await gone.close();
    const error = await failure(ask(wireOf(), { url: `${gone.url}/v1` }));
    expect(error.message).toMatch(/nothing listens there.*3 tries/);
    expect(error.hint).toMatch(/address/);
  });

  it('does not follow a redirect to another host, whatever the status', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      service.next({ kind: 'answer', status, headers: { location: `${elsewhere.url}/v1/x` } });
      const error = await failure(ask(wireOf()));
      expect(error.message).toContain(`redirects to ${elsewhere.host}`);
    }
    expect(elsewhere.asked).toEqual([]);
    // Within one host a 308 is an address with or without its slash.
    service.next({ kind: 'answer', status: 308, headers: { location: '/v1/x/' } });
    expect(await ask(wireOf())).toEqual({ echo: { a: 1 } });
    expect(service.asked.at(-1)?.path).toBe('/v1/x/');
  });

  it('tells a web page, cut JSON, doubled keys and nothing from an answer', async () => {
    for (const [body, reason] of [
      ['<html><title>Sign in</title></html>', /web page/],
      ['{"data": [1, 2', /broken or cut off/],
      ['{"index": 0, "embedding": [1], "index": 1}', /'index' stands twice/],
      ['', /nothing/],
    ] as const) {
      service.always({ kind: 'answer', status: 200, body });
      const error = await failure(ask(wireOf()));
      expect(error).toMatchObject({ code: 'UPSTREAM', fault: 'malformed' });
      expect(error.message).toMatch(reason);
    }
    // Once is a proxy's bad moment.
    service.always(undefined);
    service.next({ kind: 'answer', status: 200, body: '<html>502</html>' });
    expect(await ask(wireOf())).toEqual({ echo: { a: 1 } });
    // Python's NaN is read as null, so that whoever checks the values can say which.
    service.next({ kind: 'answer', status: 200, body: '{"embedding": [0.5, NaN, -Infinity], "text": "a, NaN"}' });
    expect(await ask(wireOf())).toEqual({ embedding: [0.5, null, null], text: 'a, NaN' });
  });

  it('never shows a key, also where the service quotes one, whole, in part or encoded', async () => {
    const quotes = [
      openAiError(`Incorrect API key provided: ${KEY}. You can find your key at ...`),
      openAiError('Incorrect API key provided: sk-very*********7890.'),
      `Authorization: Bearer ${KEY} is not known`,
      { message: `key ${encodeURIComponent(KEY)}, ${Buffer.from(KEY).toString('base64')}` },
    ];
    for (const body of quotes) {
      service.next({ kind: 'answer', status: 401, body });
      const error = await failure(ask(wireOf()));
      const shown = `${error.message} ${error.hint} ${error.said} ${JSON.stringify(error)} ${error.stack}`;
      expect(shown).not.toContain(KEY);
      expect(shown).not.toContain('7890');
      expect(shown).not.toContain(Buffer.from(KEY).toString('base64'));
    }
    expect(redact(`log of ${KEY}`)).toBe('log of [redacted]');
  });

  it('stays offline, and within the allowed hosts', async () => {
    const offline = await failure(ask(wireOf({ offline: true })));
    expect(offline).toMatchObject({ code: 'ENVIRONMENT' });
    expect(offline.message).toContain('offline');
    expect((await failure(ask(wireOf({ hosts: ['api.openai.com'] })))).message).toContain('not on the list');
    expect(service.asked).toEqual([]);
    for (const pattern of [service.host, '127.0.0.1']) await ask(wireOf({ hosts: [pattern] }));
    expect(service.asked.length).toBe(2);
    for (const url of ['ftp://x/y', 'nonsense', 'http://user:pw@localhost/']) {
      expect((await failure(ask(wireOf(), { url }))).code).toBe('CONFIG');
    }
  });

  it('records answers, and never asks again for what is on record, offline either', async () => {
    const cache = memoryCache();
    const record = requestKey('test', 'u', { a: 1 });
    await ask(wireOf({ cache }), { record });
    expect(await ask(wireOf({ cache, offline: true }), { record })).toEqual({ echo: { a: 1 } });
    expect(service.asked.length).toBe(1);
    // An answer that its driver refuses is no answer.
    const wire = wireOf({ cache });
    const refused = wire.json({ service: 'test', url: service.url, record: 'other' }, () => {
      throw new DocOptError('UPSTREAM', 'wrong width');
    });
    await expect(refused).rejects.toThrow('wrong width');
    expect(cache.get('other')).toBeUndefined();
  });

  it('ends when the signal does', async () => {
    const stop = new AbortController();
    service.always({ kind: 'silence' });
    const wire = createWire({ signal: stop.signal });
    const waiting = ask(wire);
    setTimeout(() => stop.abort(new DocOptError('INTERRUPTED', 'stopped')), 30);
    await expect(waiting).rejects.toThrow('stopped');
  });

  it('goes through the SDK of a vendor, whose errors stay ours', async () => {
    const { default: OpenAI } = await import('openai');
    const wire = wireOf();
    const call = (): Promise<unknown> =>
      wire.through({ service: 'openai', repeat: 'always', record: 'sdk' }, (fetch) =>
        new OpenAI({ apiKey: KEY, baseURL: service.url, maxRetries: 0, fetch }).post('/thing', { body: { b: 2 } }),
      );
    service.next({ kind: 'answer', status: 404, body: openAiError('The model `x` does not exist', 'model_not_found') });
    expect(await failure(call())).toMatchObject({ fault: 'refused', status: 404 });
    service.next(limited({ 'retry-after': '1' }));
    expect(await call()).toEqual({ echo: { b: 2 } });
    const sent = service.asked.length;
    expect(await call()).toEqual({ echo: { b: 2 } });
    expect(service.asked.length).toBe(sent);
  });
});

describe('money', () => {
  const priced = (wire: Wire, upTo: number, actual?: number): Promise<unknown> =>
    ask(wire, { cost: { what: 'test', upTo, actual: () => actual } });

  it('is reserved before and settled after, so that no number in flight exceeds the cap', async () => {
    const wire = createWire({ budget: createBudget({ maxCost: 1 }), concurrency: 16 });
    let inFlight = 0;
    let most = 0;
    const slow = await startService(async () => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inFlight--;
      return { body: {} };
    });
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, () =>
        wire.json(
          { service: 'test', url: slow.url, body: {}, cost: { what: 'test', upTo: 0.3, actual: () => 0.1 } },
          () => 1,
        ),
      ),
    );
    await slow.close();
    // Three reservations of 0.3 fit at a time; settled at 0.1 each, the eighth is the last that is sure to fit.
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(3);
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(8);
    const refused = results.filter((result) => result.status === 'rejected');
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'COST_CAP', exitStatus: 3 });
    expect(wire.report().usd).toBeCloseTo(0.8, 12);
  });

  it('counts what a refusal costs (nothing) and what a broken answer may have cost (all of it)', async () => {
    const refused = wireOf({ budget: createBudget({ maxCost: 1 }) });
    service.next(limited({ 'retry-after': '1' }), { kind: 'answer', status: 400, body: 'no' });
    await failure(priced(refused, 0.5, 0.2));
    expect(refused.report().usd).toBe(0);
    const broken = wireOf({ budget: createBudget({ maxCost: 1 }) });
    service.next({ kind: 'half' });
    await priced(broken, 0.3, 0.2);
    expect(broken.report().usd).toBeCloseTo(0.5, 12);
    const mute = wireOf();
    await priced(mute, 0.3);
    expect(mute.report().usd).toBe(0.3);
  });

  it('a cap of nothing allows nothing that costs', async () => {
    const wire = wireOf({ budget: createBudget({ maxCost: 0 }) });
    expect(await failure(priced(wire, 0.001))).toMatchObject({ code: 'COST_CAP' });
    await ask(wire);
    expect(service.asked.length).toBe(1);
  });
});
