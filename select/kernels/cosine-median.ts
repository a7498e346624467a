/**
 * The median cosine over the pairs i < j of a pool: what the kernel's width is set by (BoundaryMORPH B.3).
 * Exact up to `exactLimit` rows. Beyond, at least 200,000 pairs of distinct rows from a seeded design in which every row
 * takes part equally often: the rows are shuffled, cut into blocks, and block b meets block b + s for s = 1, 2, ...
 * Equal participation removes the largest part of the sampling error, and blocks of rows stay in the cache.
 */
import { createRng, shuffle } from '../../src/kernels/rng.ts';
import type { Matrix } from '../../src/types.ts';
import { exactProducts, PAIR_SIDE, type PoolProducts } from './pool-products.ts';
import { createRowProducts, plainRowProducts } from './row-products.ts';

/** Up to here everything about a pool is computed exactly. */
export const EXACT_LIMIT = 2000;
export const SAMPLED_PAIRS = 200_000;

/** Inner products between two yields: a few milliseconds at 1,024 dimensions. */
const PAIRS_PER_TURN = 8192;

export interface MedianOptions {
  readonly seed?: number;
  readonly exactLimit?: number;
  readonly pairs?: number;
  /** Where sampled pairs are multiplied; in float64 when left out. */
  readonly products?: PoolProducts;
}

/** NaN when there is no pair. */
export function medianCosine(embeddings: Matrix, options: MedianOptions = {}): number {
  const steps = medianCosineInSteps(embeddings, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same, handing control back every few milliseconds so that a service stays responsive. */
export function* medianCosineInSteps(embeddings: Matrix, options: MedianOptions = {}): Generator<void, number> {
  const { rows } = embeddings;
  if (rows < 2) return Number.NaN;
  const cosines =
    rows <= (options.exactLimit ?? EXACT_LIMIT)
      ? yield* everyPair(embeddings)
      : yield* sampledPairs(
          rows,
          options.products ?? exactProducts(embeddings, plainRowProducts(embeddings)),
          options.seed ?? 1,
          options.pairs ?? SAMPLED_PAIRS,
        );
  return medianInPlace(cosines);
}

function* everyPair(embeddings: Matrix): Generator<void, Float64Array> {
  const { rows, columns, data } = embeddings;
  const products = createRowProducts(embeddings);
  const cosines = new Float64Array((rows * (rows - 1)) / 2);
  const row = new Float64Array(rows);
  const vector = new Float64Array(columns);
  let count = 0;
  let turn = PAIRS_PER_TURN;
  for (let i = 0; i + 1 < rows; i++) {
    vector.set(data.subarray(i * columns, (i + 1) * columns));
    products(vector, row, i + 1);
    cosines.set(row.subarray(i + 1), count);
    count += rows - 1 - i;
    if (count >= turn) {
      turn = count + PAIRS_PER_TURN;
      yield;
    }
  }
  return cosines;
}

function* sampledPairs(
  rows: number,
  products: PoolProducts,
  seed: number,
  wanted: number,
): Generator<void, Float64Array> {
  const order = shuffle(
    Array.from({ length: rows }, (_, i) => i),
    createRng(seed),
  );
  const blocks = Math.floor(rows / PAIR_SIDE);
  const block = (b: number): number[] => order.slice(b * PAIR_SIDE, (b + 1) * PAIR_SIDE);
  const perMeeting = PAIR_SIDE * PAIR_SIDE;
  const meetings = Math.ceil(wanted / perMeeting);
  const cosines = new Float64Array(meetings * perMeeting);
  for (let meeting = 0; meeting < meetings; meeting++) {
    const first = meeting % blocks;
    const second = (first + 1 + Math.floor(meeting / blocks)) % blocks;
    const out = cosines.subarray(meeting * perMeeting, (meeting + 1) * perMeeting);
    products.between(block(first), block(second), out);
    if (((meeting + 1) * perMeeting) % PAIRS_PER_TURN === 0) yield;
  }
  return cosines;
}

/** Mean of the two middle values when the count is even. Reorders its input. */
export function medianInPlace(values: Float64Array): number {
  const middle = values.length >> 1;
  const upper = selectInPlace(values, middle);
  if (values.length % 2 === 1) return upper;
  // Everything before `middle` is now <= upper: the lower middle is their largest.
  let lower = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < middle; i++) if (values[i] > lower) lower = values[i];
  return (lower + upper) / 2;
}

/** The k-th smallest value (0-based), by quickselect with a median-of-three pivot and three-way partition. */
function selectInPlace(values: Float64Array, k: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = medianOfThree(values[low], values[(low + high) >> 1], values[high]);
    let below = low;
    let above = high;
    let i = low;
    while (i <= above) {
      const value = values[i];
      if (value < pivot) {
        values[i++] = values[below];
        values[below++] = value;
      } else if (value > pivot) {
        values[i] = values[above];
        values[above--] = value;
      } else i++;
    }
    if (k < below) high = below - 1;
    else if (k > above) low = above + 1;
    else return pivot;
  }
  return values[k];
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
