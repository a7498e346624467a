/** What is new, other or gone between two rewritten corpora of one collection. */
import { createHash } from 'node:crypto';
import { DocOptError } from '../../src/errors.ts';
import type { Corpus } from '../../src/types.ts';

export interface CorpusChanges {
  /** Positions in the newer corpus, ascending: documents that it alone has, or that differ in anything an engine would hold. */
  readonly upserts: Int32Array;
  /** Ids that only the older one has, ascending. */
  readonly deletes: readonly string[];
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** The originals are the same: what was fitted on them is the same, too. */
  readonly sameOriginals: boolean;
}

/** Everything is an upsert: the export of a whole corpus. */
export function wholeCorpus({ size }: Corpus): CorpusChanges {
  const upserts = Int32Array.from({ length: size }, (_, position) => position);
  return { upserts, deletes: [], added: size, changed: 0, unchanged: 0, sameOriginals: false };
}

/**
 * Compares by id: rewrite, title, original text and metadata. Throws DATA when the two have no id in common, which is how two
 * versions of one collection never look.
 */
export function changesBetween(now: Corpus, before: Corpus): CorpusChanges {
  const known = new Map<string, { readonly whole: string; readonly original: string }>();
  for (let i = 0; i < before.size; i++) known.set(before.ids[i], hashesOf(before, i));
  const upserts: number[] = [];
  let [added, changed, otherOriginals] = [0, 0, false];
  for (let i = 0; i < now.size; i++) {
    const earlier = known.get(now.ids[i]);
    known.delete(now.ids[i]);
    const current = hashesOf(now, i);
    if (earlier === undefined) added++;
    else if (earlier.whole !== current.whole) changed++;
    else continue;
    otherOriginals ||= earlier?.original !== current.original;
    upserts.push(i);
  }
  if (added === now.size && before.size > 0) {
    throw new DocOptError('DATA', `the two corpora have none of their ${now.size} and ${before.size} ids in common`, {
      hint: '--changed-since wants an earlier rewrite of the same collection. Leave it out to export everything.',
    });
  }
  const deletes = [...known.keys()].sort((a, b) => (a < b ? -1 : 1));
  return {
    upserts: Int32Array.from(upserts),
    deletes,
    added,
    changed,
    unchanged: now.size - upserts.length,
    sameOriginals: deletes.length === 0 && !otherOriginals,
  };
}

function hashesOf(corpus: Corpus, position: number): { whole: string; original: string } {
  const { title, text, metadata } = corpus.original(position);
  const original = hash([title, text]);
  return { original, whole: hash([original, corpus.indexText(position), metadata ?? null]) };
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
