/**
 * Chunks scored as the documents they are of (Dai and Callan, SIGIR 2019): `max`, a document is as good as its best chunk;
 * `first`, as its first one. Chunks are known by their ids, PARENT#N; other documents stand for themselves.
 */
import { DocOptError } from '../src/errors.ts';
import { compareRanked } from '../src/kernels/compare.ts';
import type { Qrels, Ranking, Run } from '../src/types.ts';

export type Aggregation = 'max' | 'first';

const CHUNK = /^(.+)#(\d+)$/s;

/** A document is as relevant as its most relevant chunk. Throws USAGE when no judgement is of a chunk. */
export function aggregateQrels(qrels: Qrels): Qrels {
  const out = new Map<string, Map<string, number>>();
  let chunks = 0;
  for (const [queryId, judged] of qrels) {
    const row = new Map<string, number>();
    for (const [id, grade] of judged) {
      const parent = CHUNK.exec(id)?.[1];
      if (parent !== undefined) chunks++;
      const whole = parent ?? id;
      row.set(whole, Math.max(grade, row.get(whole) ?? Number.NEGATIVE_INFINITY));
    }
    out.set(queryId, row);
  }
  if (chunks === 0)
    throw new DocOptError('USAGE', '--aggregate: no judged document is a chunk (PARENT#0, PARENT#1, ...)', {
      hint: 'Chunks are made by: docopt dataset import --chunk ... Leave --aggregate out for whole documents.',
    });
  return out;
}

/** Rankings of documents, by score descending, then id ascending; each document once. */
export function aggregateRun(run: Run, how: Aggregation): Run {
  return new Map([...run].map(([queryId, ranking]) => [queryId, aggregateRanking(ranking, how)]));
}

function aggregateRanking({ ids, scores }: Ranking, how: Aggregation): Ranking {
  const best = new Map<string, number>();
  for (let i = 0; i < ids.length; i++) {
    const [, parent = ids[i], n = '0'] = CHUNK.exec(ids[i]) ?? [];
    if (how === 'first' && Number(n) !== 0) continue;
    const known = best.get(parent);
    if (known === undefined || scores[i] > known) best.set(parent, scores[i]);
  }
  const order = [...best].sort(([a, scoreA], [b, scoreB]) => compareRanked(scoreA, a, scoreB, b));
  return { ids: order.map(([id]) => id), scores: Float64Array.from(order, ([, score]) => score) };
}
