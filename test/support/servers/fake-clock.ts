/** Time that passes only when somebody sleeps, and notes how long: waits of minutes are tested in no time. */
import type { WireClock } from '../../../src/run/wire/mod.ts';

export interface FakeClock extends WireClock {
  readonly sleeps: readonly number[];
  advance(ms: number): void;
}

export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  const sleeps: number[] = [];
  return {
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      now += ms;
      // Sockets are real: let them work.
      await new Promise((resolve) => setImmediate(resolve));
    },
    sleeps,
    advance(ms) {
      now += ms;
    },
  };
}
