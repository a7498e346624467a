/**
 * The whole corpus through a policy. Batches run in parallel, rows come out in corpus order, memory holds only the
 * batches in flight; what was rewritten before (journal, previous corpus) is not asked for again.
 */
import { createHash } from 'node:crypto';
import { DocOptError } from '../src/errors.ts';
import type { Log } from '../src/ports.ts';
import type { Journal } from '../src/store/journal.ts';
import type { Corpus, IndexText } from '../src/types.ts';
import type { PreviousCorpus } from './previous-corpus.ts';
import { type Rewrite, type RewriterOptions, rewriteBatch } from './rewriter.ts';

export interface RewriteCorpusInput extends RewriterOptions {
  /** indexText(i) is the text to rewrite: always the original, also when the corpus was rewritten before. */
  readonly corpus: Corpus;
  /** Identifies weights and prompt: equal fingerprint and settings, equal rewrite. */
  readonly policyFingerprint: string;
  readonly journal?: Journal<Rewrite>;
  /** An earlier corpus: asked once for every document. */
  readonly previous?: PreviousCorpus;
  /** Only the first N documents. */
  readonly limit?: number;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly log: Log;
  readonly signal?: AbortSignal;
}

export interface RewrittenRow {
  readonly position: number;
  readonly sourceHash: string;
  readonly rewrite: Rewrite;
  readonly from: 'policy' | 'journal' | 'previous';
}

/** sha256 of the source text, hex: decides whether a document has changed. */
export function sourceHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Everything that decides a rewrite, hashed: policy, settings and source text. */
export function rewriteKey(policyFingerprint: string, settings: string, source: string): string {
  return createHash('sha256')
    .update(policyFingerprint)
    .update('\0')
    .update(settings)
    .update('\0')
    .update(source)
    .digest('base64url');
}

/** Settings that decide a rewrite beside the policy, as one stable string. */
export function settingsKey(input: Pick<RewriteCorpusInput, 'sampling' | 'guards' | 'retries'>): string {
  return JSON.stringify([input.sampling, input.guards, input.retries]);
}

/** Yields one row per document, in corpus order. Aborting ends it with INTERRUPTED after the batches in flight are recorded. */
export async function* rewriteRows(input: RewriteCorpusInput): AsyncGenerator<RewrittenRow> {
  const total = Math.min(input.corpus.size, input.limit ?? Number.POSITIVE_INFINITY);
  const progress = input.log.progress('rewriting', total);
  const settings = settingsKey(input);
  const inFlight: Promise<RewrittenRow[]>[] = [];
  let next = 0;
  try {
    while (next < total || inFlight.length > 0) {
      input.signal?.throwIfAborted();
      while (next < total && inFlight.length < input.concurrency) {
        const end = Math.min(total, next + input.batchSize);
        const batch = rewriteRange(input, settings, next, end);
        // Awaited below in order; without this a failure in a later batch would be an unhandled rejection meanwhile.
        batch.catch(() => {});
        inFlight.push(batch);
        next = end;
      }
      const rows = await inFlight.shift()!;
      progress.tick(rows.length);
      yield* rows;
    }
  } finally {
    await Promise.allSettled(inFlight);
    progress.end();
  }
}

async function rewriteRange(
  input: RewriteCorpusInput,
  settings: string,
  from: number,
  to: number,
): Promise<RewrittenRow[]> {
  const rows: RewrittenRow[] = [];
  const missing: { row: number; key: string; source: IndexText }[] = [];
  for (let position = from; position < to; position++) {
    const source = { id: input.corpus.ids[position], text: input.corpus.indexText(position) };
    const hash = sourceHash(source.text);
    const previous = input.previous?.find(source.id, hash);
    const key = previous === undefined ? rewriteKey(input.policyFingerprint, settings, source.text) : '';
    const journalled = previous === undefined ? input.journal?.get(key) : undefined;
    const earlier = previous ?? journalled;
    if (earlier === undefined) missing.push({ row: rows.length, key, source });
    rows.push({
      position,
      sourceHash: hash,
      rewrite: earlier ?? { text: source.text, status: 'failed', reason: 'not asked' },
      from: previous !== undefined ? 'previous' : journalled !== undefined ? 'journal' : 'policy',
    });
  }
  if (missing.length > 0) {
    const rewrites = await rewriteBatch(
      missing.map(({ source }) => source),
      input,
    );
    if (rewrites.length !== missing.length) {
      throw new DocOptError(
        'UPSTREAM',
        `policy '${input.policy.id}' answered ${rewrites.length} of ${missing.length} documents`,
      );
    }
    await input.journal?.append(missing.map(({ key }, i) => [key, rewrites[i]] as const));
    missing.forEach(({ row }, i) => {
      rows[row] = { ...rows[row], rewrite: rewrites[i] };
    });
  }
  return rows;
}
