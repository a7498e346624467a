import { compareIds } from './compare.ts';

/**
 * place[position] = rank of that id among all ids, ascending: the tie-breaker of the one total order as a number, so that
 * inner loops never compare strings.
 */
export function idPlaces(ids: readonly string[]): Int32Array {
  const order = Array.from(ids, (_, position) => position);
  order.sort((a, b) => compareIds(ids[a], ids[b]));
  const place = new Int32Array(ids.length);
  for (let i = 0; i < order.length; i++) place[order[i]] = i;
  return place;
}

/**
 * Positions of the k best scores, best first: score descending, then `place` ascending. A score of -Infinity is left out.
 * A heap of k with its worst on top: O(n) for the scan, O(log k) for each score that gets in.
 */
export function topPositions(scores: Float64Array, count: number, k: number, place: Int32Array): Int32Array {
  const limit = Math.min(k, count);
  if (limit <= 0) return new Int32Array(0);
  const heap = new Int32Array(limit);
  let size = 0;

  const worse = (a: number, b: number): boolean =>
    scores[a] < scores[b] || (scores[a] === scores[b] && place[a] > place[b]);
  const sink = (start: number): void => {
    const moving = heap[start];
    let hole = start;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= size) break;
      if (child + 1 < size && worse(heap[child + 1], heap[child])) child++;
      if (!worse(heap[child], moving)) break;
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = moving;
  };

  let bar = Number.NEGATIVE_INFINITY;
  for (let position = 0; position < count; position++) {
    const score = scores[position];
    if (score < bar || score === Number.NEGATIVE_INFINITY) continue;
    if (size < limit) {
      heap[size++] = position;
      if (size < limit) continue;
      for (let i = (size >> 1) - 1; i >= 0; i--) sink(i);
    } else {
      if (!worse(heap[0], position)) continue;
      heap[0] = position;
      sink(0);
    }
    bar = scores[heap[0]];
  }
  return heap.slice(0, size).sort((a, b) => (worse(b, a) ? -1 : 1));
}
