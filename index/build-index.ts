/**
 * An index artefact: the documents (both faces), the retriever's own files, vectors for `morph`, and the embedded
 * reranker. Everything that `search` and `morph serve` need, in one immutable folder.
 *
 *   corpus.jsonl   originals, with the indexed text where it differs
 *   retriever/     what the driver saved
 *   lexical/       BM25 over the indexed texts, when the retriever knows no words
 *   lsa/           model and document vectors, when the retriever has none of its own
 *   reranker/      the `features` scorer
 */
import { createHash } from 'node:crypto';
import { type DocumentText, documentText, formatDocumentRow, formatRewrittenRow } from '../src/data/mod.ts';
import type { ArtefactWriter, Embedder, Log, RetrievalIndex, Retriever } from '../src/ports.ts';
import { subWriter } from '../src/store/sub-artefact.ts';
import type { AnalyzerName } from '../src/text/mod.ts';
import type { Corpus, Matrix } from '../src/types.ts';
import type { Reusable } from './previous-index.ts';
import { createBm25Retriever } from './retrievers/bm25.ts';

export interface BuildIndexInput {
  readonly corpus: Corpus;
  /** How index texts follow from originals; rows whose index text is another carry both. */
  readonly documentText: DocumentText;
  readonly retriever: Retriever;
  /** Fits vectors on the originals; undefined = none wanted. Not called when the retriever has vectors. */
  readonly fitEmbedder?: (texts: OriginalTexts) => Embedder;
  /** BM25 with this analyzer beside a retriever that knows no words; undefined = none wanted. */
  readonly lexical?: AnalyzerName;
  /** Of an earlier index. */
  readonly reuse?: Reusable;
  readonly artefact: ArtefactWriter;
  readonly log: Log;
  readonly signal?: AbortSignal;
}

/** Original texts by position, for fitting: read when asked for, never all in memory. */
export interface OriginalTexts {
  readonly length: number;
  at(position: number): string;
}

export interface BuiltIndex {
  readonly index: RetrievalIndex;
  /** The embedder that was fitted here, by the retriever or for vectors, and is saved in the artefact; when there is one. */
  readonly embedder?: Embedder;
  readonly vectors: 'retriever' | 'lsa' | 'none';
}

/** Of the index in lexical/. */
export const LEXICAL_DEFAULTS = { k1: 0.9, b: 0.4, statistics: 'recompute' } as const;

/** Texts per embedding call. */
const EMBED_BATCH = 256;

export async function buildIndex(input: BuildIndexInput): Promise<BuiltIndex> {
  const { corpus, artefact, log } = input;
  await artefact.writeStream('corpus.jsonl', corpusRows(corpus, input.documentText));
  input.signal?.throwIfAborted();

  log.info(`indexing ${corpus.size} documents with ${input.retriever.id}`);
  const index = await input.retriever.build(corpus, input.reuse?.known);
  await index.save(subWriter(artefact, 'retriever'));
  input.signal?.throwIfAborted();
  if (input.lexical !== undefined) {
    const words = createBm25Retriever({ ...LEXICAL_DEFAULTS, analyzer: input.lexical });
    await (await words.build(corpus)).save(subWriter(artefact, 'lexical'));
    input.signal?.throwIfAborted();
  }
  if (index.embeddings !== undefined) return { index, embedder: fittedEmbedder(index), vectors: 'retriever' };
  if (input.fitEmbedder === undefined) return { index, vectors: 'none' };

  const texts = originalTexts(corpus, input.documentText);
  const earlier = input.reuse?.lsa;
  const embedder = earlier?.embedder ?? input.fitEmbedder(texts);
  log.info(`vectors for morph: ${embedder.id}`);
  await embedder.save?.(subWriter(artefact, 'lsa'));
  const vectorsOf = async (start: number, end: number): Promise<Matrix> => {
    if (earlier !== undefined) return earlier.documents(corpus.ids.slice(start, end));
    return embedder.embed(
      Array.from({ length: end - start }, (_, i) => texts.at(start + i)),
      'document',
    );
  };
  await artefact.writeStream('lsa/vectors.f32', vectorChunks(vectorsOf, corpus.size, log, input.signal));
  return { index, embedder, vectors: 'lsa' };
}

/** The embedder of a dense index when it was fitted on the collection; those that were not travel nowhere and may cost money. */
export function fittedEmbedder({ embedder }: RetrievalIndex): Embedder | undefined {
  return embedder?.save === undefined ? undefined : embedder;
}

/** The originals as retrieval sees them: title and text joined as `documentText` says. */
export function originalTexts(corpus: Corpus, mode: DocumentText): OriginalTexts {
  return { length: corpus.size, at: (position) => documentText(corpus.original(position), mode) };
}

/** One JSON line per document; readers restore the original from `docopt` where the indexed text is another. */
function* corpusRows(corpus: Corpus, mode: DocumentText): Generator<string> {
  for (let position = 0; position < corpus.size; position++) {
    const original = corpus.original(position);
    const source = documentText(original, mode);
    const text = corpus.indexText(position);
    const facts = { status: 'rewritten', reason: '', policy: '' } as const;
    const row =
      text === source
        ? formatDocumentRow(original)
        : formatRewrittenRow(original, text, { sourceHash: sha256(source), ...facts });
    yield `${row}\n`;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function* vectorChunks(
  vectorsOf: (start: number, end: number) => Promise<Matrix>,
  size: number,
  log: Log,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const progress = log.progress('embedding', size);
  try {
    for (let start = 0; start < size; start += EMBED_BATCH) {
      signal?.throwIfAborted();
      const end = Math.min(size, start + EMBED_BATCH);
      const { data } = await vectorsOf(start, end);
      const values = Float32Array.from(data);
      yield new Uint8Array(values.buffer);
      progress.tick(end - start);
    }
  } finally {
    progress.end();
  }
}

/** Rows of a row-major matrix by position. */
export function pickRows(matrix: Matrix, positions: readonly number[]): Matrix {
  const { columns } = matrix;
  const data = new Float32Array(positions.length * columns);
  positions.forEach((position, row) => {
    data.set(matrix.data.subarray(position * columns, (position + 1) * columns), row * columns);
  });
  return { rows: positions.length, columns, data };
}
