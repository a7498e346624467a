/**
 * The landscape that relevance is drawn on (BoundaryMORPH E.1): each point joined with its nearest neighbours by cosine,
 * itself excluded, and an edge kept when either end asked for it. Exact: O(M^2 d), for M up to some thousands.
 */
import type { Matrix } from '../../src/types.ts';
import { nearestNeighbours } from './nearest-neighbours.ts';
import { createRowProducts } from './row-products.ts';

/** Neighbours of each of the points (rows of unit vectors), as places in `points`, ascending. Equal cosines: the earlier point first. */
export function neighbourGraph({ columns, data }: Matrix, points: ArrayLike<number>, degree: number): Int32Array[] {
  const rows = points.length;
  const own = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    own.set(data.subarray(points[i] * columns, (points[i] + 1) * columns), i * columns);
  }
  const chosen: Matrix = { rows, columns, data: own };
  const edges = Array.from({ length: rows }, () => new Set<number>());
  const steps = nearestNeighbours(chosen, createRowProducts(chosen), degree);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  step.value.forEach((neighbours, a) => {
    for (const b of neighbours) {
      edges[a].add(b);
      edges[b].add(a);
    }
  });
  return edges.map((set) => Int32Array.from(set).sort());
}
