/** The first-stage percentile (BoundaryMORPH 3.2): (N - 1 - position) / (N - 1), 1 at the head and 0 at the tail; 1 when N = 1. */
export function percentilePrior(size: number): Float64Array {
  if (size === 1) return Float64Array.of(1);
  return Float64Array.from({ length: size }, (_, position) => (size - 1 - position) / (size - 1));
}
