/** How a reranker uses its scale: a process that learns from its scores can only be as good as they are spread. */
import { meanOf } from '../../src/metrics/mod.ts';
import { ascending, quantile } from '../kernels/quantile.ts';
import type { StudyQuery } from './types.ts';

export interface ScoreScale {
  /** Pairs with a score. */
  readonly pairs: number;
  readonly failed: number;
  /** Minimum, quartiles, maximum; null where nothing was scored. */
  readonly quantiles: readonly (number | null)[];
  /** Share within 1e-6 of 0 or 1. */
  readonly saturated: number | null;
  /** Mean score of relevant documents, and of the others. */
  readonly meanRelevant: number | null;
  readonly meanOther: number | null;
  /** What is wrong with it, in words. */
  readonly warnings: readonly string[];
}

const EDGE = 1e-6;
const MOST = 0.9;

export function scoreScale(queries: readonly Pick<StudyQuery, 'scores' | 'relevance'>[]): ScoreScale {
  const all: number[] = [];
  const byLabel: [other: number[], relevant: number[]] = [[], []];
  let failed = 0;
  for (const { scores, relevance } of queries) {
    scores.forEach((score, i) => {
      if (Number.isNaN(score)) failed++;
      else {
        all.push(score);
        byLabel[relevance[i] > 0 ? 1 : 0].push(score);
      }
    });
  }
  const sorted = ascending(all);
  const mean = (values: readonly number[]): number | null => (values.length === 0 ? null : meanOf(values));
  const quantiles = [0, 0.25, 0.5, 0.75, 1].map((share) => (all.length === 0 ? null : quantile(sorted, share)));
  const edge = all.filter((score) => score < EDGE || score > 1 - EDGE).length;
  const saturated = all.length === 0 ? null : edge / all.length;
  const [meanOther, meanRelevant] = byLabel.map(mean);
  const warnings: string[] = [];
  if (failed > 0) warnings.push(`${failed} of ${failed + all.length} calls failed.`);
  if (all.length > 1 && sorted[all.length - 1] - sorted[0] < EDGE) {
    warnings.push(`All scores are ${sorted[0]}: they tell nothing apart.`);
  } else if (saturated !== null && saturated >= MOST) {
    warnings.push(
      `${(100 * saturated).toFixed(0)} % of the scores are 0 or 1: if they were logits, they were squashed twice or too hard.`,
    );
  }
  if (meanOther !== null && meanRelevant !== null && meanRelevant <= meanOther) {
    warnings.push('Relevant documents score no higher than others: is the scale upside down?');
  }
  return { pairs: all.length, failed, quantiles, saturated, meanRelevant, meanOther, warnings };
}
