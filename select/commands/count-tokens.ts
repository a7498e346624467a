import { documentText } from '../../src/data/mod.ts';
import type { Document, Pool } from '../../src/types.ts';

/**
 * The pool with the length of every document, as o200k tokens of its ORIGINAL title and text: what reaches the generator.
 * Other generators count a little otherwise; a capacity is a size to keep within, so leave a margin.
 */
export async function withTokenCounts(pool: Pool, documentAt: (position: number) => Document): Promise<Pool> {
  if (pool.tokenCounts !== undefined) return pool;
  const { encode } = await import('gpt-tokenizer');
  const lengthOf = (position: number): number => encode(documentText(documentAt(position), 'title+text')).length;
  return { ...pool, tokenCounts: Int32Array.from(pool.ids, (_, position) => lengthOf(position)) };
}
