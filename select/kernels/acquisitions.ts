/**
 * Other ways to choose the next call than the contested pair of boundary.ts. Each answers an open position, or -1 when
 * none is open; equal values go to the better first-stage position.
 */
import { topPositions } from '../../src/kernels/topk.ts';
import { normalTwoSided } from '../../src/metrics/distributions.ts';

export interface Beliefs {
  readonly means: Float64Array;
  /** In squared units of the means; 0 where scored. */
  readonly variances: Float64Array;
  /** 1 where a document may still be scored. */
  readonly open: Uint8Array;
  readonly capacity: number;
}

/** GP-UCB: the largest mean + beta sigma. */
export function highestUpperBound({ means, variances, open }: Beliefs, beta: number): number {
  return argmax(open, (d) => means[d] + beta * Math.sqrt(variances[d]));
}

/**
 * The document whose membership in the best k has the largest entropy, with the border half-way between the last mean
 * inside and the first outside: entropy falls with |mu - border| / sigma, so that is what is compared.
 */
export function mostUndecided(beliefs: Beliefs): number {
  const { means, variances, open } = beliefs;
  const { inside, outside } = border(beliefs);
  const middle = Number.isFinite(inside) && Number.isFinite(outside) ? (inside + outside) / 2 : Number.NaN;
  if (Number.isNaN(middle)) return argmax(open, (d) => variances[d]);
  return argmax(open, (d) => {
    const distance = Math.abs(means[d] - middle);
    if (distance === 0) return Number.POSITIVE_INFINITY;
    return variances[d] > 0 ? -distance / Math.sqrt(variances[d]) : Number.NEGATIVE_INFINITY;
  });
}

/**
 * Knowledge gradient of a document's own score: how much the expected sum of the best k grows when this one is known and
 * no other moves. A document inside gains by being found worse than the first outside, one outside by being found
 * better than the last inside: sigma (phi(u) - u Phi(-u)), u = |mu - border| / sigma.
 */
export function mostValuable(beliefs: Beliefs): number {
  const { means, variances, open, capacity } = beliefs;
  const { inside, outside, members } = border(beliefs);
  if (capacity <= 0 || capacity >= means.length) return argmax(open, (d) => variances[d]);
  return argmax(open, (d) => {
    const sigma = Math.sqrt(variances[d]);
    const distance = members[d] === 1 ? means[d] - outside : inside - means[d];
    if (sigma === 0) return 0;
    const u = distance / sigma;
    return sigma * (Math.exp((-u * u) / 2) / Math.sqrt(2 * Math.PI) - (u * normalTwoSided(u)) / 2);
  });
}

function border({ means, capacity }: Beliefs): { inside: number; outside: number; members: Uint8Array } {
  const size = means.length;
  const members = new Uint8Array(size);
  const places = Int32Array.from({ length: size }, (_, d) => d);
  const ranked = topPositions(means, size, Math.min(size, capacity + 1), places);
  for (let r = 0; r < Math.min(capacity, ranked.length); r++) members[ranked[r]] = 1;
  return {
    inside: capacity > 0 && capacity <= size ? means[ranked[capacity - 1]] : Number.POSITIVE_INFINITY,
    outside: capacity < size ? means[ranked[capacity]] : Number.NEGATIVE_INFINITY,
    members,
  };
}

function argmax(open: Uint8Array, value: (d: number) => number): number {
  let best = -1;
  let most = Number.NaN;
  for (let d = 0; d < open.length; d++) {
    if (open[d] === 0) continue;
    const v = value(d);
    if (best >= 0 && !(v > most)) continue;
    best = d;
    most = v;
  }
  return best;
}
