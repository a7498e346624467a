import type { Reranker } from '../../src/ports.ts';

/** A reranker that knows its scores and remembers what it was asked; null = that pair fails. */
export function scoreTableReranker(
  scores: Readonly<Record<string, number | null>>,
  delayMs?: number,
): Reranker & { readonly calls: string[][] } {
  const calls: string[][] = [];
  return {
    id: 'table',
    calls,
    async score(_query, documents) {
      calls.push(documents.map(({ id }) => id));
      if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs));
      return Float64Array.from(documents, ({ id }) => scores[id] ?? Number.NaN);
    },
  };
}
