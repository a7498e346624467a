/**
 * The kernels of BoundaryMORPH B.3 and B.4 as functions of the cosine c between unit vectors, with the width set by the
 * median heuristic (m = median cosine of the pool):
 *   vmf       exp(kappa (c - 1)),                              kappa = ln 2 / (1 - m)
 *   rbf       exp(-(1 - c) / l^2),                             l^2 = 1 - m
 *   matern52  (1 + a + a^2 / 3) exp(-a),  a = sqrt(5) r,       r = sqrt(2 (1 - c)) / l
 * Rows are computed when asked for; the N x N matrix never exists.
 */
import type { Matrix } from '../../src/types.ts';
import { decayInPlace } from './exponential.ts';

export type KernelName = 'vmf' | 'rbf' | 'matern52';

export interface Covariance {
  readonly kernel: KernelName;
  /** kappa for vmf, 1 / l^2 for the others; 1 when the median says nothing (one document, or all alike). */
  readonly concentration: number;
}

export function createCovariance(kernel: KernelName, medianCosine: number, data: Matrix['data']): Covariance {
  // Below the rounding of its own numbers a distance is noise, and dividing by noise would make every pair look far apart.
  const resolution = data instanceof Float32Array ? 1e-6 : 1e-12;
  const spread = 1 - medianCosine;
  const usable = spread > resolution;
  return { kernel, concentration: usable ? (kernel === 'vmf' ? Math.LN2 : 1) / spread : 1 };
}

/** K for one cosine. A cosine beyond 1 by rounding counts as 1, so that K never exceeds its diagonal. */
export function covarianceAt(covariance: Covariance, cosine: number): number {
  const distance = cosine > 1 ? 0 : 1 - cosine;
  switch (covariance.kernel) {
    case 'vmf':
    case 'rbf':
      return Math.exp(-covariance.concentration * distance);
    case 'matern52': {
      const a = Math.sqrt(10 * covariance.concentration * distance);
      return (1 + a + (a * a) / 3) * Math.exp(-a);
    }
    default:
      return covariance.kernel satisfies never;
  }
}

/** K in place of every cosine. */
export function toCovariances(covariance: Covariance, cosines: Float64Array): void {
  if (covariance.kernel !== 'matern52') decayInPlace(cosines, covariance.concentration);
  else for (let d = 0; d < cosines.length; d++) cosines[d] = covarianceAt(covariance, cosines[d]);
}
