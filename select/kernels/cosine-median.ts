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
  return medianOf(cosines);
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

/** Mean of the two middle values when the count is even. */
export function medianOf(values: Float64Array): number {
  const middle = values.length >> 1;
  const upper = kthSmallest(values, middle);
  return values.length % 2 === 1 ? upper : (kthSmallest(values, middle - 1) + upper) / 2;
}

const BINS = 4096;

/** Values are counted into bins; only those of the bin that the k-th (0-based) falls into are sorted. */
function kthSmallest(values: Float64Array, k: number): number {
  let least = values[0];
  let most = values[0];
  for (let i = 1; i < values.length; i++) {
    if (values[i] < least) least = values[i];
    if (values[i] > most) most = values[i];
  }
  const scale = (BINS - 1) / (most - least);
  // All alike, or closer than a bin can tell.
  if (values.length <= BINS || !Number.isFinite(scale)) return values.slice().sort()[k];
  const counts = new Int32Array(BINS);
  for (let i = 0; i < values.length; i++) counts[((values[i] - least) * scale) | 0]++;
  let bin = 0;
  let before = 0;
  while (before + counts[bin] <= k) before += counts[bin++];
  const inside = values.filter((value) => (((value - least) * scale) | 0) === bin);
  return inside.sort()[k - before];
}
