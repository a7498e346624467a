/**
 * What an earlier index spares a new one: document vectors by their text, and the LSA of `morph` when the originals are the
 * same. Inverted indexes are not among it: one depends on all documents, and building it takes seconds.
 */
import { createHash } from 'node:crypto';
import type { RetrieverSpec } from '../src/config/specs.ts';
import type { DocumentText } from '../src/data/mod.ts';
import type { Embedder, KnownVectors, RetrievalIndex } from '../src/ports.ts';
import type { Corpus, Matrix } from '../src/types.ts';

/** How the vectors for `morph` are fitted. */
export interface LsaSettings {
  readonly dimensions: number;
  readonly seed: number;
  readonly analyzer: string;
}

/** What is looked at of an open index. */
export interface PreviousIndex {
  readonly corpus: Corpus;
  readonly index: RetrievalIndex;
  readonly info: {
    readonly retriever: RetrieverSpec;
    readonly documentText: DocumentText;
    readonly lsa?: LsaSettings;
  };
  readonly vectors?: {
    readonly source: 'retriever' | 'lsa';
    readonly embedder?: Embedder;
    documents(ids: readonly string[]): Promise<Matrix>;
  };
}

export interface Reusable {
  readonly known?: KnownVectors;
  readonly lsa?: { readonly embedder: Embedder; documents(ids: readonly string[]): Promise<Matrix> };
  /** How many vectors were taken over so far. */
  taken(): number;
  readonly changes: IndexChanges;
}

/** Documents against the earlier index, by id: title, original text, indexed text. */
export interface IndexChanges {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

/** What of `previous` holds for this corpus and these settings. */
export function reusableOf(
  previous: PreviousIndex,
  corpus: Corpus,
  wanted: { readonly retriever: RetrieverSpec; readonly documentText: DocumentText; readonly lsa?: LsaSettings },
): Reusable {
  const { info, vectors, index } = previous;
  // A fitted embedder is another one over other originals, whatever its settings.
  const sameOriginals = haveSameOriginals(previous.corpus, corpus, info.documentText, wanted.documentText);
  const isFitted = index.embedder?.save !== undefined;
  const sameRetriever = JSON.stringify(info.retriever) === JSON.stringify(wanted.retriever);
  let taken = 0;
  const usable = sameRetriever && index.embeddings !== undefined && (!isFitted || sameOriginals);
  const lsa =
    vectors?.source === 'lsa' &&
    vectors.embedder !== undefined &&
    sameOriginals &&
    wanted.lsa !== undefined &&
    JSON.stringify(info.lsa) === JSON.stringify(wanted.lsa)
      ? { embedder: vectors.embedder, documents: vectors.documents }
      : undefined;
  return {
    known: usable ? knownVectors(previous, (count) => (taken += count)) : undefined,
    lsa,
    taken: () => taken,
    changes: changesSince(previous.corpus, corpus),
  };
}

function changesSince(before: Corpus, now: Corpus): IndexChanges {
  let [added, changed] = [0, 0];
  for (let i = 0; i < now.size; i++) {
    const earlier = before.positionOf(now.ids[i]);
    if (earlier === undefined) added++;
    else if (!isSame(before, earlier, now, i)) changed++;
  }
  const kept = now.size - added;
  return { added, changed, removed: before.size - kept, unchanged: kept - changed };
}

function isSame(before: Corpus, earlier: number, now: Corpus, position: number): boolean {
  const [a, b] = [before.original(earlier), now.original(position)];
  return a.title === b.title && a.text === b.text && before.indexText(earlier) === now.indexText(position);
}

function knownVectors({ index, corpus }: PreviousIndex, onTaken: (count: number) => void): KnownVectors {
  const idOf = new Map<string, string>();
  for (let i = 0; i < corpus.size; i++) idOf.set(keyOf(corpus.indexText(i)), corpus.ids[i]);
  return {
    embedder: index.embedder?.id ?? '',
    async vectorsOf(texts) {
      const ids = texts.map((text) => idOf.get(keyOf(text)));
      const there = [...new Set(ids.filter((id) => id !== undefined))];
      const { data, columns } = await index.embeddings!(there);
      const rowOf = new Map(there.map((id, row) => [id, row]));
      onTaken(ids.filter((id) => id !== undefined).length);
      return ids.map((id) => {
        if (id === undefined) return undefined;
        const start = rowOf.get(id)! * columns;
        return Float32Array.from(data.subarray(start, start + columns));
      });
    },
  };
}

function haveSameOriginals(a: Corpus, b: Corpus, modeA: DocumentText, modeB: DocumentText): boolean {
  if (a.size !== b.size || modeA !== modeB) return false;
  for (let i = 0; i < a.size; i++) {
    const [before, now] = [a.original(i), b.original(i)];
    if (before.id !== now.id || before.title !== now.title || before.text !== now.text) return false;
  }
  return true;
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
