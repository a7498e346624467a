/**
 * What earlier queries teach the log-rank selectors: how much each ranking is worth before the first call of a new query
 * (`weights`), and how far a single score can be trusted (`noise: auto`). Only ever from queries that are not measured.
 */
import type { Pool } from '../src/types.ts';
import { nonNegativeLeastSquares } from './kernels/non-negative-least-squares.ts';
import { logRankFeature } from './kernels/ranks.ts';
import { createDenseLog, createMorphHybrid, DEFAULT_NOISE } from './selectors/hybrid.ts';
import { denseRanksOf, fusedRanksOf } from './selectors/pool-ranks.ts';

/** One query of the past. */
export interface LoggedQuery {
  readonly pool: Pool;
  /** Reranker scores by position; NaN where there was no call. */
  readonly scores: Float64Array;
  /** Judgements or clicks by position, > 0 = relevant; undefined where nothing is known. */
  readonly relevant?: ArrayLike<number>;
}

/** What was learned, and a line for each part that says from what. */
export interface Learned {
  /** Prior weights of BM25, dense and fused ranks, summing to 1. */
  readonly weights?: readonly number[];
  /** Multiple of s^2. */
  readonly noise?: number;
  readonly notes: readonly string[];
}

/** Logged queries below this many say nothing yet. */
export const LEAST_FOR_WEIGHTS = 8;
export const LEAST_FOR_NOISE = 20;
const NOISES = [DEFAULT_NOISE, 0.3, 1, 3, 10];
const FOLDS = 5;

/** Non-negative least squares of logged scores on the log ranks of their documents, scaled to sum 1. */
export function learnWeights(logged: readonly LoggedQuery[]): Learned {
  const usable = logged.filter(({ pool, scores }) => pool.lexicalRanks !== undefined && scores.some(isKnown));
  if (usable.length < LEAST_FOR_WEIGHTS) {
    return {
      notes: [`weights: the standard ones, ${usable.length} logged queries are fewer than ${LEAST_FOR_WEIGHTS}`],
    };
  }
  const columns: number[][] = [[], [], []];
  const y: number[] = [];
  for (const { pool, scores } of usable) {
    const rankings = [pool.lexicalRanks!, denseRanksOf(pool), fusedRanksOf(pool, 'history')];
    const features = rankings.map(logRankFeature);
    scores.forEach((score, d) => {
      if (!isKnown(score)) return;
      y.push(score);
      features.forEach((feature, i) => void columns[i].push(feature[d]));
    });
  }
  const w = nonNegativeLeastSquares(
    columns.map((column) => Float64Array.from(column)),
    Float64Array.from(y),
  );
  const sum = w.reduce((total, value) => total + value, 0);
  if (!(sum > 0)) return { notes: ['weights: the standard ones, logged scores do not rise with any of the rankings'] };
  const weights = Array.from(w, (value) => value / sum);
  const words = weights.map((value) => value.toFixed(2)).join(', ');
  return { weights, notes: [`weights: ${words} (BM25, dense, fused) from ${usable.length} logged queries`] };
}

/**
 * The noise with the best nCG@k when the logged queries are selected again, each within the documents whose scores are
 * known. It replaces the default only when a choice made on four fifths of the queries is better on the last fifth too,
 * all folds together.
 */
export function learnNoise(
  logged: readonly LoggedQuery[],
  limits: { readonly budget: number; readonly capacity: number },
): Learned {
  const usable = logged.flatMap((query) => replayable(query) ?? []);
  if (usable.length < LEAST_FOR_NOISE) {
    return {
      notes: [`noise: auto took ${DEFAULT_NOISE}, ${usable.length} labelled queries are fewer than ${LEAST_FOR_NOISE}`],
    };
  }
  /** quality[candidate][query] */
  const quality = NOISES.map((noise) => usable.map((query) => replay(query, noise, limits)));
  const everyone = usable.map((_, i) => i);
  const mean = (candidate: number, of: readonly number[]): number =>
    of.reduce((sum, i) => sum + quality[candidate][i], 0) / of.length;
  const bestOn = (of: readonly number[]): number =>
    NOISES.reduce((best, _, candidate) => (mean(candidate, of) > mean(best, of) ? candidate : best), 0);
  let heldOut = 0;
  for (let fold = 0; fold < FOLDS; fold++) {
    const chosen = bestOn(everyone.filter((i) => i % FOLDS !== fold));
    for (const i of everyone) if (i % FOLDS === fold) heldOut += quality[chosen][i] / usable.length;
  }
  const standard = mean(0, everyone);
  const chosen = heldOut > standard ? bestOn(everyone) : 0;
  const percent = (share: number): string => (100 * share).toFixed(1);
  return {
    noise: NOISES[chosen],
    notes: [
      `noise: auto took ${NOISES[chosen]} from ${usable.length} labelled queries (nCG ${percent(mean(chosen, everyone))}, with ${DEFAULT_NOISE} ${percent(standard)}, chosen by other queries ${percent(heldOut)})`,
    ],
  };
}

