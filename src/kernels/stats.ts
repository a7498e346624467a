/**
 * Area under the ROC curve: the chance that a random positive scores above a random negative, ties counting half. NaN
 * when there are no positives or no negatives. O(n log n).
 */
export function areaUnderCurve(scores: Float64Array, labels: Float64Array): number {
  const order = Array.from(scores, (_, i) => i).sort((a, b) => scores[a] - scores[b]);
  let positives = 0;
  let rankSum = 0;
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end < order.length && scores[order[end]] === scores[order[start]]) end++;
    // Tied scores share the mean of their ranks (1-based).
    for (let i = start; i < end; i++) {
      if (labels[order[i]] <= 0) continue;
      positives++;
      rankSum += (start + end + 1) / 2;
    }
    start = end;
  }
  const negatives = order.length - positives;
  if (positives === 0 || negatives === 0) return Number.NaN;
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}
