/**
 * The face of the wire: what a driver of a remote service asks for and gets. Types only. docs/wire.md tells the story.
 */
import type { ResponseCache } from '../../store/response-cache.ts';
import type { Hold } from './budget.ts';

/** One exchange with a service, as a driver asks for it. */
export interface WireRequest {
  /** Who is spoken to: 'openai', 'cohere'. In messages, and with the host the key of its limits. */
  readonly service: string;
  readonly url: string;
  /** Default POST. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects travel as JSON; texts and bytes as they are. */
  readonly body?: unknown;
  /**
   * Whether it may be sent again when nobody knows if the first one was carried out (a reset connection, a 500):
   * 'always' for reading, computing and replacing, 'unsent' where twice is not once (creating a batch job). Refusals
   * (429, 503 with Retry-After, no connection) are repeated in any case. Default: 'unsent' for POST, else 'always'.
   */
  readonly repeat?: 'always' | 'unsent';
  /** Tokens that the service will count against its limit per minute; 0 = unknown. */
  readonly tokens?: number;
  /** What it may cost, reserved before sending. Absent = free. */
  readonly cost?: WireCost;
  /** Key under which the answer is recorded and looked up, see `requestKey`. Absent = the driver records for itself, or nobody does. */
  readonly record?: string;
  /** A redirect to another (allowed) host is followed, without any header but Range: files that lie on some CDN. */
  readonly elsewhere?: true;
  readonly signal?: AbortSignal;
  /** Milliseconds that all tries and waits may take together. */
  readonly deadlineMs?: number;
  /** Milliseconds that one try may take until its answer has begun. */
  readonly timeoutMs?: number;
  /** Largest answer, in bytes. */
  readonly maxBytes?: number;
}

export interface WireCost {
  /** For messages. */
  readonly what: string;
  /** US dollars that it cannot exceed. */
  readonly upTo: number;
  /** US dollars by the usage that the answer states; undefined = it states none, then `upTo` counts. */
  actual?(answer: WireAnswer): number | undefined;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** Nothing was sent: the answer was on record. */
  readonly recorded: boolean;
}

/** What a request will cost and count, for calls that go through somebody's SDK: everything but the HTTP itself. */
export type WirePlan = Omit<WireRequest, 'url' | 'method' | 'headers' | 'body'> & {
  /** Default json: an answer that is no JSON is no answer. */
  readonly answer?: 'json' | 'bytes';
  /** As of `json`: what it throws keeps the answer off the record, and a WireError 'malformed' is tried again. */
  check?(body: unknown): void;
};

export interface Wire {
  /**
   * The answer, with a status of 200-299. Waits for its turn (concurrency, requests and tokens per minute), reserves the
   * cost, retries what may be retried, records. Throws WireError for what the service said and what the network did,
   * COST_CAP before a cap would be exceeded, ENVIRONMENT offline or for a host that is not on the list, and the signal's
   * reason when that aborts.
   */
  send(request: WireRequest): Promise<WireAnswer>;
  /** `send`, with the answer parsed and checked: what `check` throws keeps the answer off the record. */
  json<T>(request: WireRequest, check: (body: unknown, answer: WireAnswer) => T): Promise<T>;
  /**
   * A call of a vendor's SDK whose HTTP goes through here: `through({service: 'openai', ...}, (fetch) => new
   * OpenAI({fetch, maxRetries: 0}).embeddings.create(...))`. Throws what the wire throws, whatever the SDK makes of it.
   */
  through<T>(plan: WirePlan, call: (fetch: typeof globalThis.fetch) => Promise<T>): Promise<T>;
  /** Reserves money for what is paid for later than it is sent, such as a batch job; throws as `send` does at a cap. */
  hold(usd: number, what: string): Promise<Hold>;
  /** Answers that were paid before. A cache that keeps nothing when there is no place for one. */
  readonly cache: ResponseCache;
  /** `--price in,out`: US dollars per million tokens, in place of the price table. */
  readonly price?: { readonly input: number; readonly output: number };
  /** A price is needed: a cap stands on it. */
  readonly capped: boolean;
  report(): WireReport;
  /** Lets go of files. Requests in flight go on. */
  close(): void;
}

/** What went over the wire so far. */
export interface WireReport {
  readonly requests: number;
  /** Tries beyond the first of each request. */
  readonly retries: number;
  /** Answers that were on record. */
  readonly recorded: number;
  readonly tokens: number;
  readonly usd: number;
}
