/**
 * The embedded embedder: TF-IDF reduced to 200 dimensions by a randomised SVD (latent semantic analysis). It needs no
 * download and no second machine, and the same texts with the same seed give the same bits.
 *
 * Weights are (1 + ln tf) (ln((1 + n) / (1 + df)) + 1), rows scaled to unit length before the decomposition. A text is
 * embedded by projecting its weights on the right singular vectors and scaling to unit length, so new texts need no
 * refit. A text none of whose terms is known gets a row of zeros: it has no direction, and dense retrieval leaves it out.
 */
import { createRng } from '../../kernels/rng.ts';
import { truncatedSvd } from '../../kernels/svd.ts';
import type { ArtefactReader, Embedder } from '../../ports.ts';
import { ANALYZERS, type AnalyzerName, createAnalyzer } from '../../text/mod.ts';
import { damaged, readFloat32, writeFloat32 } from './float32-file.ts';
import { countIds, countTerms, type Texts } from './term-counts.ts';

export interface LsaOptions {
  /** Upper bound: a small collection has fewer. Default 200. */
  readonly dimensions?: number;
  /** Default 1. */
  readonly seed?: number;
  /** Default english. */
  readonly analyzer?: AnalyzerName;
  /** The most frequent terms (by document frequency) that are kept; bounds memory and file size. Default 60,000. */
  readonly maxTerms?: number;
  /** A larger collection is fitted on a seeded sample of this size; embedding still covers all. Default 50,000. */
  readonly maxDocuments?: number;
}

/** What a fit leaves behind. */
interface LsaModel {
  readonly analyzer: AnalyzerName;
  readonly seed: number;
  readonly dimensions: number;
  /** How many documents the fit saw. */
  readonly documents: number;
  readonly terms: readonly string[];
  /** Per term. */
  readonly idf: Float32Array;
  /** terms x dimensions, row-major. */
  readonly axes: Float32Array;
}

/** Fits on texts: title and text of original documents. Synchronous; maxTerms and maxDocuments bound time and memory. */
export function fitLsa(texts: Texts, options: LsaOptions = {}): Embedder {
  const { dimensions = 200, seed = 1, analyzer = 'english', maxTerms = 60_000, maxDocuments = 50_000 } = options;
  const positions = samplePositions(texts.length, maxDocuments, seed);
  const counts = countTerms(texts, positions, createAnalyzer(analyzer), maxTerms);
  const idf = Float32Array.from(counts.documentFrequencies, (df) => Math.log((1 + counts.rows) / (1 + df)) + 1);
  const values = new Float32Array(counts.indices.length);
  for (let row = 0; row < counts.rows; row++) {
    const from = counts.offsets[row];
    const to = counts.offsets[row + 1];
    values.set(unitWeights(counts.indices.subarray(from, to), counts.frequencies.subarray(from, to), idf), from);
  }
  const svd = truncatedSvd({ ...counts, values }, { rank: dimensions, seed });
  return createLsa({
    analyzer,
    seed,
    dimensions: svd.rank,
    documents: counts.rows,
    terms: counts.terms,
    idf,
    axes: new Float32Array(svd.vectors),
  });
}

/** Opens what `save` wrote; answers the same bits as the embedder that was fitted. ARTEFACT when files are damaged. */
export async function openLsa(artefact: ArtefactReader): Promise<Embedder> {
  const header = await readHeader(artefact);
  const { terms, dimensions } = header;
  const data = await readFloat32(artefact, 'lsa.f32', terms.length * (dimensions + 1));
  return createLsa({ ...header, idf: data.subarray(0, terms.length), axes: data.subarray(terms.length) });
}

/** (1 + ln tf) idf, scaled to length 1. */
function unitWeights(ids: Int32Array, counts: Int32Array, idf: Float32Array): Float64Array {
  const weights = new Float64Array(ids.length);
  let square = 0;
  for (let i = 0; i < ids.length; i++) {
    weights[i] = (1 + Math.log(counts[i])) * idf[ids[i]];
    square += weights[i] * weights[i];
  }
  const norm = Math.sqrt(square);
  for (let i = 0; i < weights.length; i++) weights[i] /= norm;
  return weights;
}

