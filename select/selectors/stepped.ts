import type { SelectionLimits, SelectionRun, Selector } from '../../src/ports.ts';
import type { Pool } from '../../src/types.ts';

/** A selector whose start is long enough to be cut into steps (services let other requests run in between). */
export interface SteppedSelector extends Selector {
  beginInSteps(pool: Pool, limits: SelectionLimits): Generator<void, SelectionRun>;
}

export function steppedSelector(name: string, beginInSteps: SteppedSelector['beginInSteps']): SteppedSelector {
  return {
    name,
    beginInSteps,
    begin(pool, limits) {
      const steps = beginInSteps(pool, limits);
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
      }
    },
  };
}

/** The start of any selector, in steps where it has them. */
export function* beginInSteps(
  selector: Selector | SteppedSelector,
  pool: Pool,
  limits: SelectionLimits,
): Generator<void, SelectionRun> {
  return 'beginInSteps' in selector ? yield* selector.beginInSteps(pool, limits) : selector.begin(pool, limits);
}
