/**
 * Negative queries (DocOpt 3.1, A.5, Table 7): for each document the training queries that a rewrite must not attract.
 * `hard` takes those with the highest similarity to the document as it is indexed now; `random` draws them.
 */
import { compareRanked } from '../src/kernels/compare.ts';
import { createRng, deriveSeed } from '../src/kernels/rng.ts';
import type { RetrievalIndex } from '../src/ports.ts';
import type { Corpus } from '../src/types.ts';
import type { Spread } from './kernels/spread.ts';
import type { TrainingQueries } from './training-queries.ts';

export interface MiningOptions {
  readonly mining: 'hard' | 'random' | 'none';
  /** Negatives per document. */
  readonly count: number;
  /** Of the random draw. */
  readonly seed: number;
  /** Collects the spread of ALL similarities on the way, for the similarity reward. */
  readonly spread?: Spread;
}

/** Similarities held at once: 32 MB of doubles. The whole queries x documents matrix never exists. */
const CHUNK_CELLS = 4_000_000;

/**
 * negatives.get(document position) = positions of its negative queries, best first, for each of `documents`. Left out are
 * the queries to which the document is relevant and those with the same text as one of them (they would be false
 * negatives), and queries without any relevant document (their nDCG is 0 whatever happens).
 */
export async function mineNegatives(
  index: RetrievalIndex,
  corpus: Corpus,
  training: TrainingQueries,
  documents: readonly number[],
  options: MiningOptions,
): Promise<Map<number, readonly number[]>> {
  const negatives = new Map<number, readonly number[]>(documents.map((document) => [document, []]));
  const wantsHard = options.mining === 'hard' && options.count > 0;
  if (options.mining === 'random') {
    for (const document of documents) negatives.set(document, drawRandom(document, corpus, training, options));
  }
  if ((!wantsHard && options.spread === undefined) || training.queries.length === 0) return negatives;

  // The spread is that of the whole matrix; mining alone needs the columns of `documents` only.
  const columns = options.spread === undefined ? documents : corpus.ids.map((_, position) => position);
  const width = Math.max(1, Math.floor(CHUNK_CELLS / training.queries.length));
  for (let start = 0; start < columns.length; start += width) {
    const chunk = columns.slice(start, start + width);
    const similarities = await index.similarities(
      training.queries,
      chunk.map((position) => corpus.ids[position]),
    );
    if (options.spread !== undefined) for (const value of similarities.data) options.spread.add(value);
    if (!wantsHard) continue;
    chunk.forEach((document, column) => {
      if (!negatives.has(document)) return;
      const similarity = (q: number): number => similarities.data[q * similarities.columns + column];
      negatives.set(document, hardest(document, training, options.count, similarity));
    });
  }
  return negatives;
}

/** The `count` most similar allowed queries: similarity descending, query id ascending. */
function hardest(
  document: number,
  training: TrainingQueries,
  count: number,
  similarity: (query: number) => number,
): number[] {
  const forbidden = positiveTexts(document, training);
  const best: number[] = [];
  for (const q of training.answerable) {
    if (forbidden.has(training.textGroup[q])) continue;
    const score = similarity(q);
    const before = (other: number): boolean =>
      compareRanked(score, training.queries[q].id, similarity(other), training.queries[other].id) < 0;
    if (best.length === count && !before(best[count - 1])) continue;
    let place = best.length;
    while (place > 0 && before(best[place - 1])) place--;
    best.splice(place, 0, q);
    if (best.length > count) best.pop();
  }
  return best;
}

function drawRandom(document: number, corpus: Corpus, training: TrainingQueries, options: MiningOptions): number[] {
  const forbidden = positiveTexts(document, training);
  const pool = training.answerable.filter((q) => !forbidden.has(training.textGroup[q]));
  const rng = createRng(deriveSeed(options.seed, 'negatives', corpus.ids[document]));
  const size = Math.min(options.count, pool.length);
  for (let i = 0; i < size; i++) {
    const j = i + rng.int(pool.length - i);
    const held = pool[i];
    pool[i] = pool[j];
    pool[j] = held;
  }
  return pool.slice(0, size);
}

/** Text groups of the document's positive queries; a query shares its group with itself, so these exclude Q+ too. */
function positiveTexts(document: number, training: TrainingQueries): Set<number> {
  return new Set((training.positives.get(document) ?? []).map((q) => training.textGroup[q]));
}
