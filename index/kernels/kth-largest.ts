/** The k-th largest of a stream of positive numbers: a heap with the smallest kept one at the root. */
export class KthLargest {
  #k = 0;
  #size = 0;
  #heap = new Float64Array(16);
  /** The k-th largest so far; 0 while there are fewer than k. Only larger numbers need to be offered. */
  floor = 0;

  reset(k: number): void {
    this.#k = k;
    this.#size = 0;
    this.floor = 0;
    if (this.#heap.length < k) this.#heap = new Float64Array(k);
  }

  offer(value: number): void {
    const heap = this.#heap;
    const k = this.#k;
    let at: number;
    if (this.#size < k) {
      at = this.#size++;
      for (; at > 0 && heap[(at - 1) >> 1] > value; at = (at - 1) >> 1) heap[at] = heap[(at - 1) >> 1];
    } else {
      at = 0;
      for (let child = 1; child < k; child = 2 * at + 1) {
        if (child + 1 < k && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= value) break;
        heap[at] = heap[child];
        at = child;
      }
    }
    heap[at] = value;
    if (this.#size === k) this.floor = heap[0];
  }
}