/** All positions, or a seeded sample of `limit` of them, ascending. */
function samplePositions(count: number, limit: number, seed: number): Int32Array {
  const positions = new Int32Array(count);
  for (let i = 0; i < count; i++) positions[i] = i;
  if (count <= limit) return positions;
  const rng = createRng(seed);
  for (let i = 0; i < limit; i++) {
    const j = i + rng.int(count - i);
    const held = positions[i];
    positions[i] = positions[j];
    positions[j] = held;
  }
  return positions.slice(0, limit).sort();
}

/** What is left of a unit-length text after projection, below which it is rounding noise and no direction. */
const NO_DIRECTION = 1e-7;

function createLsa(model: LsaModel): Embedder {
  const { dimensions, idf, axes } = model;
  const analyzer = createAnalyzer(model.analyzer);
  const idOf = new Map(model.terms.map((term, id) => [term, id]));
  const sum = new Float64Array(dimensions);

  const embedInto = (text: string, out: Float32Array, start: number): void => {
    const { ids, counts } = countIds(analyzer.analyze(text), (term) => idOf.get(term));
    if (ids.length === 0) return;
    const weights = unitWeights(ids, counts, idf);
    sum.fill(0);
    for (let n = 0; n < ids.length; n++) {
      const weight = weights[n];
      const row = ids[n] * dimensions;
      for (let j = 0; j < dimensions; j++) sum[j] += weight * axes[row + j];
    }
    let square = 0;
    for (let j = 0; j < dimensions; j++) square += sum[j] * sum[j];
    const norm = Math.sqrt(square);
    if (!(norm > NO_DIRECTION)) return;
    for (let j = 0; j < dimensions; j++) out[start + j] = sum[j] / norm;
  };

  return {
    id: `lsa(${dimensions},${model.analyzer},seed=${model.seed},documents=${model.documents})`,
    dimensions,
    async embed(texts) {
      const data = new Float32Array(texts.length * dimensions);
      texts.forEach((text, row) => {
        embedInto(text, data, row * dimensions);
      });
      return { rows: texts.length, columns: dimensions, data };
    },
    async save(artefact) {
      const { analyzer: name, seed, documents, terms } = model;
      const header: Header = { format: FORMAT, analyzer: name, seed, dimensions, documents, terms };
      await artefact.write('lsa.json', `${JSON.stringify(header)}\n`);
      const data = new Float32Array(idf.length + axes.length);
      data.set(idf);
      data.set(axes, idf.length);
      await writeFloat32(artefact, 'lsa.f32', data);
    },
  };
}

const FORMAT = 1;

type Header = Omit<LsaModel, 'idf' | 'axes'> & { readonly format: number };

async function readHeader(artefact: ArtefactReader): Promise<Header> {
  if (!artefact.has('lsa.json')) throw damaged(artefact, 'lsa.json', 'it is missing');
  let header: Partial<Header> | null;
  try {
    header = await artefact.readJson<Partial<Header> | null>('lsa.json');
  } catch (cause) {
    throw damaged(artefact, 'lsa.json', 'it is not complete JSON', cause);
  }
  const { format, analyzer, seed, dimensions, documents, terms } = header ?? {};
  if (format !== FORMAT) {
    throw damaged(artefact, 'lsa.json', `format ${String(format)} is not ${FORMAT}, which this build reads`);
  }
  for (const [key, value] of Object.entries({ seed, dimensions, documents })) {
    if (!Number.isSafeInteger(value) || (value as number) < 0) {
      throw damaged(artefact, 'lsa.json', `'${key}' is ${String(value)} where a whole number >= 0 was expected`);
    }
  }
  if (analyzer === undefined || !ANALYZERS.includes(analyzer)) {
    throw damaged(artefact, 'lsa.json', `analyzer '${String(analyzer)}' is none of ${ANALYZERS.join(', ')}`);
  }
  if (!Array.isArray(terms) || terms.some((term) => typeof term !== 'string')) {
    throw damaged(artefact, 'lsa.json', "'terms' is no list of strings");
  }
  return header as Header;
}
