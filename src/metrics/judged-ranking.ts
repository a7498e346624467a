/** One query's ranking seen through its judgements: all that a measure needs to know, without ids. */
export interface JudgedRanking {
  /** Grade of the document at each rank, best first; NaN = not judged. Grades < 0 are judged but not relevant. */
  readonly gradesByRank: Float64Array;
  /** Every grade of the query's judgements, retrieved or not, in no particular order. */
  readonly grades: Float64Array;
}

/** How many grades reach `level`. trec_eval's rule: negative grades never do, whatever the level. */
export function countRelevant(grades: Float64Array, level: number, depth: number = grades.length): number {
  const end = Math.min(depth, grades.length);
  let count = 0;
  for (let i = 0; i < end; i++) if (isRelevant(grades[i], level)) count++;
  return count;
}

/** False for NaN (not judged) and for negative grades. */
export function isRelevant(grade: number, level: number): boolean {
  return grade >= level && grade >= 0;
}

/** The ranking with its unjudged documents taken out (`judged_only=True`); negative grades leave too, as in trec_eval -J. */
export function judgedOnly(ranking: JudgedRanking): JudgedRanking {
  return { gradesByRank: ranking.gradesByRank.filter((grade) => grade >= 0), grades: ranking.grades };
}
