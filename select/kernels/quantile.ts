/** Quantile of ascending values by linear interpolation between neighbours (the usual default); NaN for none. */
export function quantile(ascending: ArrayLike<number>, share: number): number {
  if (ascending.length === 0) return Number.NaN;
  const place = share * (ascending.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, ascending.length - 1);
  return ascending[below] + (place - below) * (ascending[above] - ascending[below]);
}

/** A copy in ascending order. */
export function ascending(values: ArrayLike<number>): Float64Array {
  return Float64Array.from(values).sort();
}
