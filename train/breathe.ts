/**
 * Lets the event loop turn once. Training computes for long stretches without waiting for anything; without this a Ctrl-C,
 * or another request of the same process, would not be heard until the end.
 */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
