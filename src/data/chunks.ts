import type { Corpus, Document } from '../types.ts';

/**
 * A chunk of a longer document. Its id is PARENT#N, N from 0; its metadata has `parent`, `start` and `end` (offsets into the
 * parent's text, in UTF-16 units as JavaScript counts them) and `headings` (the titles above it). The chunks of one document
 * cover its whole text, so that the document can be put together again.
 */
export interface ChunkFacts {
  readonly parent: string;
  readonly start: number;
  readonly end: number;
  readonly headings?: readonly string[];
}

const OWN_KEYS = ['parent', 'start', 'end', 'headings'] as const;

export const chunkId = (parent: string, n: number): string => `${parent}#${n}`;

/** The document with that piece of its text. Keys of its metadata that a chunk has itself give way. */
export function makeChunk({ title, text, metadata }: Document, n: number, facts: ChunkFacts): Document {
  const { parent, start, end, headings } = facts;
  return {
    id: chunkId(parent, n),
    title,
    text: text.slice(start, end),
    metadata: { ...metadata, parent, start, end, ...(headings === undefined ? {} : { headings }) },
  };
}

/** Whether a document's own metadata has a key that chunks need for themselves. */
export function clashingKey({ metadata }: Pick<Document, 'metadata'>): string | undefined {
  return metadata === undefined ? undefined : OWN_KEYS.find((key) => Object.hasOwn(metadata, key));
}

/** What a chunk says of itself; undefined for a document that is none. */
export function chunkFacts({ id, metadata }: Document): (ChunkFacts & { readonly n: number }) | undefined {
  if (metadata === undefined) return undefined;
  const { parent, start, end, headings } = metadata as Partial<ChunkFacts>;
  if (typeof parent !== 'string' || !Number.isInteger(start) || !Number.isInteger(end)) return undefined;
  if (!id.startsWith(`${parent}#`)) return undefined;
  const n = id.slice(parent.length + 1);
  if (!/^\d{1,9}$/.test(n)) return undefined;
  return { parent, start: start!, end: end!, headings, n: Number(n) };
}

/** The document at a position, or the one that it is a chunk of, put together from all chunks that the corpus has. */
export function parentDocument(corpus: Corpus, position: number): Document {
  const chunk = corpus.original(position);
  const facts = chunkFacts(chunk);
  if (facts === undefined) return chunk;
  let text = '';
  let reached = 0;
  let whole = true;
  // Up to the chunk itself numbers may be missing, because somebody took them out; behind it the first gap is the end.
  for (let n = 0; ; n++) {
    const at = corpus.positionOf(chunkId(facts.parent, n));
    if (at === undefined) {
      if (n > facts.n) break;
      continue;
    }
    const piece = corpus.original(at);
    const { start, end } = chunkFacts(piece) ?? { start: reached, end: reached + piece.text.length };
    if (start > reached) {
      whole = false;
      text += ' [...] ';
      reached = start;
    }
    text += piece.text.slice(reached - start);
    reached = Math.max(reached, end);
  }
  const {
    parent: _,
    start: _start,
    end: _end,
    headings: _headings,
    ...own
  } = chunk.metadata as Record<string, unknown>;
  const metadata = whole ? own : { ...own, incomplete: true };
  const bare = { id: facts.parent, title: chunk.title, text };
  return Object.keys(metadata).length === 0 ? bare : { ...bare, metadata };
}
