/** Running mean and deviation (Welford): the spread of a matrix that is never held whole. */
export interface Spread {
  add(value: number): void;
  readonly count: number;
  readonly mean: number;
  /** Population deviation; 0 for fewer than two values. */
  readonly deviation: number;
}

export function createSpread(): Spread {
  let count = 0;
  let mean = 0;
  let squares = 0;
  return {
    add(value) {
      count++;
      const delta = value - mean;
      mean += delta / count;
      squares += delta * (value - mean);
    },
    get count() {
      return count;
    },
    get mean() {
      return mean;
    },
    get deviation() {
      return count < 2 ? 0 : Math.sqrt(squares / count);
    },
  };
}
