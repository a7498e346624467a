/** One selector on one query of a study: the ordinary selection loop, with scores that are known already. */
import { createRecordedReranker } from '../../src/models/rerankers/recorded.ts';
import type { Selector } from '../../src/ports.ts';
import { select } from '../select.ts';
import type { StudyQuery } from './types.ts';

export interface Played {
  /** Pool positions, best first. */
  readonly order: Int32Array;
  /** 1 by pool position where the reranker was asked and answered. */
  readonly scored: Uint8Array;
  /** Reranker calls that were spent. */
  readonly calls: number;
  /** Milliseconds of the selector alone. */
  readonly selectorMs: number;
}

export async function play(
  at: StudyQuery,
  selector: Selector,
  budget: number,
  capacity: number,
  signal?: AbortSignal,
): Promise<Played> {
  const { pool, scores } = at;
  const recorded = new Map(pool.ids.map((id, i) => [id, Number.isNaN(scores[i]) ? null : scores[i]]));
  const { selected, calls, timings } = await select({
    pool,
    documentAt: (position) => ({ id: pool.ids[position], title: '', text: '' }),
    reranker: createRecordedReranker(recorded),
    selector,
    budget,
    capacity,
    all: true,
    signal,
  });
  const scored = new Uint8Array(pool.ids.length);
  const order = Int32Array.from(selected, ({ firstStageRank, source }) => {
    if (source === 'scored') scored[firstStageRank - 1] = 1;
    return firstStageRank - 1;
  });
  return { order, scored, calls: calls.length, selectorMs: timings.selectorMs };
}
