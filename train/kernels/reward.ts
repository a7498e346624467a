/**
 * The reward of one rewrite (DocOpt 3.1): how much better the training queries rank when this document alone is
 * swapped. Everything here works on short rankings, so one candidate costs O(queries * k) after the search.
 */
import { dcg } from '../../src/metrics/ndcg.ts';
import type { Ranking } from '../../src/types.ts';

/** What ties do to the swapped document: the project's total order, or always against the rewriter. */
export type RewardTies = 'order' | 'pessimistic';

/** One query's judgements with the best DCG@k that they allow (0 when nothing is relevant). */
export interface Judged {
  readonly grades: ReadonlyMap<string, number>;
  readonly ideal: number;
}

/** nDCG@k of a list of ids, best first: linear gain, discount 1/log2(rank + 1); 0 for a query without relevant documents. */
export function ndcgOf(ids: readonly string[], judged: Judged, k: number): number {
  if (judged.ideal <= 0) return 0;
  const gradesByRank = new Float64Array(Math.min(k, ids.length));
  for (let position = 0; position < gradesByRank.length; position++) {
    gradesByRank[position] = judged.grades.get(ids[position]) ?? 0;
  }
  return dcg(gradesByRank) / judged.ideal;
}

/** 1-based rank of a document among the first k, null when it is not there. */
export function rankWithin(ids: readonly string[], id: string, k: number): number | null {
  const position = ids.indexOf(id);
  return position >= 0 && position < k ? position + 1 : null;
}

/** How deep a ranking must reach: one beyond the cut shows whether a tie runs over it. */
export function depthFor(ties: RewardTies, k: number): number {
  return ties === 'pessimistic' ? k + 1 : k;
}

/**
 * Pessimistic ties: documents that tie with the swapped one are put before it when it is relevant (`wins` false) and
 * after it when it is not, so that copying a competitor's text never pays. Returns the ids in that order.
 */
export function placeAmongTies(ranking: Ranking, id: string, wins: boolean): readonly string[] {
  const { ids, scores } = ranking;
  const position = ids.indexOf(id);
  if (position < 0) return ids;
  let target = position;
  if (wins) while (target > 0 && scores[target - 1] === scores[position]) target--;
  else while (target + 1 < ids.length && scores[target + 1] === scores[position]) target++;
  if (target === position) return ids;
  const placed = ids.slice();
  placed.splice(position, 1);
  placed.splice(target, 0, id);
  return placed;
}

/**
 * Whether a ranking cut at `depth` > k may hide a swapped document that ties its way into the first k: only when the
 * tie at rank k runs beyond the cut. Such rankings must be asked for again, deeper.
 */
export function tieRunsOverCut(ranking: Ranking, k: number, depth: number): boolean {
  const { ids, scores } = ranking;
  return ids.length >= depth && ids.length > k && scores[ids.length - 1] === scores[k - 1];
}

/** Mean over the positive queries plus mean over the negative ones; the mean of nothing is 0 (`emptySet: zero`). */
export function rankingReward(positiveGains: ArrayLike<number>, negativeGains: ArrayLike<number>): number {
  return mean(positiveGains) + mean(negativeGains);
}

/** Both means at their lowest: every positive query lost from the first rank, every negative one too. */
const WORST = -2;

/**
 * An empty rewrite of a document that was not empty earns the worst there is, in place: measured, it would be rewarded for
 * the queries that no longer find it. Whatever its group earns, it earns no more.
 */
export function sinkEmpty(rewards: Float64Array, texts: readonly string[], original: string): void {
  if (original.trim() === '') return;
  const isEmpty = texts.map((text) => text.trim() === '');
  let worst = WORST;
  for (let i = 0; i < texts.length; i++) if (!isEmpty[i]) worst = Math.min(worst, rewards[i]);
  for (let i = 0; i < texts.length; i++) if (isEmpty[i]) rewards[i] = worst;
}

/**
 * The dense alternative (Table 6): how much nearer the positive queries come, less how much nearer the negative ones,
 * in units of the spread of all query-document similarities, so that it compares with a difference of nDCG.
 */
export function similarityReward(
  positiveGains: ArrayLike<number>,
  negativeGains: ArrayLike<number>,
  spread: number,
): number {
  return (mean(positiveGains) - mean(negativeGains)) / (spread > 0 ? spread : 1);
}

function mean(values: ArrayLike<number>): number {
  if (values.length === 0) return 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}
