/**
 * Turns at one service. Three things bound them: how many requests are in flight (p-limit, whose size grows by one a round
 * and halves when the service says it is too much), how many requests and tokens start per minute (buckets whose rate does
 * the same), and moments until which the service asked to be left alone.
 */
import pLimit from 'p-limit';
import type { WireClock } from './clock.ts';
import { type Remaining, remainingOf } from './retry-after.ts';

export interface LimiterOptions {
  /** Most requests in flight. */
  readonly concurrency: number;
  /** Upper bounds; undefined = until the service complains. */
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly clock: WireClock;
}

export interface Limiter {
  /** Runs `job` when it is its turn. `job` may ask `pass` again before each further try. */
  turn<T>(job: (pass: (tokens: number, signal?: AbortSignal) => Promise<void>) => Promise<T>): Promise<T>;
  /** An answer came: its headers tell how much is left. */
  succeeded(headers: Headers): void;
  /** The service said that it is too much, to a request that started at `startedAt`. */
  congested(startedAt: number, complaint: Complaint): void;
  /** For tests and reports. */
  state(): { readonly window: number; readonly requestRate: number; readonly tokenRate: number };
}

export interface Complaint {
  /** Too many per minute, and not only too busy at the moment. */
  readonly limited: boolean;
  readonly headers?: Headers;
  /** How long it wants to be left alone. */
  readonly waitMs?: number;
}

const MINUTE = 60_000;

export function createLimiter(options: LimiterOptions): Limiter {
  const { clock, concurrency } = options;
  const slots = pLimit(concurrency);
  const requests = createBucket(options.requestsPerMinute, clock);
  const tokens = createBucket(options.tokensPerMinute, clock);
  let window = concurrency;
  let pausedUntil = 0;
  let lastDecrease = Number.NEGATIVE_INFINITY;

  const resize = (next: number): void => {
    window = Math.min(concurrency, Math.max(1, next));
    slots.concurrency = Math.floor(window);
  };
  const heed = (bucket: Bucket, remaining: Remaining | undefined): void => {
    if (remaining !== undefined) bucket.told(remaining);
  };
  const look = (headers: Headers): void => {
    heed(requests, remainingOf(headers, 'requests', clock.now()));
    heed(tokens, remainingOf(headers, 'tokens', clock.now()));
  };

  return {
    turn: (job) =>
      slots(() =>
        job(async (wanted, signal) => {
          for (;;) {
            const wait = Math.max(pausedUntil - clock.now(), requests.wait(1), tokens.wait(wanted));
            if (wait <= 0) break;
            await clock.sleep(wait, signal);
          }
          requests.take(1);
          tokens.take(wanted);
        }),
      ),
    succeeded(headers) {
      resize(window + 1 / window);
      requests.increase();
      tokens.increase();
      look(headers);
    },
    congested(startedAt, { limited, headers, waitMs }) {
      if (waitMs !== undefined) pausedUntil = Math.max(pausedUntil, clock.now() + waitMs);
      if (headers !== undefined) look(headers);
      // One storm of refusals is one event: those that started before the last decrease say nothing new.
      if (startedAt < lastDecrease) return;
      lastDecrease = clock.now();
      resize(window / 2);
      if (!limited) return;
      requests.decrease();
      tokens.decrease();
    },
    state: () => ({ window, requestRate: requests.rate(), tokenRate: tokens.rate() }),
  };
}

interface Bucket {
  /** Milliseconds until so much may be taken. */
  wait(amount: number): number;
  take(amount: number): void;
  /** The service's own count. */
  told(remaining: Remaining): void;
  increase(): void;
  decrease(): void;
  /** Per minute; Infinity while nobody has complained. */
  rate(): number;
}

/** Lowest rate per minute that a decrease leads to. */
const SLOWEST = 1;
/** Share of the rate at the last decrease that every success adds. */
const STEP = 0.05;

function createBucket(ceiling: number | undefined, clock: WireClock): Bucket {
  let rate = ceiling ?? Number.POSITIVE_INFINITY;
  let step = (ceiling ?? 0) * STEP;
  let level = rate;
  let updated = clock.now();
  let closedUntil = 0;
  /** What was taken in the last minute: the rate that a first complaint halves. */
  let taken: { readonly at: number; readonly amount: number }[] = [];

  const refill = (): void => {
    const now = clock.now();
    level = Math.min(rate, level + ((now - updated) / MINUTE) * rate);
    if (Number.isNaN(level)) level = rate;
    updated = now;
  };

  return {
    wait(amount) {
      refill();
      const closed = closedUntil - clock.now();
      if (closed > 0) return closed;
      if (rate === Number.POSITIVE_INFINITY) return 0;
      // What is larger than a whole minute's worth has to be let through a full bucket.
      const needed = Math.min(amount, rate);
      return level >= needed ? 0 : Math.max(1, Math.ceil(((needed - level) / rate) * MINUTE));
    },
    take(amount) {
      const now = clock.now();
      if (rate === Number.POSITIVE_INFINITY) {
        taken = taken.filter(({ at }) => now - at < MINUTE);
        taken.push({ at: now, amount });
      } else level -= amount;
    },
    told({ remaining, resetMs }) {
      refill();
      if (remaining <= 0) closedUntil = Math.max(closedUntil, clock.now() + resetMs);
      else level = Math.min(level, remaining);
    },
    increase() {
      if (rate === Number.POSITIVE_INFINITY) return;
      rate = Math.min(ceiling ?? Number.MAX_VALUE, rate + step);
    },
    decrease() {
      refill();
      if (rate === Number.POSITIVE_INFINITY) {
        const now = clock.now();
        const recent = taken.filter(({ at }) => now - at < MINUTE);
        const amount = recent.reduce((sum, entry) => sum + entry.amount, 0);
        if (amount <= 0) return;
        // A run that has just begun is judged by its pace, not by a minute that it has not had.
        const seconds = Math.max(1, (now - recent[0].at) / 1000);
        rate = (amount / seconds) * 60;
      }
      rate = Math.max(SLOWEST, rate / 2);
      step = rate * STEP;
      level = Math.min(level, rate / 60);
    },
    rate: () => rate,
  };
}
