/**
 * A reranker whose answers are kept: each (query, document) pair is paid for once, across runs, kills and studies. What
 * is kept is found again by content, so texts that changed are scored anew.
 */
import type { Reranker } from '../../ports.ts';
import { fingerprintStrings } from '../../store/fingerprint.ts';
import type { Journal } from '../../store/journal.ts';
import type { Document, Query } from '../../types.ts';

/** A kept answer: the score, and the milliseconds it took (its call's, divided by the pairs of the call). */
export type KeptScore = readonly [score: number, ms: number];

export interface CachedReranker extends Reranker {
  /** Pairs that were sent to the reranker, failed ones among them. */
  readonly sent: number;
  /** Pairs that were there already. */
  readonly found: number;
  /** Milliseconds a pair took, of every pair answered so far, whenever it was scored. */
  readonly milliseconds: readonly number[];
  /** How many of these pairs would have to be sent. */
  missing(query: Query, documents: readonly Document[]): number;
}

/** Failed pairs (NaN) are not kept: the next run asks again. The journal is the caller's to open and close. */
export function createCachedReranker(reranker: Reranker, journal: Journal<KeptScore>): CachedReranker {
  let sent = 0;
  let found = 0;
  const milliseconds: number[] = [];
  return {
    id: reranker.id,
    warnings: reranker.warnings,
    scale: reranker.scale,
    milliseconds,
    get sent() {
      return sent;
    },
    get found() {
      return found;
    },
    missing(query, documents) {
      return documents.filter((document) => journal.get(pairKey(query, document)) === undefined).length;
    },
    async score(query, documents) {
      const keys = documents.map((document) => pairKey(query, document));
      const scores = Float64Array.from(keys, (key) => journal.get(key)?.[0] ?? Number.NaN);
      const open = keys.flatMap((key, i) => (journal.get(key) === undefined ? [i] : []));
      found += keys.length - open.length;
      for (const key of keys) {
        const kept = journal.get(key);
        if (kept !== undefined) milliseconds.push(kept[1]);
      }
      if (open.length === 0) return scores;
      const started = performance.now();
      const answers = await reranker.score(
        query,
        open.map((i) => documents[i]),
      );
      const each = Math.round(((performance.now() - started) / open.length) * 1e4) / 1e4;
      sent += open.length;
      const fresh: [string, KeptScore][] = [];
      open.forEach((i, at) => {
        scores[i] = answers[at];
        milliseconds.push(each);
        // Out of [0, 1] is for the caller to refuse; it must not be remembered.
        if (answers[at] >= 0 && answers[at] <= 1) fresh.push([keys[i], [answers[at], each]]);
      });
      if (fresh.length > 0) await journal.append(fresh);
      return scores;
    },
  };
}

/** Ids belong to it: the judgements' oracle goes by them. 16 hex digits of each side keep the file small. */
function pairKey(query: Query, document: Document): string {
  const left = fingerprintStrings([query.id, query.text]).slice(0, 16);
  const right = fingerprintStrings([document.id, document.title, document.text]).slice(0, 16);
  return `${left}${right}`;
}
