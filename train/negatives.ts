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
  /** Similarities held at once; default 4 million, 32 MB of doubles. The whole queries x documents matrix never exists. */
  readonly heldCells?: number;
}

const HELD_CELLS = 4_000_000;

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

  // The spread is that of the whole matrix; mining alone needs the columns of `documents` only. Queries come in blocks, so
  // that each is searched once, and every document keeps its best so far.
  const columns = options.spread === undefined ? documents : corpus.ids.map((_, position) => position);
  const ids = columns.map((position) => corpus.ids[position]);
  const hardest = new Map(documents.map((document) => [document, createHardest(document, training, options.count)]));
  const height = Math.max(1, Math.floor((options.heldCells ?? HELD_CELLS) / columns.length));
  for (let start = 0; start < training.queries.length; start += height) {
    const block = await index.similarities(training.queries.slice(start, start + height), ids);
    if (options.spread !== undefined) for (const value of block.data) options.spread.add(value);
    if (!wantsHard) continue;
    columns.forEach((document, column) => {
      const best = hardest.get(document);
      if (best === undefined) return;
      for (let row = 0; row < block.rows; row++) best.offer(start + row, block.data[row * block.columns + column]);
    });
  }
  if (wantsHard) for (const [document, best] of hardest) negatives.set(document, best.queries);
  return negatives;
}

interface Hardest {
  offer(query: number, similarity: number): void;
  /** Similarity descending, query id ascending. */
  readonly queries: readonly number[];
}

/** Keeps a document's `count` most similar allowed queries. */
function createHardest(document: number, training: TrainingQueries, count: number): Hardest {
  const forbidden = positiveTexts(document, training);
  const queries: number[] = [];
  const scores: number[] = [];
  return {
    queries,
    offer(q, score) {
      // Nearly every query ends here: it is not among the best.
      if (queries.length === count && score < scores[count - 1]) return;
      if (training.judged[q].ideal <= 0 || forbidden.has(training.textGroup[q])) return;
      const { id } = training.queries[q];
      let place = queries.length;
      while (place > 0 && compareRanked(score, id, scores[place - 1], training.queries[queries[place - 1]].id) < 0) {
        place--;
      }
      if (place >= count) return;
      queries.splice(place, 0, q);
      scores.splice(place, 0, score);
      if (queries.length > count) {
        queries.pop();
        scores.pop();
      }
    },
  };
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
