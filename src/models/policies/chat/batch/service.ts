/** What the two vendors' batch APIs have in common. */
import type { Wire } from '../../../../run/wire/mod.ts';
import type { BatchState } from '../../../../store/batches.ts';
import type { Endpoint } from '../../../endpoint.ts';
import type { Body } from '../apis.ts';

export interface BatchRequest {
  /** The key of the record. */
  readonly id: string;
  readonly body: Body;
}

export interface BatchProgress {
  readonly state: 'open' | 'ended' | 'failed';
  /** Somebody cancelled it. */
  readonly cancelled: boolean;
  readonly done: number;
  /** Of a failed one: the vendor's words. */
  readonly said: string;
  /** Refused for now, because too much is in the vendor's queue. */
  readonly later: boolean;
}

export type BatchResult =
  | { readonly id: string; readonly kind: 'answer'; readonly body: unknown }
  /** Would be refused every time. */
  | { readonly id: string; readonly kind: 'refused'; readonly said: string }
  /** Expired, cancelled, or the vendor's own failure: worth another try. */
  | { readonly id: string; readonly kind: 'again'; readonly said: string };

export interface BatchService {
  /** Of one job. */
  readonly most: { readonly requests: number; readonly bytes: number };
  /** What one request takes of these bytes. */
  line(request: BatchRequest, route: string): string;
  /** Sends a job; `save` is called with what is known after every step that matters. Resolves with the vendor's name of it. */
  submit(state: BatchState, lines: readonly string[], save: (state: BatchState) => Promise<void>): Promise<string>;
  /** Jobs of the vendor that may be this one, whose sending was cut off, best first. Read-only. */
  find(state: BatchState): Promise<string[]>;
  poll(batch: string): Promise<BatchProgress>;
  /** Every result there is, in any order. */
  results(batch: string): AsyncIterable<BatchResult>;
  cancel(batch: string): Promise<void>;
}

export interface BatchWay {
  readonly wire: Wire;
  readonly endpoint: Endpoint;
  readonly signal?: AbortSignal;
}

/** Uploads and results are large. */
export const LARGE = { timeoutMs: 1_800_000, deadlineMs: 3_600_000, maxBytes: 2 ** 31 - 1 } as const;

/** Clocks of two machines may differ so much. */
export const SKEW_MS = 600_000;

/** Lines of JSON in bytes that may be more than one string holds. */
export function* jsonLines(bytes: Uint8Array): Generator<Record<string, unknown>> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let from = 0; from < buffer.length; ) {
    const end = buffer.indexOf(10, from);
    const line = buffer.toString('utf8', from, end < 0 ? buffer.length : end).trim();
    from = end < 0 ? buffer.length : end + 1;
    if (line !== '') yield JSON.parse(line) as Record<string, unknown>;
  }
}

/** Statuses that are about one document, and would come again. */
export const isRefusal = (status: number): boolean => status === 400 || status === 413 || status === 422;
