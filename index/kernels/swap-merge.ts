/** The best documents of one query: positions and scores run in parallel, best first. */
export interface Head {
  readonly positions: Int32Array;
  readonly scores: Float64Array;
}

/**
 * The top k after one document's score changed and nothing else: its old place is dropped from the head (which must be
 * k + 1 deep, or hold everything) and it is merged in anew. O(k). A score of -Infinity leaves it out.
 */
export function swapInto(head: Head, document: number, score: number, place: Int32Array, k: number): Head {
  const positions = new Int32Array(Math.min(k, head.positions.length + 1));
  const scores = new Float64Array(positions.length);
  let size = 0;
  let waiting = score !== Number.NEGATIVE_INFINITY;
  for (let i = 0; i < head.positions.length && size < k; i++) {
    const other = head.positions[i];
    if (other === document) continue;
    const better = score > head.scores[i] || (score === head.scores[i] && place[document] < place[other]);
    if (waiting && better) {
      positions[size] = document;
      scores[size++] = score;
      waiting = false;
      if (size === k) break;
    }
    positions[size] = other;
    scores[size++] = head.scores[i];
  }
  if (waiting && size < k) {
    positions[size] = document;
    scores[size++] = score;
  }
  return { positions: positions.subarray(0, size), scores: scores.slice(0, size) };
}
