/**
 * Vectors of a local model that were computed before, by this run or another one: under the model's fingerprint and the
 * very text that it saw. An interrupted build goes on where it stopped, and the rewrites of a training are embedded once.
 */
import type { ResponseCache } from '../../store/response-cache.ts';
import { cacheKey } from '../../store/response-cache.ts';

export interface KeptVectors {
  get(text: string): Float32Array | undefined;
  put(text: string, vector: Float32Array): void;
  /** What was put is on disk afterwards; a kill costs what was put since. */
  flush(): void;
}

/** Computed vectors per write: what a kill can cost. */
const PER_WRITE = 64;

/** `fingerprint`: of everything but the text that decides a vector. */
export function keptVectors(cache: ResponseCache, fingerprint: string, width: number, model: string): KeptVectors {
  let waiting: (readonly [string, Uint8Array])[] = [];
  const keyOf = (text: string): string => cacheKey('vector', fingerprint, text);
  const flush = (): void => {
    const entries = waiting;
    waiting = [];
    cache.put(entries, model);
  };
  return {
    get(text) {
      const found = cache.get(keyOf(text));
      // Copied: bytes from the database are not aligned for floats.
      return found?.length === width * 4 ? new Float32Array(Uint8Array.from(found).buffer) : undefined;
    },
    put(text, vector) {
      waiting.push([keyOf(text), new Uint8Array(Float32Array.from(vector).buffer)]);
      if (waiting.length >= PER_WRITE) flush();
    },
    flush,
  };
}
