/**
 * The `dense` driver: exact search by inner product over any embedder, no approximation (rewards need exact ranks).
 * A text without direction - blank, or for `lsa` without a known word - is never found, as in a lexical index; a query
 * without direction finds nothing.
 *
 * A fitted embedder (`lsa`) sees the ORIGINALS, never rewrites, and its fit is a pure function of them and its settings.
 * So one training has one embedder across all its refreshes, a resumed training has the same one, and a counterfactual
 * swap leaves it alone. The retriever keeps the last fit, keyed by the content of the originals.
 */
import { documentText } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import {
  damaged,
  type EmbedderLoad,
  type EmbedderSource,
  readFloat32,
  type Texts,
} from '../../src/models/embedders/mod.ts';
import type { ArtefactReader, Embedder, KnownVectors, Retriever } from '../../src/ports.ts';
import type { Corpus } from '../../src/types.ts';
import { DenseIndex } from './dense-index.ts';
import { embedTexts } from './embed-texts.ts';

export interface DenseOptions {
  readonly embedder: EmbedderSource;
  /** Texts per embedding call while building. Default: what suits the embedder. */
  readonly batchSize?: number;
  /** Query texts remembered with their vectors and best documents. Default 4,096. */
  readonly cachedQueries?: number;
}

export function createDenseRetriever(options: DenseOptions): Retriever {
  const { embedder: source, cachedQueries = 4096 } = options;
  let fitted: { readonly key: string; readonly embedder: Embedder } | undefined;
  let loaded: Promise<Embedder> | undefined;

  /** Loaded once; a failure is not kept, so that the next index may try again. */
  const load = (from: EmbedderLoad, dimensions?: number): Promise<Embedder> => {
    loaded ??= from.load(dimensions).catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };

  const embedderFor = async (corpus: Corpus): Promise<Embedder> => {
    if ('load' in source) return load(source);
    if (!('fit' in source)) return source;
    const texts = originalTexts(corpus);
    const key = contentKey(texts);
    if (fitted?.key !== key) fitted = { key, embedder: source.fit(texts) };
    return fitted.embedder;
  };

  return {
    id: `dense(${source.id})`,
    async build(corpus, known) {
      const embedder = await embedderFor(corpus);
      const width = embedder.dimensions;
      const batchSize = options.batchSize ?? embedder.batch ?? 256;
      const vectors = new Float32Array(corpus.size * width);
      for (let start = 0; start < corpus.size; start += batchSize) {
        const count = Math.min(batchSize, corpus.size - start);
        const texts = Array.from({ length: count }, (_, i) => corpus.indexText(start + i));
        vectors.set(await vectorsOf(embedder, texts, known), start * width);
      }
      const indexText = (position: number) => corpus.indexText(position);
      return new DenseIndex({ ids: corpus.ids, vectors, embedder, indexText, cachedQueries });
    },
    async open(artefact) {
      const header = await readHeader(artefact);
      const embedder =
        'fit' in source
          ? await source.open(artefact)
          : 'load' in source
            ? await load(source, header.dimensions)
            : source;
      return new DenseIndex({ ...(await readDense(artefact, header, embedder)), embedder, cachedQueries });
    },
  };
}

/** One row per text: those that are known as they are, the others embedded. */
async function vectorsOf(embedder: Embedder, texts: readonly string[], known?: KnownVectors): Promise<Float32Array> {
  if (known === undefined || known.embedder !== embedder.id) return embedTexts(embedder, texts, 'document');
  const width = embedder.dimensions;
  const found = await known.vectorsOf(texts);
  const isNew = (_: string, i: number): boolean => found[i]?.length !== width;
  const fresh = await embedTexts(embedder, texts.filter(isNew), 'document');
  const out = new Float32Array(texts.length * width);
  let next = 0;
  texts.forEach((text, i) => {
    const row = isNew(text, i) ? fresh.subarray(next * width, ++next * width) : found[i]!;
    out.set(row, i * width);
  });
  return out;
}

/** Always title and text, whatever is indexed: what the model is fitted on must not depend on how a corpus is shown. */
function originalTexts(corpus: Corpus): Texts {
  return { length: corpus.size, at: (position) => documentText(corpus.original(position)) };
}

/** Two 32-bit hashes over every UTF-16 unit, and the count. */
function contentKey(texts: Texts): string {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let i = 0; i < texts.length; i++) {
    const text = texts.at(i) ?? '';
    for (let c = 0; c < text.length; c++) {
      const unit = text.charCodeAt(c);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0x5bd1e995) ^ (b >>> 15);
    }
    a = Math.imul(a ^ 0x10000, 0x01000193);
    b = Math.imul(b ^ text.length, 0x5bd1e995);
  }
  return `${texts.length}:${a >>> 0}:${b >>> 0}`;
}

interface Header {
  readonly format: number;
  readonly embedder: string;
  readonly dimensions: number;
  readonly documents: number;
}

async function readHeader(artefact: ArtefactReader): Promise<Partial<Header>> {
  const header = (await readJson<Partial<Header> | null>(artefact, 'dense.json')) ?? {};
  const { format, dimensions, documents } = header;
  if (format !== 1) throw damaged(artefact, 'dense.json', `format ${String(format)} is not 1, which this build reads`);
  if (!Number.isSafeInteger(documents) || documents! < 0) {
    throw damaged(artefact, 'dense.json', `'documents' is ${String(documents)} where a count was expected`);
  }
  if (!Number.isSafeInteger(dimensions) || dimensions! < 0) {
    throw damaged(artefact, 'dense.json', `'dimensions' is ${String(dimensions)} where a count was expected`);
  }
  return header;
}

async function readDense(
  artefact: ArtefactReader,
  { embedder: id, dimensions, documents }: Partial<Header>,
  embedder: Embedder,
): Promise<{ ids: readonly string[]; vectors: Float32Array }> {
  if (id !== embedder.id || dimensions !== embedder.dimensions) {
    throw new DocOptError(
      'ARTEFACT',
      `the index in ${artefact.folder} was built with embedder ${String(id)} of ${String(dimensions)} dimensions; ` +
        `this one is ${embedder.id} of ${embedder.dimensions}.`,
      { hint: 'Open it with the embedder it was built with, or build it again with: docopt index ... --out INDEX' },
    );
  }
  const ids = await readJson<unknown>(artefact, 'dense.ids.json');
  if (!Array.isArray(ids) || ids.length !== documents || ids.some((entry) => typeof entry !== 'string')) {
    throw damaged(artefact, 'dense.ids.json', `it is no list of ${documents} ids, which dense.json says there are`);
  }
  return { ids, vectors: await readFloat32(artefact, 'dense.f32', documents! * embedder.dimensions) };
}

async function readJson<T>(artefact: ArtefactReader, name: string): Promise<T> {
  if (!artefact.has(name)) throw damaged(artefact, name, 'it is missing');
  try {
    return await artefact.readJson<T>(name);
  } catch (cause) {
    throw damaged(artefact, name, 'it is not complete JSON', cause);
  }
}
