/**
 * One budgeted selection, start to end: the only loop that calls a reranker and the only place that counts its calls.
 * Selectors decide (synchronously) what to ask; this file asks, and is shared by the command, the service and the benches.
 */
import { DocOptError } from '../src/errors.ts';
import type { Reranker, SelectionLimits, SelectionRun, Selector } from '../src/ports.ts';
import type { Document, Pool, SelectedDocument } from '../src/types.ts';
import { scoreWarnings } from './score-warnings.ts';
import { beginInSteps } from './selectors/stepped.ts';
import { type TokenCapacity, withTokenCapacity } from './selectors/token-capacity.ts';
import { interrupted, type Stops, watchStops } from './stops.ts';
import { type Stopwatch, stopwatch, type Timings } from './stopwatch.ts';

export interface SelectOptions {
  readonly pool: Pool;
  /** The ORIGINAL document at a pool position: what the reranker reads. */
  readonly documentAt: (position: number) => Document;
  readonly reranker: Reranker;
  readonly selector: Selector;
  /** Reranker calls, B. */
  readonly budget: number;
  /** Documents that reach the generator, k; or the tokens that they may take. */
  readonly capacity: number | TokenCapacity;
  /** `selected` holds the whole order in place of the first k. */
  readonly all?: boolean;
  /** Most pairs handed to the reranker at once, when the selector asks for several. Default 32. */
  readonly batchSize?: number;
  /** Aborted: the selection ends with INTERRUPTED. */
  readonly signal?: AbortSignal;
  /** Aborted: no more calls; the answer is the best one from what is known then. */
  readonly deadline?: AbortSignal;
}

export interface SelectedEntry {
  readonly id: string;
  /** 1-based. */
  readonly rank: number;
  readonly source: 'scored' | 'estimated';
  /** null where the selector estimates nothing. */
  readonly relevanceScore: number | null;
  readonly std: number | null;
  /** 1-based. */
  readonly firstStageRank: number;
  readonly firstStageScore: number | null;
}

/** What `morph select --json` prints. */
export interface SelectAnswer {
  readonly selected: readonly SelectedEntry[];
  /** Ids in the order asked. */
  readonly calls: readonly string[];
  /** Calls that brought no score. They are spent; their documents keep the estimate. */
  readonly failed: readonly string[];
  /** Only when the deadline cut a call short: asked, and not waited for. */
  readonly unanswered?: readonly string[];
  readonly budget: number;
  readonly capacity: number | TokenCapacity;
  /** Of what was selected; only with a capacity in tokens. */
  readonly tokens?: number;
  readonly selector: string;
  readonly reranker: string;
  readonly timings: Timings;
  readonly warnings: readonly string[];
}

/**
 * Errors: INTERRUPTED when `signal` aborts, UPSTREAM when the reranker breaks its contract; what the reranker throws
 * passes through.
 */
export async function select(options: SelectOptions): Promise<SelectAnswer> {
  const stops = watchStops(options.signal, options.deadline);
  try {
    return await selectUntil(options, stops);
  } finally {
    stops.release();
  }
}

async function selectUntil(options: SelectOptions, stops: Stops): Promise<SelectAnswer> {
  const { budget, capacity, signal, deadline } = options;
  const { scale } = options.reranker;
  const pool = scale === undefined ? options.pool : { ...options.pool, scoreScale: scale };
  const inTokens = typeof capacity !== 'number';
  const selector = inTokens ? withTokenCapacity(options.selector, capacity) : options.selector;
  const batchSize = options.batchSize ?? 32;
  requireSound(pool);
  const watch = stopwatch();
  const state = createCount(pool, budget);
  const scores: number[] = [];
  const run = await begin(selector, pool, { budget, capacity: inTokens ? 0 : capacity }, watch, signal);

  asking: for (;;) {
    if (isAborted(deadline)) break;
    const positions = watch.selector(() => run.ask());
    if (positions.length === 0) break;
    for (let from = 0; from < positions.length; from += batchSize) {
      await turn(signal);
      const part = positions.slice(from, from + batchSize);
      state.ask(part);
      const answers = await watch.reranker(() => askReranker(options, stops, part));
      if (answers === 'deadline') break asking;
      watch.selector(() => {
        part.forEach((position, i) => {
          const score = answers[i];
          state.answer(position, score);
          if (!Number.isNaN(score)) scores.push(score);
          run.tell(position, Number.isNaN(score) ? null : score);
        });
      });
    }
  }

  await turn(signal);
  const selection = watch.selector(() => run.result());
  const { order } = selection;
  const idOf = (position: number): string => pool.ids[position];
  const unanswered = state.unanswered();
  return {
    selected: order
      .slice(0, options.all === true ? order.length : selection.capacity)
      .map((document) => entryOf(document, pool)),
    calls: state.calls.map(idOf),
    failed: state.failed.map(idOf),
    ...(unanswered.length > 0 ? { unanswered: unanswered.map(idOf) } : {}),
    budget,
    capacity,
    ...(inTokens ? { tokens: tokensOf(order.slice(0, selection.capacity), pool) } : {}),
    selector: selector.name,
    reranker: options.reranker.id,
    timings: watch.timings(),
    warnings: [
      ...(state.calls.length > 0 ? (options.reranker.warnings ?? []) : []),
      ...scoreWarnings(scores, state.calls.length, state.failed.length),
    ],
  };
}

