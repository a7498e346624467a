/**
 * The k best of a stream under the one total order: score descending, then id rank ascending. A binary heap with the
 * worst kept entry at the root, in arrays that are reused from query to query.
 */
export class Best {
  #k = 0;
  #rank: Int32Array;
  #scores = new Float64Array(16);
  #documents = new Int32Array(16);
  size = 0;
  /** Score of the k-th best so far; -Infinity while fewer than k are kept. A lower score cannot enter, an equal one may. */
  floor = Number.NEGATIVE_INFINITY;

  /** rank[document] is its place in id order. */
  constructor(rank: Int32Array) {
    this.#rank = rank;
  }

  reset(k: number): void {
    this.#k = k;
    this.size = 0;
    this.floor = k === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  offer(document: number, score: number): void {
    if (score < this.floor || this.#k === 0) return;
    if (this.size < this.#k) {
      if (this.size === this.#scores.length) this.#grow();
      this.#siftUp(this.size++, document, score);
      if (this.size === this.#k) this.floor = this.#scores[0];
    } else if (this.#before(score, document, this.#scores[0], this.#documents[0])) {
      this.#siftDown(0, this.size, document, score);
      this.floor = this.#scores[0];
    }
  }

  /** What was kept, best first. Empties the heap. */
  take(): { documents: Int32Array; scores: Float64Array } {
    const documents = new Int32Array(this.size);
    const scores = new Float64Array(this.size);
    for (let n = this.size; n > 0; n--) {
      documents[n - 1] = this.#documents[0];
      scores[n - 1] = this.#scores[0];
      this.#siftDown(0, n - 1, this.#documents[n - 1], this.#scores[n - 1]);
    }
    this.size = 0;
    return { documents, scores };
  }

  /** Whether (score, document) ranks before (otherScore, other). */
  #before(score: number, document: number, otherScore: number, other: number): boolean {
    return score > otherScore || (score === otherScore && this.#rank[document] < this.#rank[other]);
  }

  #siftUp(at: number, document: number, score: number): void {
    const scores = this.#scores;
    const documents = this.#documents;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      // The worse one belongs nearer to the root.
      if (!this.#before(scores[parent], documents[parent], score, document)) break;
      scores[at] = scores[parent];
      documents[at] = documents[parent];
      at = parent;
    }
    scores[at] = score;
    documents[at] = document;
  }

  #siftDown(at: number, size: number, document: number, score: number): void {
    const scores = this.#scores;
    const documents = this.#documents;
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      const right = child + 1;
      if (right < size && this.#before(scores[child], documents[child], scores[right], documents[right])) child = right;
      if (!this.#before(score, document, scores[child], documents[child])) break;
      scores[at] = scores[child];
      documents[at] = documents[child];
      at = child;
    }
    scores[at] = score;
    documents[at] = document;
  }

  #grow(): void {
    const scores = new Float64Array(this.#scores.length * 2);
    const documents = new Int32Array(this.#scores.length * 2);
    scores.set(this.#scores);
    documents.set(this.#documents);
    this.#scores = scores;
    this.#documents = documents;
  }
}
