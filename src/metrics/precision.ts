/** Measures that count relevant documents above a cut. `level` is the lowest grade that is relevant. */
import { countRelevant, type JudgedRanking } from './judged-ranking.ts';

/** Relevant among the first k, over k: a ranking shorter than k is filled up with irrelevant documents. */
export function precision(ranking: JudgedRanking, k: number, level: number): number {
  return countRelevant(ranking.gradesByRank, level, k) / k;
}

/** Relevant among the first k, over all relevant; 0 when there are none. */
export function recall(ranking: JudgedRanking, k: number, level: number): number {
  return ratio(countRelevant(ranking.gradesByRank, level, k), countRelevant(ranking.grades, level));
}

/** 1 if any of the first k is relevant. */
export function success(ranking: JudgedRanking, k: number, level: number): number {
  return countRelevant(ranking.gradesByRank, level, k) > 0 ? 1 : 0;
}

/** Precision at R, R = number of relevant documents; 0 when there are none. */
export function rPrecision(ranking: JudgedRanking, level: number): number {
  const relevant = countRelevant(ranking.grades, level);
  return relevant === 0 ? 0 : precision(ranking, relevant, level);
}

/**
 * nCG@k (BoundaryMORPH 3): relevant among the first k, over the most that k places could hold, min(k, R). Binary, blind
 * to order inside the k. trec_eval calls it relative_P.
 */
export function normalizedGain(ranking: JudgedRanking, k: number, level: number): number {
  return ratio(countRelevant(ranking.gradesByRank, level, k), Math.min(k, countRelevant(ranking.grades, level)));
}

/** Judged documents among the first k (any grade, negative ones too), over those there are; 0 for an empty ranking. */
export function judgedShare(ranking: JudgedRanking, k: number): number {
  const depth = Math.min(k, ranking.gradesByRank.length);
  let judged = 0;
  for (let i = 0; i < depth; i++) if (!Number.isNaN(ranking.gradesByRank[i])) judged++;
  return ratio(judged, depth);
}

/** Relevant over retrieved; `relative` divides by the most that so many places could hold. */
export function setPrecision(ranking: JudgedRanking, level: number, relative: boolean): number {
  const retrieved = ranking.gradesByRank.length;
  const places = relative ? Math.min(retrieved, countRelevant(ranking.grades, level)) : retrieved;
  return ratio(countRelevant(ranking.gradesByRank, level), places);
}

export function setRecall(ranking: JudgedRanking, level: number): number {
  return recall(ranking, Number.POSITIVE_INFINITY, level);
}

/** Weighted harmonic mean of set precision and recall, trec_eval's form: (b + 1) P R / (b P + R). */
export function setF(ranking: JudgedRanking, level: number, beta: number): number {
  const p = setPrecision(ranking, level, false);
  const r = setRecall(ranking, level);
  return ratio((beta + 1) * p * r, beta * p + r);
}

/** Set precision times set recall: what AP would be if every relevant document had the set's precision. */
export function setAveragePrecision(ranking: JudgedRanking, level: number): number {
  return setPrecision(ranking, level, false) * setRecall(ranking, level);
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}
