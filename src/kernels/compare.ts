/**
 * The one total order of the project: score descending, then id ascending by UTF-16 code unit (what `<` on strings
 * does). NaN never reaches it: scores are validated where they enter.
 */
export function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function compareRanked(scoreA: number, idA: string, scoreB: number, idB: string): number {
  return scoreA > scoreB ? -1 : scoreA < scoreB ? 1 : compareIds(idA, idB);
}
