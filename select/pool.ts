/** Pools: the candidates of one query in first-stage order, with unit vectors. From an index, or from documents at hand. */
import { documentText } from '../src/data/mod.ts';
import { DocOptError } from '../src/errors.ts';
import { dot } from '../src/kernels/vector.ts';
import type { Embedder, RetrievalIndex } from '../src/ports.ts';
import { createAnalyzer } from '../src/text/mod.ts';
import type { Document, Matrix, Pool, Query, TermRows } from '../src/types.ts';
import { bm25Scores } from './kernels/bm25-scores.ts';
import { ranksOf } from './kernels/ranks.ts';
import { tfidfRows } from './kernels/tfidf-cosine.ts';
import type { PoolDocuments } from './pool-file.ts';

export interface PoolInput {
  readonly query: { readonly id?: string; readonly text?: string };
  /** In first-stage order. */
  readonly ids: readonly string[];
  readonly firstStageScores?: Float64Array;
  /** One row per id; any length, they are scaled to 1 (a row of zeros stays). */
  readonly embeddings: Matrix;
  readonly queryEmbedding?: Float32Array | Float64Array;
  readonly lexicalRanks?: Int32Array;
  readonly denseRanks?: Int32Array;
  readonly terms?: TermRows;
  readonly tokenCounts?: Int32Array;
}

/** A checked pool with unit vectors. Throws DATA for numbers that are not finite, widths that differ, or repeated ids. */
export function createPool(input: PoolInput): Pool {
  const { ids, embeddings, queryEmbedding } = input;
  const { rows, columns } = embeddings;
  const width = queryEmbedding?.length;
  if (rows !== ids.length)
    throw bad(`There are ${ids.length} documents and ${rows} embeddings.`, 'Give one per document.');
  if (width !== undefined && rows > 0 && width !== columns) {
    throw bad(
      `The query's embedding has ${width} numbers, the documents' have ${columns}.`,
      'Embed the query and the documents with the same model.',
    );
  }
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) throw bad(`The document '${id}' is in the pool twice.`, 'Ids must be unique; drop one.');
    seen.add(id);
  }
  requireRanks(input.lexicalRanks, ids.length, 'lexical');
  requireRanks(input.denseRanks, ids.length, 'dense');
  return {
    ...input,
    query: input.query,
    ids,
    firstStageScores: input.firstStageScores,
    embeddings: { rows, columns, data: unitRows(embeddings.data, columns, (row) => `document '${ids[row]}'`) },
    queryEmbedding: queryEmbedding === undefined ? undefined : unitRows(queryEmbedding, width!, () => 'the query'),
  };
}

function requireRanks(ranks: Int32Array | undefined, size: number, what: string): void {
  if (ranks === undefined) return;
  const seen = new Uint8Array(size);
  for (const rank of ranks) seen[rank] = 1;
  if (ranks.length !== size || seen.includes(0)) {
    throw bad(`The ${what} ranks are not 0 to ${size - 1}, each once.`, 'Give every document a rank of its own.');
  }
}

/** The same array when every row has length 1 (or 0) already, else a scaled copy. */
function unitRows<T extends Float32Array | Float64Array>(data: T, width: number, nameOf: (row: number) => string): T {
  const tolerance = data instanceof Float32Array ? 1e-6 : 1e-14;
  let out = data;
  for (let row = 0, start = 0; start < data.length; row++, start += width) {
    const square = dot(data, start, data, start, width);
    if (!Number.isFinite(square)) {
      throw bad(
        `The embedding of ${nameOf(row)} holds numbers that are not finite.`,
        'Embed it again; see what the embedder answered.',
      );
    }
    if (square === 0 || Math.abs(square - 1) <= tolerance) continue;
    if (out === data) out = data.slice() as T;
    const norm = Math.sqrt(square);
    for (let i = start; i < start + width; i++) out[i] = data[i] / norm;
  }
  return out;
}

/** A collection as words. */
export interface LexicalSource {
  /** BM25 over it; undefined = the first stage is that. */
  readonly index?: RetrievalIndex;
  /** Where `index` is given: whether the pool's own order is a lexical ranking as well, and vectors rank apart. Default dense. */
  readonly firstStage?: 'lexical' | 'dense';
  readonly analyze: (text: string) => string[];
  /** What was indexed. */
  readonly textOf: (id: string) => string;
}

/** What a pool needs of an open index. */
export interface PoolSource {
  readonly index: RetrievalIndex;
  /** undefined = pools without lexical ranks and terms. */
  readonly lexical?: LexicalSource;
  /** Unit rows of documents and queries in one space; undefined when the index was built without. */
  readonly vectors?: {
    documents(ids: readonly string[]): Promise<Matrix>;
    queries(queries: readonly Query[]): Promise<Matrix>;
  };
}

/** The `size` best documents of the first stage for a query. `embedding` takes the place of the index's own query vector. */
export async function poolFromIndex(
  source: PoolSource,
  query: { readonly id?: string; readonly text: string; readonly embedding?: Float64Array },
  size: number,
): Promise<Pool> {
  if (source.vectors === undefined) {
    throw new DocOptError('ARTEFACT', 'This index has no vectors, and a selection needs them.', {
      hint: 'Build it again without --embedder none: docopt index --data DATA --retriever R',
    });
  }
  const asked = { id: query.id ?? 'query', text: query.text };
  const [ranking] = await source.index.search([asked], size);
  const [embeddings, own] = await Promise.all([
    source.vectors.documents(ranking.ids),
    query.embedding === undefined ? source.vectors.queries([asked]) : undefined,
  ]);
  const pool = createPool({
    query: { id: query.id, text: query.text },
    ids: ranking.ids,
    firstStageScores: ranking.scores,
    embeddings,
    queryEmbedding: query.embedding ?? own?.data,
  });
  return source.lexical === undefined ? pool : withWords(pool, asked, source.lexical);
}

