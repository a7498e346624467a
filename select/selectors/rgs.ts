/**
 * `rgs`, reranker-guided search (Xu and Chen 2025; BoundaryMORPH C.2): score the first-stage top as seeds, then expand the
 * best-scored document over a proximity graph: score its neighbours, keep the best few as the next to expand. Estimates
 * nothing, so scored documents stand above an unscored tail. With as many seeds as calls it is single-stage.
 *
 * [I] When nothing is left to expand and calls are, the next document of the first stage is scored.
 */
import { DocOptError } from '../../src/errors.ts';
import type { SelectionLimits, SelectionRun } from '../../src/ports.ts';
import type { Pool } from '../../src/types.ts';
import { proximityGraph } from '../kernels/proximity-graph.ts';
import { graphOf, productsOf } from './geometry.ts';
import { createLedger, STATUS } from './ledger.ts';
import { scoredBand } from './scored-band.ts';
import { type SteppedSelector, steppedSelector } from './stepped.ts';

export interface RgsOptions {
  /** R, edges of a node. */
  readonly degree?: number;
  /** Seeds are round(B / seedDiv). */
  readonly seedDiv?: number;
  /** At most max(seeds, round(frac B)) documents wait to be expanded. */
  readonly frac?: number;
  /** L and alpha of the graph. */
  readonly listSize?: number;
  readonly alpha?: number;
  readonly seed?: number;
}

export function createRgs(options: RgsOptions = {}): SteppedSelector {
  const { degree = 10, seedDiv = 2, frac = 1, listSize = 100, alpha = 1.2, seed = 1 } = options;
  check('degree', degree, Number.isInteger(degree) && degree >= 1, 'a whole number of at least 1');
  check('seedDiv', seedDiv, seedDiv >= 1, 'a number of at least 1');
  check('frac', frac, frac >= 0 && Number.isFinite(frac), 'a number of at least 0');
  check('listSize', listSize, Number.isInteger(listSize) && listSize >= 1, 'a whole number of at least 1');
  check('alpha', alpha, alpha >= 1 && Number.isFinite(alpha), 'a number of at least 1');
  return steppedSelector('rgs', function* (pool, limits) {
    const key = `rgs ${degree} ${listSize} ${alpha} ${seed}`;
    const graph = yield* graphOf(pool.embeddings, key, () =>
      proximityGraph(pool.embeddings, productsOf(pool.embeddings), { degree, listSize, alpha, seed }),
    );
    const seeds = Math.min(limits.budget, Math.max(1, Math.round(limits.budget / seedDiv)));
    return createRun(pool, limits, graph, seeds, Math.max(seeds, Math.round(frac * limits.budget)));
  });
}

function createRun(
  pool: Pool,
  limits: SelectionLimits,
  graph: readonly Int32Array[],
  seeds: number,
  waitingMost: number,
): SelectionRun {
  const size = pool.ids.length;
  const ledger = createLedger(size, limits);
  /** Scored and not yet expanded, best first; equal scores in first-stage order. */
  let waiting: number[] = [];
  let asked: readonly number[] = [];
  let started = false;

  const takeAnswers = (): void => {
    const scored = asked.filter((position) => ledger.status[position] === STATUS.scored);
    asked = [];
    waiting = [...waiting, ...scored]
      .sort((a, b) => ledger.scores[b] - ledger.scores[a] || a - b)
      .slice(0, waitingMost);
  };
  const isOpen = (position: number): boolean => ledger.status[position] === STATUS.open;

  const next = (): number[] => {
    if (ledger.left === 0) return [];
    if (!started) {
      started = true;
      return Array.from({ length: Math.min(seeds, ledger.left) }, (_, position) => position);
    }
    while (waiting.length > 0) {
      const found = [...graph[waiting.shift()!]].filter(isOpen);
      if (found.length > 0) return found.slice(0, ledger.left);
    }
    const first = ledger.status.indexOf(STATUS.open);
    return first < 0 ? [] : [first];
  };

  return {
    ask() {
      ledger.requireAnswers();
      takeAnswers();
      asked = ledger.ask(next());
      return asked;
    },
    tell: ledger.tell,
    result: () => scoredBand(pool, ledger, limits.capacity),
  };
}

function check(name: string, value: number, ok: boolean, expected: string): void {
  if (!ok) throw new DocOptError('CONFIG', `selector.${name} is ${value}; it must be ${expected}.`);
}
