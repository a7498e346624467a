/**
 * Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002; DocOpt 3.1). Linear gain: a document's grade is
 * its gain, grades <= 0 gain nothing. The ideal ranking is made of ALL judgements of the query, retrieved or not.
 */

/** What position `rank` (1-based) multiplies a gain with: 1 / log2(rank + 1). Rank 1 counts fully. */
export function discount(rank: number): number {
  return 1 / Math.log2(rank + 1);
}

/**
 * DCG of a ranking's grades, best first. Only the first `k` count (Infinity: all). NaN and grades <= 0 (not judged, not
 * relevant) add nothing, so they may stand in the list.
 */
export function dcg(gradesByRank: ArrayLike<number>, k: number = Number.POSITIVE_INFINITY): number {
  const depth = Math.min(k, gradesByRank.length);
  let sum = 0;
  for (let i = 0; i < depth; i++) {
    const grade = gradesByRank[i];
    if (grade > 0) sum += grade / Math.log2(i + 2);
  }
  return sum;
}

/**
 * The best DCG at depth k that a ranking of these judgements could have: `grades` are all grades of one query, in any
 * order. 0 when none is positive; nDCG is then 0 by definition.
 */
export function idealDcg(grades: Iterable<number>, k: number = Number.POSITIVE_INFINITY): number {
  const positive: number[] = [];
  for (const grade of grades) if (grade > 0) positive.push(grade);
  positive.sort((a, b) => b - a);
  return dcg(positive, k);
}

/** dcg / ideal, and 0 where there is nothing to find. */
export function ndcg(gradesByRank: ArrayLike<number>, grades: Iterable<number>, k?: number): number {
  const ideal = idealDcg(grades, k);
  return ideal > 0 ? dcg(gradesByRank, k) / ideal : 0;
}

/** The gain of the web track's gdeval, `nDCG(dcg='exp-log2')`: 2^grade - 1; grades <= 0 gain nothing. */
export function exponentialGain(grade: number): number {
  return grade > 0 ? 2 ** grade - 1 : 0;
}
