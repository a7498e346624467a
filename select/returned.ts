/** What an answer hands back: the chunks that were selected, or the documents that they are of. */
import { chunkFacts, parentDocument } from '../src/data/chunks.ts';
import { DocOptError } from '../src/errors.ts';
import type { Corpus, Document } from '../src/types.ts';
import type { SelectedEntry } from './select.ts';
import type { TokenCapacity } from './selectors/token-capacity.ts';

export type Returned = 'chunk' | 'parent';

export interface ReturnedEntry extends SelectedEntry {
  readonly title: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** With `parent`: the ids of the selected chunks, best first. */
  readonly chunks?: readonly string[];
}

/** USAGE where documents cannot stand for chunks: own candidates have no corpus, and tokens were counted for chunks. */
export function requireReturnable(how: Returned, hasCorpus: boolean, capacity: number | TokenCapacity): void {
  if (how === 'chunk') return;
  if (!hasCorpus)
    throw new DocOptError('USAGE', 'return: parent needs an index, and these candidates came with the request', {
      hint: 'Select over an index, or leave it out.',
    });
  if (typeof capacity !== 'number')
    throw new DocOptError('USAGE', 'return: parent and a capacity in tokens: whole documents would not keep to it', {
      hint: 'Give the capacity as a number of chunks, or return chunks.',
    });
}

/** Each entry with its original document. */
export function withDocuments(
  selected: readonly SelectedEntry[],
  documentAt: (position: number) => Document,
): ReturnedEntry[] {
  return selected.map((entry) => {
    const { title, text, metadata } = documentAt(entry.firstStageRank - 1);
    return { ...entry, title, text, metadata: metadata ?? {} };
  });
}

/**
 * Each entry as the whole document that its chunk is of; a document stands once, where its best chunk stood, so fewer may
 * come back than were selected. What is no chunk stands for itself.
 */
export function withParents(selected: readonly SelectedEntry[], corpus: Corpus): ReturnedEntry[] {
  const chunksOf = new Map<string, string[]>();
  const entries: ReturnedEntry[] = [];
  for (const entry of selected) {
    const position = corpus.positionOf(entry.id);
    if (position === undefined)
      throw new DocOptError('INTERNAL', `The index knows '${entry.id}' and its corpus does not.`);
    const id = chunkFacts(corpus.original(position))?.parent ?? entry.id;
    const known = chunksOf.get(id);
    if (known !== undefined) {
      known.push(entry.id);
      continue;
    }
    const chunks = [entry.id];
    chunksOf.set(id, chunks);
    const { title, text, metadata } = parentDocument(corpus, position);
    entries.push({ ...entry, id, rank: entries.length + 1, title, text, metadata: metadata ?? {}, chunks });
  }
  return entries;
}