/** Ranks by words and by vectors, and the words themselves. */
async function withWords(pool: Pool, query: Query, lexical: LexicalSource): Promise<Pool> {
  const { ids } = pool;
  const terms = tfidfRows(
    ids.map((id) => lexical.analyze(lexical.textOf(id))),
    lexical.analyze(query.text),
  );
  if (lexical.index !== undefined) {
    const scores = await lexical.index.similarities([query], ids);
    const denseRanks = lexical.firstStage === 'lexical' ? ranksByCosine(pool) : undefined;
    return { ...pool, lexicalRanks: ranksOf(scores.data), denseRanks, terms };
  }
  // The first stage is the lexical ranking, so the dense one is not the order of the pool.
  return { ...pool, lexicalRanks: Int32Array.from(ids.keys()), denseRanks: ranksByCosine(pool), terms };
}

function ranksByCosine({ embeddings, queryEmbedding, ids }: Pool): Int32Array | undefined {
  if (queryEmbedding === undefined) return undefined;
  const { columns, data } = embeddings;
  return ranksOf(Float64Array.from(ids, (_, d) => dot(data, d * columns, queryEmbedding, 0, columns)));
}

export interface DocumentPool {
  readonly pool: Pool;
  readonly documents: readonly Document[];
  /** Where the vectors come from: 'given', or the embedder that was fitted on the pool. */
  readonly embeddings: string;
  readonly warnings: readonly string[];
}

/** Embeds documents and their query in one space that is made for them. `embedder` names it. */
export type EmbedTogether = (
  texts: readonly string[],
  query: string,
) => Promise<{ readonly embedder: string; readonly documents: Matrix; readonly query: Float32Array | Float64Array }>;

/** By an embedder that is fitted on these very documents. */
export function fittedOnPool(fitEmbedder: (texts: readonly string[]) => Embedder): EmbedTogether {
  return async (texts, query) => {
    const embedder = fitEmbedder(texts);
    const documents = await embedder.embed(texts, 'document');
    const { data } = await embedder.embed([query], 'query');
    return { embedder: embedder.id, documents, query: data };
  };
}

/** A pool of documents at hand. Those without embeddings are embedded by `embed`. */
export async function poolFromDocuments(given: PoolDocuments, embed: EmbedTogether): Promise<DocumentPool> {
  const { query, documents, embeddings, queryEmbedding } = given;
  const warnings = [...given.warnings];
  const ids = documents.map(({ id }) => id);
  const base = {
    query: { id: query.id, text: query.text },
    ids,
    firstStageScores: given.firstStageScores,
    ...wordsAtHand(documents, query.text),
  };
  if (embeddings !== undefined || documents.length === 0) {
    if (queryEmbedding === undefined && documents.length > 0) {
      warnings.push('The query has no embedding: the selection starts without its free observation at the query.');
    }
    const matrix = embeddings ?? { rows: 0, columns: 1, data: new Float64Array(0) };
    const pool = createPool({
      ...base,
      embeddings: matrix,
      queryEmbedding: embeddings === undefined ? undefined : queryEmbedding,
    });
    return { pool, documents, embeddings: 'given', warnings };
  }
  if (query.text === undefined) {
    throw bad(
      'The documents have no embeddings and the query has no text, so there is nothing to place them by.',
      'Give query.text, or an embedding with every document.',
    );
  }
  if (queryEmbedding !== undefined) warnings.push("The query's embedding was not used: the documents have none.");
  const texts = documents.map((document) => documentText(document, 'title+text'));
  const empty = texts.findIndex((text) => text.trim() === '');
  if (empty >= 0) {
    throw bad(`The document '${ids[empty]}' has neither text nor embedding.`, 'Give every document one of them.');
  }
  const embedded = await embed(texts, query.text);
  return {
    pool: createPool({ ...base, embeddings: embedded.documents, queryEmbedding: embedded.query }),
    documents,
    embeddings: `${embedded.embedder}, fitted on the pool`,
    warnings,
  };
}

/**
 * Where the query and all documents have a text: BM25 ranks with the statistics of these documents, and their terms. The
 * order of the documents counts as the dense ranking.
 */
function wordsAtHand(
  documents: readonly Document[],
  query: string | undefined,
): Pick<PoolInput, 'lexicalRanks' | 'terms'> {
  const texts = documents.map((document) => documentText(document, 'title+text'));
  if (query === undefined || texts.length === 0 || texts.some((text) => text.trim() === '')) return {};
  const { analyze } = createAnalyzer('english');
  const analysed = texts.map(analyze);
  const asked = analyze(query);
  return { lexicalRanks: ranksOf(bm25Scores(analysed, asked)), terms: tfidfRows(analysed, asked) };
}

function bad(message: string, hint: string): DocOptError {
  return new DocOptError('DATA', message, { hint });
}