function tokensOf(chosen: readonly SelectedDocument[], { tokenCounts }: Pool): number {
  return chosen.reduce((sum, { position }) => sum + tokenCounts![position], 0);
}

/** Lets other work of the process in: a service must answer its health check while a selection runs. */
async function turn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  if (isAborted(signal)) throw interrupted();
}

async function begin(
  selector: Selector,
  pool: Pool,
  limits: SelectionLimits,
  watch: Stopwatch,
  signal: AbortSignal | undefined,
): Promise<SelectionRun> {
  const steps = beginInSteps(selector, pool, limits);
  for (;;) {
    const step = watch.selector(() => steps.next());
    if (step.done === true) return step.value;
    await turn(signal);
  }
}

/** One score per position; NaN = failed. */
async function askReranker(
  { pool, documentAt, reranker }: SelectOptions,
  stops: Stops,
  positions: readonly number[],
): Promise<Float64Array | 'deadline'> {
  const query = { id: pool.query.id ?? '', text: pool.query.text ?? '' };
  const documents = positions.map(documentAt);
  const answers = await stops.race(reranker.score(query, documents));
  if (answers === 'deadline') return answers;
  if (answers.length !== positions.length) {
    throw new DocOptError(
      'UPSTREAM',
      `The reranker '${reranker.id}' answered ${answers.length} scores for ${positions.length} documents.`,
      { hint: 'It must answer one score per document, in order, NaN where it has none.' },
    );
  }
  for (let i = 0; i < answers.length; i++) {
    // A hair beyond [0, 1] is rounding; anything more is not a probability.
    if (answers[i] < -1e-6 || answers[i] > 1 + 1e-6) {
      throw new DocOptError(
        'UPSTREAM',
        `The reranker '${reranker.id}' gave document '${documents[i].id}' the score ${answers[i]}; scores are probabilities in [0, 1].`,
        { hint: 'If these are logits, put them through the logistic function 1 / (1 + exp(-x)) first.' },
      );
    }
  }
  return answers;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Which calls were made and what came of them. A selector that breaks the budget is a bug, not a bill. */
function createCount(pool: Pool, budget: number) {
  const calls: number[] = [];
  const failed: number[] = [];
  const open = new Set<number>();
  const seen = new Set<number>();
  return {
    calls,
    failed,
    ask(positions: readonly number[]): void {
      for (const position of positions) {
        if (seen.has(position) || !(position in pool.ids)) {
          throw new DocOptError('INTERNAL', `The selector asked for position ${position} twice or outside the pool.`);
        }
        seen.add(position);
        open.add(position);
        calls.push(position);
      }
      if (calls.length > budget) {
        throw new DocOptError('INTERNAL', `The selector asked for ${calls.length} calls of a budget of ${budget}.`);
      }
    },
    answer(position: number, score: number): void {
      open.delete(position);
      if (Number.isNaN(score)) failed.push(position);
    },
    unanswered: (): number[] => [...open],
  };
}

function entryOf(document: SelectedDocument, pool: Pool): SelectedEntry {
  const first = pool.firstStageScores?.[document.position];
  return {
    id: document.id,
    rank: document.rank,
    source: document.source,
    relevanceScore: orNull(document.relevanceScore),
    std: orNull(document.std),
    firstStageRank: document.position + 1,
    firstStageScore: first === undefined ? null : orNull(first),
  };
}

function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function requireSound(pool: Pool): void {
  const { rows, columns, data } = pool.embeddings;
  const query = pool.queryEmbedding;
  if (rows !== pool.ids.length || data.length !== rows * columns || (query !== undefined && query.length !== columns)) {
    throw new DocOptError(
      'USAGE',
      `The pool has ${pool.ids.length} documents, embeddings of ${rows} x ${columns} (${data.length} numbers) and a query vector of ${query?.length ?? 0}.`,
      { hint: 'Give one row per document and a query vector of the same width; createPool() checks and normalises.' },
    );
  }
}
