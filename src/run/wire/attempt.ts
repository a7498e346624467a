/**
 * One try: a request out, its whole answer in. Bounded in time (until the answer begins, and between two pieces of it: a
 * server that drips is cut off), in size, and in place: a redirect is followed within the same host only, for the key in the
 * headers is meant for no other.
 */
import { DocOptError } from '../../errors.ts';

export interface AttemptOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | Uint8Array | FormData | undefined;
  readonly timeoutMs: number;
  /** Longest silence within an answer. */
  readonly idleMs: number;
  /** For all of it. */
  readonly totalMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** What to send to another host that a redirect leads to, checked first. Absent: such a redirect is not followed. */
  readonly elsewhere?: (target: URL) => Headers;
}

export type Outcome =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly bytes: Uint8Array }
  /** `sent`: the service may have carried it out. */
  | {
      readonly kind: 'broken';
      readonly reason: string;
      readonly sent: boolean;
      readonly hopeless: boolean;
      readonly cause?: unknown;
    };

const MOST_REDIRECTS = 3;

/** Never throws but the signal's reason. */
export async function attempt(options: AttemptOptions): Promise<Outcome> {
  let { url, headers } = options;
  for (let hop = 0; ; hop++) {
    const outcome = await exchange({ ...options, headers }, url);
    if (outcome.kind === 'broken' || outcome.status < 300 || outcome.status >= 400 || outcome.status === 304)
      return outcome;
    const location = outcome.headers.get('location');
    const target = location === null || !URL.canParse(location, url.href) ? undefined : new URL(location, url);
    if (target === undefined)
      return broken(`it answered ${outcome.status} without saying where to go`, { hopeless: true });
    if (target.origin !== url.origin && options.elsewhere !== undefined) headers = options.elsewhere(target);
    else if (target.origin !== url.origin) {
      return broken(`it redirects to ${target.host}, and what is meant for ${url.host} is not sent there`, {
        hopeless: true,
      });
    }
    // 301 and 302 may turn a POST into a GET, which is no request of ours.
    if (hop >= MOST_REDIRECTS || (options.method !== 'GET' && outcome.status !== 307 && outcome.status !== 308)) {
      return broken(`it redirects (${outcome.status}) to ${target.pathname}`, { hopeless: true });
    }
    url = target;
  }
}

async function exchange(options: AttemptOptions, url: URL): Promise<Outcome> {
  const { signal } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal!.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  let answered = false;
  let late: string | undefined;
  const timer = (ms: number, what: string) =>
    setTimeout(() => {
      late = what;
      stop.abort(new Error(what));
    }, ms);
  const end = timer(options.totalMs, `no whole answer within ${seconds(options.totalMs)}`);
  let clock = timer(options.timeoutMs, `no answer within ${seconds(options.timeoutMs)}`);
  try {
    const response = await options.fetch(url, {
      method: options.method,
      headers: options.headers,
      body: options.body as RequestInit['body'],
      redirect: 'manual',
      signal: stop.signal,
    });
    answered = true;
    const pieces: Uint8Array[] = [];
    let size = 0;
    if (response.body !== null) {
      const reader = response.body.getReader();
      for (;;) {
        clearTimeout(clock);
        clock = timer(options.idleMs, `the answer stopped for ${seconds(options.idleMs)} in its middle`);
        const { done, value } = await reader.read();
        if (done) break;
        size += value.length;
        if (size > options.maxBytes) {
          stop.abort();
          return broken(`the answer is larger than ${options.maxBytes} bytes`, { sent: true, hopeless: true });
        }
        pieces.push(value);
      }
    }
    return { kind: 'answer', status: response.status, headers: response.headers, bytes: Buffer.concat(pieces) };
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (error instanceof DocOptError) throw error;
    if (late !== undefined) return broken(late, { sent: true, cause: error });
    const code = codeOf(error);
    return broken(
      REASONS[code] ??
        (answered
          ? 'the connection broke in the middle of the answer'
          : `the connection failed${code === '' ? '' : ` (${code})`}`),
      {
        sent: answered || !UNSENT.has(code),
        hopeless: HOPELESS.has(code) || /CERT|SSL|TLS/.test(code),
        cause: error,
      },
    );
  } finally {
    clearTimeout(clock);
    clearTimeout(end);
    signal?.removeEventListener('abort', onAbort);
  }
}

function broken(reason: string, facts: { sent?: boolean; hopeless?: boolean; cause?: unknown }): Outcome {
  const { sent = false, hopeless = false, cause } = facts;
  return { kind: 'broken', reason, sent, hopeless, cause };
}

/** The system's or undici's code, which hides at the end of a chain of causes. */
function codeOf(error: unknown): string {
  let found = '';
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth++) {
    const { code } = current as { code?: unknown };
    if (typeof code === 'string') found = code;
    if (current instanceof AggregateError && current.errors.length > 0) found = codeOf(current.errors[0]) || found;
  }
  return found;
}

/** Nothing reached the service. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const HOPELESS = new Set(['ERR_INVALID_URL', 'UND_ERR_INVALID_ARG', 'DEPTH_ZERO_SELF_SIGNED_CERT']);
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (connection refused)',
  ENOTFOUND: 'its name is not known (DNS)',
  EAI_AGAIN: 'its name cannot be looked up (DNS)',
  UND_ERR_CONNECT_TIMEOUT: 'it does not take connections in time',
};

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
