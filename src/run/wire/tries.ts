/** The tries of one request: how many there were, and how long to wait for the next, within the one deadline. */
import type { WireClock } from './clock.ts';
import { WireError } from './wire-error.ts';

/** First wait after a failure; doubles with every further one. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;

export interface TriesOptions {
  readonly service: string;
  readonly most: number;
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly clock: WireClock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onRetry: (error: WireError, waitMs: number) => void;
  readonly signal?: AbortSignal;
}

export interface Tries {
  /** Milliseconds that are left; throws when there are none. */
  left(): number;
  /** Waits for the next try, or throws `error` with what there was of tries. `askedMs`: how long the service wants to be left alone. */
  next(error: WireError, askedMs?: number, most?: number): Promise<void>;
}

export function createTries(options: TriesOptions): Tries {
  const { service, deadline, clock, random, signal } = options;
  let count = 0;
  let last: WireError | undefined;
  return {
    left() {
      const left = deadline - clock.now();
      if (left > 0) return left;
      throw (
        last ??
        new WireError('deadline', `${service}: its turn did not come in time`, {
          hint: 'Allow more time (wire.deadlineSeconds), or more at once (wire.concurrency).',
        })
      );
    },
    async next(error, askedMs, most = options.most) {
      last = error;
      count++;
      if (count >= Math.min(options.most, most)) throw restated(error, count === 1 ? '' : ` (${count} tries)`);
      const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - 1));
      // Half by chance: many that failed together do not come back together.
      const wait = askedMs === undefined ? backoff * (0.5 + 0.5 * random()) : askedMs + FIRST_WAIT_MS * random();
      if (clock.now() + wait >= deadline) {
        throw restated(
          error,
          `; it is to be asked again in ${Math.ceil(wait / 1000)} s, and there is not so much time`,
        );
      }
      options.onRetry(error, wait);
      await clock.sleep(wait, signal);
    },
  };
}

function restated(error: WireError, more: string): WireError {
  const { fault, hint, status, said } = error;
  return new WireError(fault, `${error.message}${more}`, { hint, status, said, cause: error.cause ?? error });
}
