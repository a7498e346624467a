/** `single-stage` (BoundaryMORPH C.2): score the first-stage top B, put them above everything else, leave the tail as it was. */
import type { Selector } from '../../src/ports.ts';
import { createLedger } from './ledger.ts';
import { scoredBand } from './scored-band.ts';

export function createSingleStage(): Selector {
  return {
    name: 'single-stage',
    begin(pool, limits) {
      const ledger = createLedger(pool.ids.length, limits);
      return {
        ask() {
          ledger.requireAnswers();
          return ledger.ask(Array.from({ length: ledger.left }, (_, position) => position));
        },
        tell: ledger.tell,
        result: () => scoredBand(pool, ledger, limits.capacity),
      };
    },
  };
}
