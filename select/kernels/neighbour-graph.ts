/**
 * The landscape that relevance is drawn on (BoundaryMORPH E.1): each point joined with its `degree` nearest neighbours by
 * cosine, itself excluded, and an edge kept when either end asked for it. Exact: O(M^2 d), for M up to some thousands.
 */
import { topPositions } from '../../src/kernels/topk.ts';
import { dot } from '../../src/kernels/vector.ts';
import type { Matrix } from '../../src/types.ts';

/** Neighbours of each point, ascending, without itself. Equal cosines: the lower point first. `rows` are unit vectors. */
export function neighbourGraph(rows: Matrix, points: ArrayLike<number>, degree: number): Int32Array[] {
  const size = points.length;
  const { columns, data } = rows;
  const place = Int32Array.from({ length: size }, (_, i) => i);
  const cosines = new Float64Array(size);
  const edges = Array.from({ length: size }, () => new Set<number>());
  for (let a = 0; a < size; a++) {
    for (let b = 0; b < size; b++) {
      cosines[b] =
        b === a ? Number.NEGATIVE_INFINITY : dot(data, points[a] * columns, data, points[b] * columns, columns);
    }
    for (const b of topPositions(cosines, size, degree, place)) {
      edges[a].add(b);
      edges[b].add(a);
    }
  }
  return edges.map((set) => Int32Array.from(set).sort());
}
