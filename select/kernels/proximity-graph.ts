/**
 * A DiskANN graph over the vectors of a pool by cosine distance (Subramanya et al. 2019, algorithm 3): from a random graph,
 * one pass of greedy search and robust prune over the nodes in random order, edges both ways, at most `degree` each.
 */
import { createRng, shuffle } from '../../src/kernels/rng.ts';
import type { Matrix } from '../../src/types.ts';
import { beamSearch } from './beam-search.ts';
import { innerProductFor } from './inner-product.ts';
import { robustPrune } from './robust-prune.ts';
import type { RowProducts } from './row-products.ts';

export interface ProximityGraphOptions {
  /** R. */
  readonly degree: number;
  /** L, the list of the greedy search. */
  readonly listSize: number;
  readonly alpha: number;
  readonly seed: number;
}

/** Up to here all distances are computed beforehand: 16 MB. */
const TABLE_LIMIT = 2048;

/** neighbours[node], nearest first. */
export function* proximityGraph(
  embeddings: Matrix,
  products: RowProducts,
  { degree, listSize, alpha, seed }: ProximityGraphOptions,
): Generator<void, readonly Int32Array[]> {
  const { rows } = embeddings;
  const distance = yield* distances(embeddings, products);
  const rng = createRng(seed);
  const graph: number[][] = Array.from({ length: rows }, (_, node) => randomEdges(node, rows, degree, rng.int));
  const entry = medoid(embeddings, products);
  const order = shuffle(
    Array.from({ length: rows }, (_, node) => node),
    rng,
  );
  for (let turn = 0; turn < rows; turn++) {
    const node = order[turn];
    const visited = beamSearch(graph, entry, (other) => distance(node, other), listSize);
    graph[node] = robustPrune(node, [...visited, ...graph[node]], distance, alpha, degree);
    for (const other of graph[node]) {
      if (graph[other].includes(node)) continue;
      graph[other].push(node);
      if (graph[other].length > degree) graph[other] = robustPrune(other, graph[other], distance, alpha, degree);
    }
    if (turn % 16 === 15) yield;
  }
  return graph.map((edges, node) =>
    Int32Array.from(edges.sort((a, b) => distance(node, a) - distance(node, b) || a - b)),
  );
}

function randomEdges(node: number, rows: number, degree: number, int: (n: number) => number): number[] {
  const edges = new Set<number>();
  const wanted = Math.min(degree, rows - 1);
  while (edges.size < wanted) {
    const other = int(rows);
    if (other !== node) edges.add(other);
  }
  return [...edges];
}

/** The node closest to the mean of all, where every search starts. */
function medoid({ rows, columns, data }: Matrix, products: RowProducts): number {
  const mean = new Float64Array(columns);
  for (let i = 0, c = 0; i < data.length; i++, c = c + 1 === columns ? 0 : c + 1) mean[c] += data[i];
  const closeness = new Float64Array(rows);
  products(mean, closeness);
  let best = 0;
  for (let node = 1; node < rows; node++) if (closeness[node] > closeness[best]) best = node;
  return best;
}

function* distances(
  { rows, columns, data }: Matrix,
  products: RowProducts,
): Generator<void, (a: number, b: number) => number> {
  const rowOf = (node: number): Float64Array => Float64Array.from(data.subarray(node * columns, (node + 1) * columns));
  if (rows <= TABLE_LIMIT) {
    const table = new Float32Array(rows * rows);
    const cosines = new Float64Array(rows);
    for (let node = 0; node < rows; node++) {
      products(rowOf(node), cosines);
      for (let other = 0; other < rows; other++) table[node * rows + other] = 1 - cosines[other];
      if (node % 32 === 31) yield;
    }
    return (a, b) => table[a * rows + b];
  }
  const inner = innerProductFor(data);
  let held = -1;
  let vector: Float64Array = new Float64Array(columns);
  return (a, b) => {
    if (a !== held) {
      held = a;
      vector = rowOf(a);
    }
    return 1 - inner(data, b * columns, vector, 0, columns);
  };
}
