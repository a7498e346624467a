/**
 * The one way out: every HTTP request of the project goes through here. docs/wire.md has the rules. In order: was it answered
 * before, is the host allowed, whose turn is it, can it be paid; then one try after the other until there is an answer, a
 * refusal, or no time left.
 */
import { setMaxListeners } from 'node:events';
import { createRng } from '../../kernels/rng.ts';
import type { Log } from '../../ports.ts';
import { cacheKey, memoryCache, type ResponseCache } from '../../store/response-cache.ts';
import { registerSecret } from '../redact.ts';
import { parseAnswer } from './answer-json.ts';
import { attempt } from './attempt.ts';
import { type Budget, createBudget } from './budget.ts';
import { systemClock, type WireClock } from './clock.ts';
import { allowedUrl, type HostRules } from './hosts.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { secretsIn } from './said.ts';
import { createTries } from './tries.ts';
import type { Wire, WireAnswer, WireCost, WirePlan, WireReport, WireRequest } from './types.ts';
import { judge } from './verdict.ts';
import { WireError } from './wire-error.ts';

export interface WireOptions extends HostRules {
  readonly log?: Log;
  /** Default: of this process alone. */
  readonly cache?: ResponseCache;
  /** Default: no cap. */
  readonly budget?: Budget;
  readonly price?: { readonly input: number; readonly output: number };
  /** Requests in flight per service and host. Default 8. */
  readonly concurrency?: number;
  /** Per service and host; default: until it complains. */
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** Tries of one request. Default 6. */
  readonly attempts?: number;
  /** Until an answer begins. Default 120,000. */
  readonly timeoutMs?: number;
  /** Longest silence within an answer. Default 30,000. */
  readonly idleMs?: number;
  /** All tries and waits of one request together, from its turn on. Default 600,000. */
  readonly deadlineMs?: number;
  /** Of the jitter. Default: by the time. */
  readonly seed?: number;
  readonly clock?: WireClock;
  readonly fetch?: typeof globalThis.fetch;
  /** Every request ends when this aborts. */
  readonly signal?: AbortSignal;
}

const MAX_BYTES = 256 * 2 ** 20;
/** An answer that does not parse is usually a proxy's and passes; after so many tries it is how the service is. */
const MALFORMED_ATTEMPTS = 3;

export function createWire(options: WireOptions = {}): Wire {
  const { log, budget = createBudget({}), clock = systemClock } = options;
  const rng = createRng(options.seed ?? clock.now() >>> 0);
  const limiters = new Map<string, Limiter>();
  const counts = { requests: 0, retries: 0, recorded: 0, tokens: 0 };
  const record = options.cache ?? memoryCache();
  // Drivers look up for themselves too, and what they find counts as well.
  const cache: ResponseCache = {
    ...record,
    get(key) {
      const found = record.get(key);
      if (found !== undefined) counts.recorded++;
      return found;
    },
  };
  // As many listeners as there are requests in flight, which is no leak.
  if (options.signal !== undefined) setMaxListeners(0, options.signal);

  const limiterOf = (service: string, host: string): Limiter => {
    const key = `${service} ${host}`;
    let limiter = limiters.get(key);
    if (limiter === undefined) {
      const { requestsPerMinute, tokensPerMinute, concurrency = 8 } = options;
      limiter = createLimiter({ concurrency, requestsPerMinute, tokensPerMinute, clock });
      limiters.set(key, limiter);
    }
    return limiter;
  };

  const send = async (request: WireRequest, accept: (answer: WireAnswer) => void): Promise<WireAnswer> => {
    const found = request.record === undefined ? undefined : cache.get(request.record);
    if (found !== undefined) {
      const answer = { status: 200, headers: new Headers(), bytes: found, recorded: true };
      accept(answer);
      return answer;
    }
    const url = allowedUrl(request.url, request.service, options);
    const headers = new Headers(request.headers);
    const body = bodyOf(request.body, headers);
    const secrets = secretsIn(headers);
    for (const secret of secrets) registerSecret(secret);
    const signal = anyOf(options.signal, request.signal);
    const limiter = limiterOf(request.service, url.host);

    return limiter.turn(async (pass) => {
      const tries = createTries({
        service: request.service,
        most: options.attempts ?? 6,
        deadline: clock.now() + (request.deadlineMs ?? options.deadlineMs ?? 600_000),
        clock,
        random: rng.next,
        signal,
        onRetry(error, waitMs) {
          counts.retries++;
          log?.debug(`${error.message}; trying again in ${(waitMs / 1000).toFixed(1)} s`);
        },
      });
      for (;;) {
        signal?.throwIfAborted();
        await pass(request.tokens ?? 0, signal);
        const left = tries.left();
        const startedAt = clock.now();
        // Every try is paid for by itself: what a broken one cost nobody knows.
        const hold = request.cost && (await budget.reserve(request.cost.upTo, request.cost.what));
        let charge = 0;
        try {
          counts.requests++;
          const outcome = await attempt({
            fetch: options.fetch ?? globalThis.fetch,
            method: request.method ?? 'POST',
            url,
            headers,
            body,
            timeoutMs: request.timeoutMs ?? options.timeoutMs ?? 120_000,
            idleMs: options.idleMs ?? 30_000,
            totalMs: left,
            maxBytes: request.maxBytes ?? MAX_BYTES,
            signal,
            elsewhere:
              request.elsewhere &&
              ((target) => {
                allowedUrl(target.href, request.service, options);
                const range = headers.get('range');
                return new Headers(range === null ? {} : { range });
              }),
          }).catch((error) => {
            charge = request.cost?.upTo ?? 0;
            throw error;
          });
          const verdict = judge(outcome, request, url.host, secrets, clock.now());
          if (verdict.kind === 'good') {
            charge = chargeOf(request.cost, verdict.answer);
            limiter.succeeded(verdict.answer.headers);
            const wrong = malformedBy(accept, verdict.answer);
            if (wrong === undefined) return keep(verdict.answer, request);
            await tries.next(wrong, undefined, request.repeat === 'always' ? MALFORMED_ATTEMPTS : 1);
            continue;
          }
          if (verdict.maybeDone) charge = request.cost?.upTo ?? 0;
          if (verdict.congested) limiter.congested(startedAt, verdict);
          hold?.settle(charge);
          if (!verdict.retry) throw verdict.error;
          await tries.next(verdict.error, verdict.waitMs, verdict.most);
        } finally {
          hold?.settle(charge);
        }
      }
    });
  };

  const keep = (answer: WireAnswer, request: WireRequest): WireAnswer => {
    counts.tokens += request.tokens ?? 0;
    if (request.record !== undefined)
      cache.put([[request.record, answer.bytes]], request.cost?.what ?? request.service);
    return answer;
  };

  const wire: Wire = {
    send: (request) => send(request, () => {}),
    async json(request, check) {
      let value: ReturnType<typeof check> | undefined;
      await send(request, (answer) => {
        const parsed = parseAnswer(answer.bytes);
        if (!parsed.ok) throw malformed(request, parsed.reason);
        value = check(parsed.body, answer);
      });
      return value!;
    },
    async through(plan, call) {
      let thrown: unknown;
      const fetch: typeof globalThis.fetch = (input, init) =>
        sendForSdk(send, plan, input, init).catch((error) => {
          thrown = error;
          throw error;
        });
      return call(fetch).catch((error) => {
        throw thrown ?? error;
      });
    },
    hold: (usd, what) => budget.reserve(usd, what),
    cache,
    price: options.price,
    capped: budget.capped,
    report: (): WireReport => ({ ...counts, usd: budget.spent }),
    close: () => cache.close(),
  };
  return wire;
}

