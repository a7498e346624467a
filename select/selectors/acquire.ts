/** Acquisitions by name, over the kernels that compute them. */
import { type Beliefs, highestUpperBound, mostUndecided, mostValuable } from '../kernels/acquisitions.ts';
import { mostContested, mostUncertain, nearBoundary } from '../kernels/boundary.ts';
import type { Acquisition, View } from './gaussian-run.ts';

/** boundary = Eq. 4; entropy = the membership that is least decided; kg-own = what its own score is worth. */
export type AcquisitionName = 'boundary' | 'entropy' | 'kg-own';

export interface BoundaryOptions {
  /** standardised = Eq. 4; additive = the confidence-bound gap of active set ordering. */
  readonly gap?: 'standardised' | 'additive';
  /** Denominator sigma_i^2 + sigma_j^2 - 2 cov_ij in place of sigma_i^2 + sigma_j^2. */
  readonly pairCovariance?: boolean;
}

/** Where no pair is left to contest, the open document with the largest deviation. */
export function boundary(options: BoundaryOptions = {}): Acquisition {
  const additive = options.gap === 'additive';
  const acquire: Acquisition = (view) => {
    const contest = mostContested({
      // The scale cancels in a quotient and not in a difference.
      ...(additive ? inScores(view) : view),
      gap: options.gap,
      covariance: options.pairCovariance === true ? view.covariance : undefined,
    });
    if (contest === undefined) return { pick: mostUncertain(view.variances, view.open), gap: Number.POSITIVE_INFINITY };
    return { pick: contest.pick, gap: additive ? contest.gap : contest.gap / view.scale };
  };
  acquire.likely = nearBoundary;
  return acquire;
}

/** GP-UCB with beta_t = beta_0 / sqrt(t + 1) (BoundaryMORPH C.2). */
export function upperConfidence(beta0: number): Acquisition {
  return (view) => ({ pick: highestUpperBound(inScores(view), beta0 / Math.sqrt(view.step + 1)) });
}

export function acquisition(name: AcquisitionName, options: BoundaryOptions = {}): Acquisition {
  switch (name) {
    case 'boundary':
      return boundary(options);
    case 'entropy':
      return (view) => ({ pick: mostUndecided(view) });
    case 'kg-own':
      return (view) => ({ pick: mostValuable(inScores(view)) });
    default:
      throw new Error(`unknown acquisition ${name satisfies never}`);
  }
}

function inScores(view: View): Beliefs {
  const square = view.scale * view.scale;
  return { ...view, variances: view.variances.map((variance) => square * variance) };
}
