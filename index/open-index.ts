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
import type { Corpus, Manifest, Matrix, Query } from '../src/types.ts';
import { fittedEmbedder, pickRows } from './build-index.ts';
import { createRetriever } from './create-retriever.ts';

export interface OpenIndex {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly artefact: ArtefactReader;
  readonly info: IndexInfo;
  readonly corpus: Corpus;
  readonly index: RetrievalIndex;
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
    vectors: await openVectors(artefact, info, corpus, index),
  };
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
