/**
 * The median cosine over the pairs i < j of a pool: what the kernel's width is set by (BoundaryMORPH B.3).
 * Exact up to `exactLimit` rows. Beyond, at least 200,000 pairs of distinct rows from a seeded design in which every row
 * takes part equally often: the rows are shuffled, cut into blocks, and block b meets block b + s for s = 1, 2, ...
 * Equal participation removes the largest part of the sampling error, and blocks of rows stay in the cache.
 */
import { createRng, shuffle } from '../../src/kernels/rng.ts';
import type { Matrix } from '../../src/types.ts';
import { innerProductFor } from './inner-product.ts';

export const EXACT_LIMIT = 2000;
export const SAMPLED_PAIRS = 200_000;

const BLOCK = 8;
/** Inner products between two yields: about 10 ms at 1,024 dimensions. */
const PAIRS_PER_TURN = 8192;

export interface MedianOptions {
  readonly seed?: number;
  readonly exactLimit?: number;
  readonly pairs?: number;
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
      : yield* sampledPairs(embeddings, options.seed ?? 1, options.pairs ?? SAMPLED_PAIRS);
  return medianInPlace(cosines);
}

function* everyPair({ rows, columns, data }: Matrix): Generator<void, Float64Array> {
  const cosines = new Float64Array((rows * (rows - 1)) / 2);
  let count = 0;
  let turn = 0;
  const inner = innerProductFor(data);
  const block = new Float64Array(BLOCK * columns);
  // Blocks of rows against all later rows: the block stays in the cache while the rest streams by once.
  for (let start = 0; start < rows; start += BLOCK) {
    const end = Math.min(rows, start + BLOCK);
    block.set(data.subarray(start * columns, end * columns));
    for (let j = start + 1; j < rows; j++) {
      for (let i = start; i < end && i < j; i++) {
        cosines[count++] = inner(data, j * columns, block, (i - start) * columns, columns);
      }
    }
    if (count >= turn) {
      turn = count + PAIRS_PER_TURN;
      yield;
    }
  }
  return cosines;
}

function* sampledPairs({ rows, columns, data }: Matrix, seed: number, wanted: number): Generator<void, Float64Array> {
  const order = shuffle(
    Array.from({ length: rows }, (_, i) => i),
    createRng(seed),
  );
  const blocks = Math.floor(rows / BLOCK);
  const meetings = Math.ceil(wanted / (BLOCK * BLOCK));
  const cosines = new Float64Array(meetings * BLOCK * BLOCK);
  const inner = innerProductFor(data);
  const block = new Float64Array(BLOCK * columns);
  let count = 0;
  for (let meeting = 0; meeting < meetings; meeting++) {
    const shift = 1 + Math.floor(meeting / blocks);
    const first = (meeting % blocks) * BLOCK;
    const second = (((meeting % blocks) + shift) % blocks) * BLOCK;
    for (let i = 0; i < BLOCK; i++) {
      const start = order[first + i] * columns;
      block.set(data.subarray(start, start + columns), i * columns);
    }
    for (let j = second; j < second + BLOCK; j++) {
      for (let i = 0; i < BLOCK; i++) cosines[count++] = inner(data, order[j] * columns, block, i * columns, columns);
    }
    if (count % PAIRS_PER_TURN === 0) yield;
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