/** The key of a whole exchange, for `record`: everything that decides the answer, nothing that is secret. */
export function requestKey(service: string, url: string, body: unknown): string {
  return cacheKey('request', service, url, JSON.stringify(body));
}

async function sendForSdk(
  send: (request: WireRequest, accept: (answer: WireAnswer) => void) => Promise<WireAnswer>,
  plan: WirePlan,
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<Response> {
  const request: WireRequest = {
    ...plan,
    url: typeof input === 'string' ? input : input instanceof URL ? input.href : input.url,
    method: (init?.method ?? 'GET').toUpperCase() as WireRequest['method'],
    headers: Object.fromEntries(new Headers(init?.headers)),
    body: init?.body ?? undefined,
    signal: anyOf(plan.signal, init?.signal ?? undefined),
  };
  let mended: string | undefined;
  const answer = await send(request, ({ bytes }) => {
    if (plan.answer === 'bytes' || bytes.length === 0) return;
    const parsed = parseAnswer(bytes);
    if (!parsed.ok) throw malformed(request, parsed.reason);
    if (parsed.mended) mended = JSON.stringify(parsed.body);
    plan.check?.(parsed.body);
  });
  const headers = new Headers(answer.headers);
  // It is JSON, whatever label a proxy put on it; an SDK would give back a text.
  if (plan.answer !== 'bytes') headers.set('content-type', 'application/json');
  // The bytes are decoded and whole already.
  headers.delete('content-encoding');
  headers.delete('content-length');
  const body = answer.status === 204 ? null : (mended ?? Uint8Array.from(answer.bytes));
  return new Response(body, { status: answer.status, headers });
}

function chargeOf(cost: WireCost | undefined, answer: WireAnswer): number {
  if (cost === undefined) return 0;
  const actual = cost.actual?.(answer);
  return actual !== undefined && Number.isFinite(actual) && actual >= 0 ? actual : cost.upTo;
}

/** The complaint about an answer that is none; what else `accept` throws passes. */
function malformedBy(accept: (answer: WireAnswer) => void, answer: WireAnswer): WireError | undefined {
  try {
    accept(answer);
    return undefined;
  } catch (error) {
    if (error instanceof WireError && error.fault === 'malformed') return error;
    throw error;
  }
}

function malformed({ service }: WireRequest, reason: string): WireError {
  return new WireError('malformed', `${service} answered ${reason}`, {
    hint: 'Is this the address of the API itself, and nothing (a proxy, a login page) in between?',
  });
}

function bodyOf(body: unknown, headers: Headers): string | Uint8Array | FormData | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData)
    return body;
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return JSON.stringify(body);
}

function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const present = signals.filter((signal) => signal !== undefined);
  return present.length < 2 ? present[0] : AbortSignal.any(present);
}
