/** The order in which a run is read: by score, and one rule for equal scores. */
import { compareIds } from '../kernels/compare.ts';
import type { Ranking } from '../types.ts';

/**
 * What equal scores mean. `id`: the project's order, id ascending. `trec`: as trec_eval 9 and pytrec_eval read a run:
 * scores rounded to 32-bit floats, ids DESCENDING by their bytes (version 10 compares 64-bit scores).
 */
export type Ties = 'id' | 'trec';

/** Positions of the ranking's documents in evaluation order. Cheap when the ranking stands in that order already. */
export function evaluationOrder(ranking: Ranking, ties: Ties): Uint32Array {
  const { ids } = ranking;
  const scores = ties === 'trec' ? Float32Array.from(ranking.scores) : ranking.scores;
  const before =
    ties === 'trec'
      ? (a: number, b: number) => scores[b] - scores[a] || compareByCodePoint(ids[b], ids[a])
      : (a: number, b: number) => (scores[a] === scores[b] ? compareIds(ids[a], ids[b]) : scores[b] - scores[a]);
  const order = new Uint32Array(ids.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  for (let i = 1; i < order.length; i++) if (before(i - 1, i) > 0) return order.sort(before);
  return order;
}

/** strcmp on UTF-8: code points, where `<` on strings compares UTF-16 units. */
function compareByCodePoint(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i++) {
    if (a[i] !== b[i]) return a.codePointAt(i)! - b.codePointAt(i)!;
  }
  return a.length - b.length;
}
