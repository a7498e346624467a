/** Covariance functions over the documents of a pool and its query, and their sums. Rows are computed when asked for. */

export interface PoolKernel {
  /** out[d] = K(position, d) for every document d; QUERY (-1) is the query's row. */
  row(position: number, out: Float64Array): void;
  /** The same for several documents, where that costs much less than one after the other. */
  rows?(positions: readonly number[], outs: readonly Float64Array[]): void;
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
  const addTo = (out: Float64Array, weight: number, row: Float64Array): void => {
    for (let d = 0; d < size; d++) out[d] += weight * row[d];
  };
  const row = (position: number, out: Float64Array): void => {
    const held = new Float64Array(size);
    out.fill(0);
    for (const { weight, kernel } of parts) {
      kernel.row(position, held);
      addTo(out, weight, held);
    }
  };
  const rows = (positions: readonly number[], outs: readonly Float64Array[]): void => {
    const held = positions.map(() => new Float64Array(size));
    for (const out of outs) out.fill(0);
    for (const { weight, kernel } of parts) {
      if (kernel.rows !== undefined) kernel.rows(positions, held);
      else for (const [i, position] of positions.entries()) kernel.row(position, held[i]);
      for (const [i, out] of outs.entries()) addTo(out, weight, held[i]);
    }
  };
  return {
    row,
    rows: parts.some(({ kernel }) => kernel.rows !== undefined) ? rows : undefined,
    pair: (a, b) => parts.reduce((sum, { weight, kernel }) => sum + weight * kernel.pair(a, b), 0),
    diagonal: (position) => parts.reduce((sum, { weight, kernel }) => sum + weight * kernel.diagonal(position), 0),
  };
}
