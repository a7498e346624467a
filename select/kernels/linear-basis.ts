/**
 * A linear model inside the Gaussian process: y = a + w.g + f with (a, w) ~ N(b, v I) is a process whose mean is b's and
 * whose kernel is K + v (1 + g_a . g_b) (Rasmussen and Williams 2.7). Conditioning it refits (a, w) by generalised least
 * squares at every observation, without a step of its own.
 */
import type { PoolKernel } from './pool-kernel.ts';
import { QUERY } from './posterior.ts';

/** `features`: one column per feature, by position. The query's features are all 1. `variance` is v in units of K. */
export function addLinearBasis(
  kernel: PoolKernel,
  size: number,
  features: readonly Float64Array[],
  variance: number,
): PoolKernel {
  const of = (feature: Float64Array, position: number): number => (position === QUERY ? 1 : feature[position]);
  const inner = (a: number, b: number): number => {
    let sum = 1;
    for (const feature of features) sum += of(feature, a) * of(feature, b);
    return sum;
  };
  const addBasis = (position: number, out: Float64Array): void => {
    for (let d = 0; d < size; d++) out[d] += variance;
    for (const feature of features) {
      const scale = variance * of(feature, position);
      for (let d = 0; d < size; d++) out[d] += scale * feature[d];
    }
  };
  const rows = (positions: readonly number[], outs: readonly Float64Array[]): void => {
    kernel.rows!(positions, outs);
    for (const [i, position] of positions.entries()) addBasis(position, outs[i]);
  };
  return {
    row(position, out) {
      kernel.row(position, out);
      addBasis(position, out);
    },
    rows: kernel.rows === undefined ? undefined : rows,
    pair: (a, b) => kernel.pair(a, b) + variance * inner(a, b),
    diagonal: (position) => kernel.diagonal(position) + variance * inner(position, position),
  };
}