interface Replayable extends LoggedQuery {
  readonly relevant: ArrayLike<number>;
}

/** The query within its scored documents; undefined where that leaves nothing to choose. */
function replayable({ pool, scores, relevant }: LoggedQuery): Replayable | undefined {
  if (relevant === undefined) return undefined;
  const kept = Array.from(scores.keys()).filter((d) => isKnown(scores[d]));
  const labels = Float64Array.from(kept, (d) => relevant[d] ?? 0);
  const hits = labels.filter((label) => label > 0).length;
  if (kept.length < 4 || hits === 0 || hits === kept.length) return undefined;
  return { pool: subPool(pool, kept), scores: Float64Array.from(kept, (d) => scores[d]), relevant: labels };
}

function replay(
  { pool, scores, relevant }: Replayable,
  noise: number,
  limits: { readonly budget: number; readonly capacity: number },
): number {
  const half = Math.floor(pool.ids.length / 2);
  const budget = Math.min(limits.budget, half);
  const capacity = Math.max(1, Math.min(limits.capacity, half));
  const selector = pool.lexicalRanks === undefined ? createDenseLog({ noise }) : createMorphHybrid({ noise });
  const run = selector.begin(pool, { budget, capacity });
  for (let next = run.ask(); next.length > 0; next = run.ask()) for (const d of next) run.tell(d, scores[d]);
  let hits = 0;
  for (const { position } of run.result().order.slice(0, capacity)) if (relevant[position] > 0) hits++;
  let possible = 0;
  for (let d = 0; d < relevant.length; d++) if (relevant[d] > 0) possible++;
  return hits / Math.min(capacity, possible);
}

/** The pool of some of its documents, ranks closed up. */
function subPool(pool: Pool, kept: readonly number[]): Pool {
  const { columns, data } = pool.embeddings;
  const rows = new Float64Array(kept.length * columns);
  kept.forEach((d, r) => {
    rows.set(data.subarray(d * columns, (d + 1) * columns), r * columns);
  });
  const closed = (ranks: Int32Array | undefined): Int32Array | undefined => {
    if (ranks === undefined) return undefined;
    const order = kept.map((_, r) => r).sort((a, b) => ranks[kept[a]] - ranks[kept[b]]);
    const out = new Int32Array(kept.length);
    order.forEach((r, rank) => {
      out[r] = rank;
    });
    return out;
  };
  return {
    query: pool.query,
    ids: kept.map((d) => pool.ids[d]),
    embeddings: { rows: kept.length, columns, data: rows },
    queryEmbedding: pool.queryEmbedding,
    lexicalRanks: closed(pool.lexicalRanks),
    denseRanks: closed(pool.denseRanks),
    scoreScale: pool.scoreScale,
    terms: pool.terms === undefined ? undefined : termRowsOf(pool.terms, [...kept, pool.ids.length]),
  };
}

function termRowsOf(terms: NonNullable<Pool['terms']>, rows: readonly number[]): NonNullable<Pool['terms']> {
  const offsets = new Int32Array(rows.length + 1);
  rows.forEach((r, i) => {
    offsets[i + 1] = offsets[i] + terms.offsets[r + 1] - terms.offsets[r];
  });
  const out = {
    rows: rows.length,
    width: terms.width,
    offsets,
    terms: new Int32Array(offsets[rows.length]),
    weights: new Float64Array(offsets[rows.length]),
  };
  rows.forEach((r, i) => {
    out.terms.set(terms.terms.subarray(terms.offsets[r], terms.offsets[r + 1]), offsets[i]);
    out.weights.set(terms.weights.subarray(terms.offsets[r], terms.offsets[r + 1]), offsets[i]);
  });
  return out;
}

function isKnown(score: number): boolean {
  return Number.isFinite(score);
}
