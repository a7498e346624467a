/**
 * What selectors compute of a pool's vectors, remembered as long as the vectors live: a study runs many selectors, budgets
 * and capacities on one pool, and each of these costs more than a run.
 */
import { deriveSeed } from '../../src/kernels/rng.ts';
import type { Matrix } from '../../src/types.ts';
import { EXACT_LIMIT, medianCosineInSteps } from '../kernels/cosine-median.ts';
import { packRows } from '../kernels/packed-rows.ts';
import { exactProducts, type PoolProducts } from '../kernels/pool-products.ts';
import { createRowProducts, type RowProducts } from '../kernels/row-products.ts';

interface Known {
  readonly medians: Map<number, number>;
  products?: RowProducts;
  closeness?: PoolProducts;
  readonly graphs: Map<string, readonly Int32Array[]>;
}

const known = new WeakMap<Matrix, Known>();

function of(embeddings: Matrix): Known {
  let facts = known.get(embeddings);
  if (facts === undefined) known.set(embeddings, (facts = { medians: new Map(), graphs: new Map() }));
  return facts;
}

/** The median cosine (sampled by `seed` in large pools), in steps of a few milliseconds. */
export function* medianOf(embeddings: Matrix, seed: number): Generator<void, number> {
  const { medians } = of(embeddings);
  let median = medians.get(seed);
  if (median === undefined) {
    median = yield* medianCosineInSteps(embeddings, {
      seed: deriveSeed(seed, 'median-cosine'),
      products: closenessOf(embeddings),
    });
    medians.set(seed, median);
  }
  return median;
}

/**
 * What kernels and the median are made of: float64 for small pools and for float64 vectors, 16-bit rows for large pools of
 * float32 vectors, where a kernel row in float64 takes ten times as long.
 */
export function closenessOf(embeddings: Matrix): PoolProducts {
  const facts = of(embeddings);
  const large = embeddings.rows > EXACT_LIMIT && embeddings.data instanceof Float32Array;
  facts.closeness ??= large ? packRows(embeddings) : exactProducts(embeddings, productsOf(embeddings));
  return facts.closeness;
}

/** In float64, to the last bit. */
export function productsOf(embeddings: Matrix): RowProducts {
  const facts = of(embeddings);
  facts.products ??= createRowProducts(embeddings);
  return facts.products;
}

/** neighbours[position] of a graph over the pool; `key` names the graph with everything it depends on. */
export function* graphOf(
  embeddings: Matrix,
  key: string,
  build: () => Generator<void, readonly Int32Array[]>,
): Generator<void, readonly Int32Array[]> {
  const { graphs } = of(embeddings);
  let graph = graphs.get(key);
  if (graph === undefined) {
    graph = yield* build();
    graphs.set(key, graph);
  }
  return graph;
}
