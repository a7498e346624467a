/**
 * `prior: fusion`: any selector, on the pool in the order of the reciprocal-rank fusion of words and vectors. Its first
 * stage, percentile prior and tie-breaks are then those of the fused order.
 */
import type { SelectionRun, Selector } from '../../src/ports.ts';
import type { Matrix, Pool } from '../../src/types.ts';
import { invert } from '../kernels/ranks.ts';
import { fusedRanksOf } from './pool-ranks.ts';
import { beginInSteps, type SteppedSelector, steppedSelector } from './stepped.ts';

export function onFusedOrder(selector: Selector | SteppedSelector): SteppedSelector {
  return steppedSelector(selector.name, function* (pool, limits): Generator<void, SelectionRun> {
    const { order, reordered } = fused(pool, selector.name);
    const place = invert(order);
    const run = yield* beginInSteps(selector, reordered, limits);
    return {
      ask: () => run.ask().map((position) => order[position]),
      tell: (position, score) => run.tell(place[position] ?? -1, score),
      result: () => {
        const selection = run.result();
        return {
          ...selection,
          order: selection.order.map((document) => ({ ...document, position: order[document.position] })),
        };
      },
    };
  });
}

interface Reordered {
  /** order[place in the reordered pool] = position in the pool. */
  readonly order: Int32Array;
  readonly reordered: Pool;
}

/** Remembered, so that what is known of the reordered vectors (geometry.ts) is too. */
const known = new WeakMap<Pool, Reordered>();

function fused(pool: Pool, selector: string): Reordered {
  let result = known.get(pool);
  if (result === undefined) {
    const order = invert(fusedRanksOf(pool, selector));
    result = { order, reordered: reorder(pool, order) };
    known.set(pool, result);
  }
  return result;
}

function reorder(pool: Pool, order: Int32Array): Pool {
  const pick = (ranks: Int32Array | undefined) => ranks && Int32Array.from(order, (position) => ranks[position]);
  return {
    query: pool.query,
    ids: Array.from(order, (position) => pool.ids[position]),
    embeddings: rowsOf(pool.embeddings, order),
    queryEmbedding: pool.queryEmbedding,
    lexicalRanks: pick(pool.lexicalRanks),
    // Absent means "as the pool is ordered", which is no longer so.
    denseRanks: pick(pool.denseRanks ?? Int32Array.from(order.keys())),
    tokenCounts: pick(pool.tokenCounts),
    scoreScale: pool.scoreScale,
  };
}

function rowsOf({ rows, columns, data }: Matrix, order: Int32Array): Matrix {
  const out = data.slice();
  order.forEach((position, r) => {
    out.set(data.subarray(position * columns, (position + 1) * columns), r * columns);
  });
  return { rows, columns, data: out };
}
