/** Measures that look at the place of every relevant document. `level` is the lowest grade that is relevant. */
import { countRelevant, isRelevant, type JudgedRanking } from './judged-ranking.ts';

/** Mean over ALL relevant documents of the precision where each is found within the first k; the others add 0. */
export function averagePrecision(ranking: JudgedRanking, level: number, k = Number.POSITIVE_INFINITY): number {
  const relevant = countRelevant(ranking.grades, level);
  if (relevant === 0) return 0;
  const grades = ranking.gradesByRank;
  const depth = Math.min(k, grades.length);
  let found = 0;
  let sum = 0;
  for (let i = 0; i < depth; i++) {
    if (isRelevant(grades[i], level)) sum += ++found / (i + 1);
  }
  return sum / relevant;
}

/** 1 / rank of the first relevant document within the first k; 0 if there is none. */
export function reciprocalRank(ranking: JudgedRanking, level: number, k = Number.POSITIVE_INFINITY): number {
  const grades = ranking.gradesByRank;
  const depth = Math.min(k, grades.length);
  for (let i = 0; i < depth; i++) if (isRelevant(grades[i], level)) return 1 / (i + 1);
  return 0;
}

/**
 * Inferred AP (Yilmaz and Aslam 2006): negative grades are "in the pool but not judged" and are skipped as if relevant
 * in the same proportion as the judged ones; documents outside the judgements count as not relevant.
 */
export function inferredAveragePrecision(ranking: JudgedRanking, level: number): number {
  const epsilon = 1e-5;
  const relevant = countRelevant(ranking.grades, level);
  if (relevant === 0) return 0;
  let found = 0;
  let notRelevant = 0;
  let notJudged = 0;
  let sum = 0;
  ranking.gradesByRank.forEach((grade, above) => {
    if (Number.isNaN(grade)) return;
    if (grade < 0) notJudged++;
    else if (grade < level) notRelevant++;
    else {
      if (above === 0) sum += 1;
      else {
        const pooled = (found + notRelevant + notJudged) / above;
        const precisionAmongJudged = (found + epsilon) / (found + notRelevant + 2 * epsilon);
        sum += 1 / (above + 1) + (above / (above + 1)) * pooled * precisionAmongJudged;
      }
      found++;
    }
  });
  return sum / relevant;
}

/** Binary preference (Buckley and Voorhees 2004), unjudged documents left out. trec_eval's form since 8.0. */
export function binaryPreference(ranking: JudgedRanking, level: number): number {
  const relevant = countRelevant(ranking.grades, level);
  if (relevant === 0) return 0;
  const notRelevant = countRelevant(ranking.grades, 0) - relevant;
  let above = 0;
  let sum = 0;
  for (const grade of ranking.gradesByRank) {
    if (isRelevant(grade, level))
      sum += above > 0 ? 1 - Math.min(above, relevant) / Math.min(notRelevant, relevant) : 1;
    else if (grade >= 0) above++;
  }
  return sum / relevant;
}

/**
 * Interpolated precision: the highest precision at or below the rank where `share` of the relevant documents are found.
 * The share in documents is rounded to the nearest whole one, as trec_eval does since version 10 (9 added .9 and cut).
 */
export function interpolatedPrecision(ranking: JudgedRanking, level: number, share: number): number {
  const needed = Math.round(share * countRelevant(ranking.grades, level));
  const grades = ranking.gradesByRank;
  let found = 0;
  let best = 0;
  for (let i = 0; i < grades.length; i++) {
    if (isRelevant(grades[i], level)) found++;
    if (found >= needed) best = Math.max(best, found / (i + 1));
  }
  return best;
}

/** Rank-biased precision (Moffat and Zobel 2008), binary gain, no residual: (1 - p) sum of p^(rank - 1). */
export function rankBiasedPrecision(ranking: JudgedRanking, level: number, persistence: number, k: number): number {
  const grades = ranking.gradesByRank;
  const depth = Math.min(k, grades.length);
  let weight = 1 - persistence;
  let sum = 0;
  for (let i = 0; i < depth; i++) {
    if (isRelevant(grades[i], level)) sum += weight;
    weight *= persistence;
  }
  return sum;
}
