import { DocOptError } from '../errors.ts';
import type { Corpus, Document } from '../types.ts';
import { idFault } from './id.ts';
import { strictReport } from './problem.ts';
import { type DocumentRow, parseDocumentRow } from './row.ts';
import type { Rows } from './rows.ts';
import { decodeUtf8 } from './utf8.ts';

/** What of an original document is indexed: title and text joined by one space (an empty one is skipped), or the text. */
export type DocumentText = 'title+text' | 'text';

export interface CorpusOptions {
  /** Default 'title+text'. */
  readonly documentText?: DocumentText;
}

/** The string that retrievers index and policies see for an original document. */
export function documentText(document: Pick<Document, 'title' | 'text'>, mode: DocumentText = 'title+text'): string {
  if (mode === 'text' || document.title === '') return document.text;
  return document.text === '' ? document.title : `${document.title} ${document.text}`;
}

/** A corpus of documents in memory; ids must be unique and writable (DATA otherwise). */
export function arrayCorpus(documents: readonly Document[], options: CorpusOptions = {}): Corpus {
  const positions = new Map<string, number>();
  documents.forEach(({ id }, position) => {
    const fault = idFault(id);
    if (fault !== undefined)
      throw new DocOptError('DATA', `document ${position}: ${fault}`, {
        hint: 'Give every document an id without white space.',
      });
    const earlier = positions.get(id);
    if (earlier !== undefined) {
      throw new DocOptError('DATA', `documents ${earlier} and ${position} have the same id '${id}'`, {
        hint: 'Ids must be unique.',
      });
    }
    positions.set(id, position);
  });
  return {
    size: documents.length,
    ids: documents.map((document) => document.id),
    positionOf: (id) => positions.get(id),
    original: (position) => documents[checked(position, documents.length)],
    indexText: (position) => documentText(documents[checked(position, documents.length)], options.documentText),
  };
}

/** The same originals with other index texts, by position: what a rewrite makes of a corpus. */
export function corpusWithTexts(corpus: Corpus, texts: readonly string[]): Corpus {
  if (texts.length !== corpus.size) {
    throw new DocOptError('INTERNAL', `${texts.length} index texts for a corpus of ${corpus.size} documents`);
  }
  return {
    size: corpus.size,
    ids: corpus.ids,
    positionOf: (id) => corpus.positionOf(id),
    original: (position) => corpus.original(position),
    indexText: (position) => texts[checked(position, texts.length)],
  };
}

/** The same documents before any rewrite: the index text is the original's again. What is rewritten is always this. */
export function corpusWithOriginals(corpus: Corpus, mode: DocumentText = 'title+text'): Corpus {
  return {
    size: corpus.size,
    ids: corpus.ids,
    positionOf: (id) => corpus.positionOf(id),
    original: (position) => corpus.original(position),
    indexText: (position) => documentText(corpus.original(position), mode),
  };
}

/** A corpus over JSON rows that are parsed when asked for; the last one is kept, as its two faces are often read together. */
export function rowCorpus(
  rows: Rows,
  ids: readonly string[],
  positions: ReadonlyMap<string, number>,
  file: string,
  options: CorpusOptions,
): Corpus {
  let last = -1;
  let row: DocumentRow | undefined;
  const at = (position: number): DocumentRow => {
    if (position !== last) {
      const bytes = rows.bytes(checked(position, ids.length));
      // Checked when it was scanned, so nothing can be reported here but a bug.
      row = parseDocumentRow(JSON.parse(decodeUtf8(bytes)!), { file, line: null }, strictReport());
      last = position;
    }
    return row!;
  };
  return {
    size: ids.length,
    ids,
    positionOf: (id) => positions.get(id),
    original: (position) => at(position).document,
    indexText: (position) => {
      const { document, rewrite } = at(position);
      return rewrite ?? documentText(document, options.documentText);
    },
  };
}

function checked(position: number, size: number): number {
  if (position >= 0 && position < size && Number.isInteger(position)) return position;
  throw new DocOptError('INTERNAL', `position ${position} is outside the corpus (0..${size - 1})`);
}
