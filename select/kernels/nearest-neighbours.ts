/** The exact k nearest other rows of each row by cosine, nearest first; equal ones by position. O(N^2 d), a row a step. */
import { topPositions } from '../../src/kernels/topk.ts';
import type { Matrix } from '../../src/types.ts';
import type { RowProducts } from './row-products.ts';

export function* nearestNeighbours(
  embeddings: Matrix,
  products: RowProducts,
  count: number,
): Generator<void, readonly Int32Array[]> {
  const { rows, columns, data } = embeddings;
  const places = Int32Array.from({ length: rows }, (_, d) => d);
  const cosines = new Float64Array(rows);
  const neighbours: Int32Array[] = [];
  for (let d = 0; d < rows; d++) {
    products(Float64Array.from(data.subarray(d * columns, (d + 1) * columns)), cosines);
    cosines[d] = Number.NEGATIVE_INFINITY;
    neighbours.push(topPositions(cosines, rows, count, places));
    if (d % 32 === 31) yield;
  }
  return neighbours;
}
