/**
 * The answer of selectors that estimate nothing (BoundaryMORPH C.2): scored documents by their score, above an unscored
 * tail that stays as it was. Ties and tail in the order of `ranks` (first-stage order when left out).
 */
import type { Pool, SelectedDocument, Selection } from '../../src/types.ts';
import { type Ledger, STATUS } from './ledger.ts';

export function scoredBand(pool: Pool, ledger: Ledger, capacity: number, ranks?: Int32Array): Selection {
  const place = (position: number): number => (ranks === undefined ? position : ranks[position]);
  const scored: number[] = [];
  const tail: number[] = [];
  for (let d = 0; d < pool.ids.length; d++) (ledger.status[d] === STATUS.scored ? scored : tail).push(d);
  scored.sort((a, b) => ledger.scores[b] - ledger.scores[a] || place(a) - place(b));
  tail.sort((a, b) => place(a) - place(b));
  return {
    order: [...scored, ...tail].map((position, index): SelectedDocument => {
      const known = index < scored.length;
      return {
        position,
        id: pool.ids[position],
        rank: index + 1,
        source: known ? 'scored' : 'estimated',
        relevanceScore: ledger.scores[position],
        std: known ? 0 : Number.NaN,
      };
    }),
    capacity,
  };
}
