/**
 * `gar`, graph-adaptive re-ranking (MacAvaney et al. 2022): batches come in turn from the first-stage order and from the
 * frontier, the unscored nearest neighbours of what was scored, each worth the best score among those it is next to.
 * Unscored documents stay below in first-stage order.
 */
import { DocOptError } from '../../src/errors.ts';
import type { SelectionLimits, SelectionRun } from '../../src/ports.ts';
import type { Pool } from '../../src/types.ts';
import { nearestNeighbours } from '../kernels/nearest-neighbours.ts';
import { graphOf, productsOf } from './geometry.ts';
import { createLedger, STATUS } from './ledger.ts';
import { scoredBand } from './scored-band.ts';
import { type SteppedSelector, steppedSelector } from './stepped.ts';

export interface GarOptions {
  /** Neighbours of a document in the graph. */
  readonly neighbours?: number;
  /** Calls of one batch. */
  readonly batch?: number;
}

export function createGar({ neighbours = 16, batch = 16 }: GarOptions = {}): SteppedSelector {
  for (const [name, value] of Object.entries({ neighbours, batch })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new DocOptError('CONFIG', `selector.${name} is ${value}; it must be a whole number of at least 1.`);
    }
  }
  return steppedSelector('gar', function* (pool, limits) {
    const graph = yield* graphOf(pool.embeddings, `nearest ${neighbours}`, () =>
      nearestNeighbours(pool.embeddings, productsOf(pool.embeddings), neighbours),
    );
    return createRun(pool, limits, graph, batch);
  });
}

function createRun(pool: Pool, limits: SelectionLimits, graph: readonly Int32Array[], batch: number): SelectionRun {
  const size = pool.ids.length;
  const ledger = createLedger(size, limits);
  const frontier = new Map<number, number>();
  let asked: readonly number[] = [];
  let turn: 'first stage' | 'frontier' = 'first stage';

  const takeAnswers = (): void => {
    for (const position of asked) {
      if (ledger.status[position] !== STATUS.scored) continue;
      const score = ledger.scores[position];
      for (const neighbour of graph[position]) {
        if (ledger.status[neighbour] !== STATUS.open) continue;
        frontier.set(neighbour, Math.max(score, frontier.get(neighbour) ?? Number.NEGATIVE_INFINITY));
      }
    }
    asked = [];
  };

  const next = (): number[] => {
    const count = Math.min(batch, ledger.left);
    const picks: number[] = [];
    if (turn === 'frontier' && frontier.size > 0) {
      const best = [...frontier].sort(([a, x], [b, y]) => y - x || a - b);
      for (const [position] of best.slice(0, count)) picks.push(position);
    } else {
      for (let d = 0; d < size && picks.length < count; d++) if (ledger.status[d] === STATUS.open) picks.push(d);
    }
    for (const position of picks) frontier.delete(position);
    turn = turn === 'frontier' ? 'first stage' : 'frontier';
    return picks;
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
