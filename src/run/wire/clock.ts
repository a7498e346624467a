/** Time and chance as arguments, so that a test can own them. */
export interface WireClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Rejects with the signal's reason when that aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: WireClock = {
  now: Date.now,
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal!.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    });
  },
};
