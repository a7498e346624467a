/** `single-stage` (BoundaryMORPH C.2): score the first-stage top B, put them above everything else, leave the tail as it was. */
import type { Selector } from '../../src/ports.ts';
import type { SelectedDocument } from '../../src/types.ts';
import { createLedger, STATUS } from './ledger.ts';

export function createSingleStage(): Selector {
  return {
    name: 'single-stage',
    begin(pool, limits) {
      const size = pool.ids.length;
      const ledger = createLedger(size, limits);
      return {
        ask() {
          ledger.requireAnswers();
          return ledger.ask(Array.from({ length: ledger.left }, (_, position) => position));
        },
        tell: ledger.tell,
        result() {
          const scored: number[] = [];
          const tail: number[] = [];
          for (let d = 0; d < size; d++) (ledger.status[d] === STATUS.scored ? scored : tail).push(d);
          scored.sort((a, b) => ledger.scores[b] - ledger.scores[a] || a - b);
          const order = [...scored, ...tail].map((position, index): SelectedDocument => {
            const isScored = ledger.status[position] === STATUS.scored;
            return {
              position,
              id: pool.ids[position],
              rank: index + 1,
              source: isScored ? 'scored' : 'estimated',
              relevanceScore: ledger.scores[position],
              std: isScored ? 0 : Number.NaN,
            };
          });
          return { order, capacity: limits.capacity };
        },
      };
    },
  };
}
