/** What reranker scores betray about their reranker: a Gaussian process on saturated or constant scores learns nothing. */
const FEW = 8;
const EDGE = 1e-6;
const MOST = 0.9;

export function scoreWarnings(scores: readonly number[], calls: number, failed: number): string[] {
  const warnings: string[] = [];
  if (failed > 0 && failed === calls) {
    warnings.push(`All ${calls} reranker calls failed: the answer is the first-stage order, not a reranked one.`);
  } else if (failed > 0) {
    warnings.push(`${failed} of ${calls} reranker calls failed; their documents keep the estimate.`);
  }
  if (scores.length < FEW) return warnings;
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (const score of scores) {
    lowest = Math.min(lowest, score);
    highest = Math.max(highest, score);
  }
  if (highest - lowest < EDGE) {
    warnings.push(`All ${scores.length} reranker scores are ${lowest}: the calls decided nothing.`);
    return warnings;
  }
  const saturated = scores.filter((score) => score < EDGE || score > 1 - EDGE).length;
  if (saturated >= MOST * scores.length) {
    warnings.push(
      `${saturated} of ${scores.length} reranker scores are within ${EDGE} of 0 or 1: if they were logits, they were squashed twice or too hard.`,
    );
  }
  return warnings;
}
