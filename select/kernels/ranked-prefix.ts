/**
 * The best positions of a pool, sorted only as far as somebody looks: by value descending, equal ones by position. Values
 * are counted into bins of equal width; a bin is sorted when its rank is asked for, with the bins that come before it.
 */

/** Bins of a RankedPrefix. */
export const BINS = 1024;

export interface RankedPrefix {
  /** Ranks that are sorted so far. */
  readonly length: number;
  /** Bin of every position; a smaller bin never holds a smaller value. */
  readonly bins: Uint16Array;
  /** The position at a rank (0-based), which must be below the number of values. */
  at(rank: number): number;
}

/** Values must be finite. At least `first` ranks are sorted at once. Reads `values` as long as it lives. */
export function rankedPrefix(values: Float64Array, first: number): RankedPrefix {
  const size = values.length;
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let d = 0; d < size; d++) {
    const value = values[d];
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const width = (BINS - 1) / (most - least);
  // All alike, or closer than a bin can tell: one bin.
  const scale = Number.isFinite(width) ? width : 0;
  // Bin 0 has the largest values. Rounding is monotone, so a value in an earlier bin is never smaller.
  const bins = new Uint16Array(size);
  const counts = new Int32Array(BINS);
  for (let d = 0; d < size; d++) {
    const bin = ((most - values[d]) * scale) | 0;
    bins[d] = bin;
    counts[bin]++;
  }
  const sorted = new Int32Array(size);
  let length = 0;
  let nextBin = 0;

  const extend = (wanted: number): void => {
    const from = nextBin;
    let end = length;
    while (end < wanted) end += counts[nextBin++];
    let at = length;
    for (let d = 0; at < end; d++) if (bins[d] >= from && bins[d] < nextBin) sorted[at++] = d;
    // Ascending positions go in, and the sort is stable.
    sorted.subarray(length, end).sort((a, b) => values[b] - values[a]);
    length = end;
  };
  extend(Math.min(first, size));

  return {
    bins,
    get length() {
      return length;
    },
    at(rank) {
      if (rank >= length) extend(Math.min(size, 2 * rank + 1));
      return sorted[rank];
    },
  };
}
