/** The rankings that a pool carries: by words, by vectors, and the two fused. */
import { DocOptError } from '../../src/errors.ts';
import type { Pool } from '../../src/types.ts';
import { fuseRanks } from '../kernels/ranks.ts';

export function requireLexicalRanks(pool: Pool, selector: string): Int32Array {
  if (pool.lexicalRanks !== undefined) return pool.lexicalRanks;
  throw new DocOptError('USAGE', `The selector '${selector}' needs lexical ranks, and this pool has none.`, {
    hint: 'Give the query and every document a text (or lexicalRank), or take dense-log.',
  });
}

export function denseRanksOf(pool: Pool): Int32Array {
  return pool.denseRanks ?? Int32Array.from({ length: pool.ids.length }, (_, position) => position);
}

/** Reciprocal-rank fusion of the two. */
export function fusedRanksOf(pool: Pool, selector: string): Int32Array {
  const lexical = requireLexicalRanks(pool, selector);
  return fuseRanks([lexical, denseRanksOf(pool)], pool.ids.length);
}
