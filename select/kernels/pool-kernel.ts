/** Covariance functions over the documents of a pool and its query, and their sums. Rows are computed when asked for. */

export interface PoolKernel {
  /** out[d] = K(position, d) for every document d; QUERY (-1) is the query's row. */
  row(position: number, out: Float64Array): void;
  /** K of two documents. */
  pair(a: number, b: number): number;
  /** K(a,a), QUERY included. */
  diagonal(position: number): number;
}

/** sum_i weight_i K_i. */
export function mixKernels(
  size: number,
  parts: readonly { readonly weight: number; readonly kernel: PoolKernel }[],
): PoolKernel {
  const held = new Float64Array(size);
  return {
    row(position, out) {
      out.fill(0);
      for (const { weight, kernel } of parts) {
        kernel.row(position, held);
        for (let d = 0; d < size; d++) out[d] += weight * held[d];
      }
    },
    pair: (a, b) => parts.reduce((sum, { weight, kernel }) => sum + weight * kernel.pair(a, b), 0),
    diagonal: (position) => parts.reduce((sum, { weight, kernel }) => sum + weight * kernel.diagonal(position), 0),
  };
}
