/** What came of one try: an answer, or what went wrong and whether another try is in order. */
import type { Outcome } from './attempt.ts';
import { retryAfterMs } from './retry-after.ts';
import { errorCodeIn, saidBy } from './said.ts';
import type { WireAnswer, WireRequest } from './types.ts';
import { WireError, type WireFault } from './wire-error.ts';

export type Verdict =
  | { readonly kind: 'good'; readonly answer: WireAnswer }
  | {
      readonly kind: 'bad';
      readonly error: WireError;
      readonly retry: boolean;
      /** The service has too much to do. */
      readonly congested: boolean;
      /** It says that too much was asked of it per minute. */
      readonly limited: boolean;
      /** The work may have been done, and so may be billed. */
      readonly maybeDone: boolean;
      readonly headers?: Headers;
      readonly waitMs?: number;
      /** Fewer tries than usual. */
      readonly most?: number;
    };

/** Asked too early, too often, or of a service that fails at the moment. */
const PASSING = new Set([408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);
const CONGESTED = new Set([429, 503, 529]);
/** Without a connection nothing was sent and waiting seldom helps. */
const UNSENT_ATTEMPTS = 3;

export function judge(
  outcome: Outcome,
  request: WireRequest,
  host: string,
  secrets: readonly string[],
  now: number,
): Verdict {
  const mayRepeat = repeatOf(request) === 'always';
  const at = `${request.service} (${host})`;
  if (outcome.kind === 'broken') {
    const { reason, sent, hopeless, cause } = outcome;
    const hint = sent
      ? 'Check the service and the network between.'
      : 'Is the address right, and does the service run?';
    return {
      kind: 'bad',
      error: new WireError('network', `${at}: ${reason}`, { hint, cause }),
      retry: !hopeless && (!sent || mayRepeat),
      congested: false,
      limited: false,
      maybeDone: sent,
      most: sent ? undefined : UNSENT_ATTEMPTS,
    };
  }
  const { status, headers, bytes } = outcome;
  if (status >= 200 && status < 300) return { kind: 'good', answer: { status, headers, bytes, recorded: false } };

  const said = saidBy(bytes, secrets);
  const outOfQuota = /insufficient_quota|billing|credit/i.test(errorCodeIn(bytes));
  const fault: WireFault = status === 429 ? 'limited' : status >= 500 ? 'server' : 'refused';
  const message = `${at} answered ${status}${said === '' ? '' : `: ${said}`}`;
  const waitMs = retryAfterMs(headers, now);
  const refusedForNow = status === 429 || (status === 503 && waitMs !== undefined);
  return {
    kind: 'bad',
    error: new WireError(fault, message, { hint: hintFor(status, outOfQuota), status, said }),
    retry: PASSING.has(status) && !outOfQuota && (refusedForNow || mayRepeat),
    congested: CONGESTED.has(status) && !outOfQuota,
    limited: status === 429,
    maybeDone: status >= 500 && !refusedForNow,
    headers,
    waitMs,
  };
}

/** Computing is asked for by POST too, so only the driver knows; without its word a POST is not sent twice. */
function repeatOf({ repeat, method = 'POST' }: WireRequest): 'always' | 'unsent' {
  return repeat ?? (method === 'POST' ? 'unsent' : 'always');
}

function hintFor(status: number, outOfQuota: boolean): string {
  if (outOfQuota) return 'The account has no credit left: that is for its owner to change.';
  switch (status) {
    case 401:
    case 403:
      return 'Check the key in the environment (OPENAI_API_KEY, COHERE_API_KEY, ... or what `authFrom` of the block names), and what it may do.';
    case 404:
      return 'Check the model name and the address (does it need /v1 at its end?).';
    case 413:
      return 'Send less at once: `batchSize` of the block.';
    case 429:
      return 'Lower wire.concurrency, wire.requestsPerMinute or wire.tokensPerMinute, or try later; what was answered is kept.';
    default:
      return status >= 500 ? 'Try again later; what was answered is kept.' : 'Check the settings of the block.';
  }
}
