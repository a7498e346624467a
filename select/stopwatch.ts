/** Where the time of a selection goes: into deciding, or into the reranker. */
export interface Timings {
  readonly totalMs: number;
  readonly selectorMs: number;
  readonly rerankerMs: number;
}

export interface Stopwatch {
  selector<T>(work: () => T): T;
  reranker<T>(work: () => Promise<T>): Promise<T>;
  timings(): Timings;
}

export function stopwatch(): Stopwatch {
  const started = performance.now();
  let selectorMs = 0;
  let rerankerMs = 0;
  return {
    selector(work) {
      const from = performance.now();
      try {
        return work();
      } finally {
        selectorMs += performance.now() - from;
      }
    },
    async reranker(work) {
      const from = performance.now();
      try {
        return await work();
      } finally {
        rerankerMs += performance.now() - from;
      }
    },
    timings: () => ({
      totalMs: round(performance.now() - started),
      selectorMs: round(selectorMs),
      rerankerMs: round(rerankerMs),
    }),
  };
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
