/** An index artefact, opened: ranked search over what was indexed, originals for people, vectors for `morph`. */
import { type RetrieverSpec, retrieverSchema } from '../src/config/specs.ts';
import { type DocumentText, loadCorpus } from '../src/data/mod.ts';
import { DocOptError } from '../src/errors.ts';
import { openLsa } from '../src/models/embedders/lsa.ts';
import { readFloat32 } from '../src/models/embedders/mod.ts';
import type { ModelServices } from '../src/models/services.ts';
import type { ArtefactReader, Embedder, RetrievalIndex } from '../src/ports.ts';
import { MANIFEST, openArtefact } from '../src/store/artefact.ts';
import { subReader } from '../src/store/sub-artefact.ts';
import { ANALYZERS, type AnalyzerName } from '../src/text/mod.ts';
import type { Corpus, Manifest, Matrix, Query } from '../src/types.ts';
import { fittedEmbedder, LEXICAL_DEFAULTS, pickRows } from './build-index.ts';
import { createRetriever } from './create-retriever.ts';
import { createBm25Retriever } from './retrievers/bm25.ts';

export interface OpenIndex {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly artefact: ArtefactReader;
  readonly info: IndexInfo;
  readonly corpus: Corpus;
  readonly index: RetrievalIndex;
  /** The collection by its words: the retriever itself where it is lexical, else the BM25 index beside it, where there is one. */
  readonly lexical?: { readonly index: RetrievalIndex; readonly analyzer: AnalyzerName };
  /** Unit rows of documents and queries in one space; undefined when the index was built without vectors. */
  readonly vectors?: IndexVectors;
}

export interface IndexVectors {
  readonly source: 'retriever' | 'lsa';
  documents(ids: readonly string[]): Promise<Matrix>;
  queries(queries: readonly Query[]): Promise<Matrix>;
  /** The fitted embedder of this artefact, when there is one. */
  readonly embedder?: Embedder;
}

/** What the manifest of an index says of it. */
export interface IndexInfo {
  readonly retriever: RetrieverSpec;
  readonly documentText: DocumentText;
  readonly documents: number;
  readonly vectors: 'retriever' | 'lsa' | 'none';
  /** How the vectors for morph were fitted, where they were. */
  readonly lsa?: { readonly dimensions: number; readonly seed: number; readonly analyzer: string };
  /** Analyzer of the BM25 index that lies beside a retriever without words. */
  readonly lexical?: AnalyzerName;
  readonly reranker: string;
  readonly chain: readonly { readonly kind: string; readonly fingerprint: string; readonly path?: string }[];
}

/** Opens an index folder; ARTEFACT when it is missing, damaged, of a newer format, or its parts disagree. */
export async function openIndex(folder: string, services: ModelServices = {}): Promise<OpenIndex> {
  const artefact = await openArtefact(folder, 'index');
  const info = checkedInfo(artefact);
  const corpus = await loadCorpus(artefact.path('corpus.jsonl'), { documentText: info.documentText });
  const retriever = createRetriever(info.retriever, services);
  const index = await retriever.open(subReader(artefact, 'retriever'));
  if (index.size !== corpus.size) {
    throw new DocOptError(
      'ARTEFACT',
      `index '${folder}' holds ${corpus.size} documents and a retriever of ${index.size}`,
      {
        hint: 'The index is damaged. Build it again with: docopt index ...',
      },
    );
  }
  return {
    folder,
    manifest: artefact.manifest,
    artefact,
    info,
    corpus,
    index,
    lexical: await openLexical(artefact, info, index),
    vectors: await openVectors(artefact, info, corpus, index),
  };
}

export function isLexical({ driver }: RetrieverSpec): boolean {
  return driver === 'bm25' || driver === 'wink';
}

async function openLexical(
  artefact: ArtefactReader,
  { retriever, lexical }: IndexInfo,
  index: RetrievalIndex,
): Promise<OpenIndex['lexical']> {
  if (retriever.driver === 'bm25' || retriever.driver === 'wink') return { index, analyzer: retriever.analyzer };
  if (lexical === undefined || !ANALYZERS.includes(lexical)) return undefined;
  const words = createBm25Retriever({ ...LEXICAL_DEFAULTS, analyzer: lexical });
  return { index: await words.open(subReader(artefact, 'lexical')), analyzer: lexical };
}

/** The facts that opening stands on; the rest is for people. */
function checkedInfo({ manifest, path }: ArtefactReader): IndexInfo {
  const { retriever, documentText, vectors } = manifest.info;
  const wrong = !retrieverSchema.safeParse(retriever).success
    ? 'retriever'
    : documentText !== 'title+text' && documentText !== 'text'
      ? 'documentText'
      : vectors !== 'retriever' && vectors !== 'lsa' && vectors !== 'none'
        ? 'vectors'
        : undefined;
  if (wrong === undefined) return manifest.info as unknown as IndexInfo;
  throw new DocOptError('ARTEFACT', `${path(MANIFEST)}: 'info.${wrong}' is not what an index has there`, {
    hint: 'The index is damaged, or of another version. Build it again with: docopt index ...',
  });
}

async function openVectors(
  artefact: ArtefactReader,
  info: IndexInfo,
  corpus: Corpus,
  index: RetrievalIndex,
): Promise<IndexVectors | undefined> {
  if (info.vectors === 'retriever') {
    return {
      source: 'retriever',
      embedder: fittedEmbedder(index),
      documents: (ids) => index.embeddings!(ids),
      queries: (queries) => index.embedQueries!(queries),
    };
  }
  if (info.vectors === 'none') return undefined;
  const folder = subReader(artefact, 'lsa');
  const embedder = await openLsa(folder);
  const data = await readFloat32(folder, 'vectors.f32', corpus.size * embedder.dimensions);
  const all: Matrix = { rows: corpus.size, columns: embedder.dimensions, data };
  const position = (id: string): number => {
    const found = corpus.positionOf(id);
    if (found === undefined)
      throw new DocOptError('NOT_FOUND', `document '${id}' is not in the index`, { hint: 'Check the id.' });
    return found;
  };
  return {
    source: 'lsa',
    embedder,
    documents: async (ids) => pickRows(all, ids.map(position)),
    queries: (queries) =>
      embedder.embed(
        queries.map((query) => query.text),
        'query',
      ),
  };
}
