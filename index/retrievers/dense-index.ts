import { topPositions } from '../../src/kernels/topk.ts';
import { writeFloat32 } from '../../src/models/embedders/mod.ts';
import type { ArtefactWriter, Embedder, RetrievalIndex } from '../../src/ports.ts';
import type { IndexText, Matrix, Query, Ranking } from '../../src/types.ts';
import { flatScores, pairScore } from '../kernels/flat-scores.ts';
import { type IdOrder, orderIds } from '../kernels/id-order.ts';
import { type Head, swapInto } from '../kernels/swap-merge.ts';
import { checkDepth, checkSwaps, unknownDocument } from './checks.ts';
import { embedTexts } from './embed-texts.ts';
import { createQueryMemory, type DirectedQuery, type QueryMemory } from './query-memory.ts';

export interface DenseContent {
  readonly ids: readonly string[];
  /** One row per document. Zeros: a text without direction. */
  readonly vectors: Float32Array;
  readonly embedder: Embedder;
  /** The text that a document's vector was made of, where it is at hand: an unchanged text keeps its vector. */
  readonly indexText?: (position: number) => string;
  /** How many query texts are remembered, with their vectors and heads. */
  readonly cachedQueries: number;
}

/** Queries that are scored together: one pass over the vectors serves them all. */
const GROUP = 8;
/** Rows that `similarities` gathers before scoring them. */
const GATHER = 256;

/** Exact flat search by inner product. Every score is a function of its two vectors alone (kernels/flat-scores.ts). */
export class DenseIndex implements RetrievalIndex {
  readonly size: number;
  readonly embedder: Embedder;
  readonly #content: DenseContent;
  readonly #width: number;
  readonly #order: IdOrder;
  /** Positions whose vector is zero. */
  readonly #blank: Int32Array;
  readonly #queries: QueryMemory<Float64Array>;

  constructor(content: DenseContent) {
    this.#content = content;
    this.size = content.ids.length;
    this.embedder = content.embedder;
    this.#width = content.embedder.dimensions;
    this.#order = orderIds(content.ids);
    const blank: number[] = [];
    for (let i = 0; i < this.size; i++) if (isZero(content.vectors, i * this.#width, this.#width)) blank.push(i);
    this.#blank = Int32Array.from(blank);
    this.#queries = createQueryMemory({
      size: content.cachedQueries,
      embed: (texts) => this.#embedQueryTexts(texts),
      search: async (queries, k) => this.#searchAll(queries, k),
    });
  }

  async search(queries: readonly Query[], k: number): Promise<Ranking[]> {
    checkDepth(k);
    const known = await this.#queries.lookUp(queries);
    const heads = await this.#queries.topOf(known, k);
    return known.map((query) => this.#ranking(heads.get(query)!));
  }

  async similarities(queries: readonly Query[], ids: readonly string[]): Promise<Matrix> {
    const positions = ids.map((id) => this.#position(id));
    const known = await this.#queries.lookUp(queries);
    const data = new Float64Array(queries.length * ids.length);
    const directed = known.flatMap((query, row) => (query.vector === undefined ? [] : [row]));
    const vectors = this.#stack(directed.map((row) => known[row].vector!));
    const rows = new Float32Array(GATHER * this.#width);
    for (let start = 0; start < positions.length; start += GATHER) {
      const count = Math.min(GATHER, positions.length - start);
      for (let i = 0; i < count; i++) rows.set(this.#row(positions[start + i]), i * this.#width);
      const scores = new Float64Array(directed.length * count);
      flatScores(rows, count, vectors, this.#width, scores);
      directed.forEach((row, q) => {
        data.set(scores.subarray(q * count, (q + 1) * count), row * ids.length + start);
      });
    }
    return { rows: queries.length, columns: ids.length, data };
  }

  async searchReplacing(
    replacements: readonly IndexText[],
    queries: readonly (readonly Query[])[],
    k: number,
  ): Promise<Ranking[][]> {
    checkSwaps(replacements, queries, k);
    const positions = replacements.map(({ id }) => this.#position(id));
    const vectors = await this.#replacementVectors(replacements, positions);
    const known = await this.#queries.lookUp(queries.flat());
    await this.#queries.ensureHeads(known, k + 1);
    let next = 0;
    return replacements.map((_, i) => {
      const blank = isZero(vectors[i], 0, this.#width);
      return queries[i].map(() => {
        const { vector, head } = known[next++];
        if (vector === undefined || head === undefined) return { ids: [], scores: new Float64Array(0) };
        const score = blank ? Number.NEGATIVE_INFINITY : pairScore(vectors[i], 0, vector, 0, this.#width);
        return this.#ranking(swapInto(head, positions[i], score, this.#order.rank, k));
      });
    });
  }

  async embeddings(ids: readonly string[]): Promise<Matrix> {
    const data = new Float32Array(ids.length * this.#width);
    ids.forEach((id, i) => {
      data.set(this.#row(this.#position(id)), i * this.#width);
    });
    return { rows: ids.length, columns: this.#width, data };
  }

  async embedQueries(queries: readonly Query[]): Promise<Matrix> {
    const known = await this.#queries.lookUp(queries);
    const data = new Float32Array(queries.length * this.#width);
    known.forEach(({ vector }, i) => {
      if (vector !== undefined) data.set(vector, i * this.#width);
    });
    return { rows: queries.length, columns: this.#width, data };
  }

  async save(artefact: ArtefactWriter): Promise<void> {
    const { ids, vectors, embedder } = this.#content;
    const header = { format: 1, embedder: embedder.id, dimensions: this.#width, documents: this.size };
    await artefact.write('dense.json', `${JSON.stringify(header, null, 2)}\n`);
    await artefact.write('dense.ids.json', JSON.stringify(ids));
    await writeFloat32(artefact, 'dense.f32', vectors);
    await embedder.save?.(artefact);
  }

  /** One vector per replacement; all texts that need embedding go in one call. */
  async #replacementVectors(
    replacements: readonly IndexText[],
    positions: readonly number[],
  ): Promise<readonly Float32Array[]> {
    const { embedder, indexText } = this.#content;
    const changed = replacements.filter(({ text }, i) => text !== indexText?.(positions[i]));
    const fresh = await embedTexts(
      embedder,
      changed.map(({ text }) => text),
      'document',
    );
    let next = 0;
    return replacements.map(({ text }, i) => {
      if (text === indexText?.(positions[i])) return this.#row(positions[i]);
      const start = next++ * this.#width;
      return fresh.subarray(start, start + this.#width);
    });
  }

  async #embedQueryTexts(texts: readonly string[]): Promise<(Float64Array | undefined)[]> {
    const vectors = await embedTexts(this.#content.embedder, texts, 'query');
    return texts.map((_, i) => {
      const start = i * this.#width;
      if (isZero(vectors, start, this.#width)) return undefined;
      return new Float64Array(vectors.subarray(start, start + this.#width));
    });
  }

  #searchAll(queries: readonly DirectedQuery<Float64Array>[], k: number): Head[] {
    const heads: Head[] = [];
    const all = new Float64Array(Math.min(GROUP, queries.length) * this.size);
    for (let start = 0; start < queries.length; start += GROUP) {
      const vectors = queries.slice(start, start + GROUP).map(({ vector }) => vector);
      const scores = all.subarray(0, vectors.length * this.size);
      flatScores(this.#content.vectors, this.size, this.#stack(vectors), this.#width, scores);
      for (let q = 0; q < vectors.length; q++) {
        const own = scores.subarray(q * this.size, (q + 1) * this.size);
        for (const position of this.#blank) own[position] = Number.NEGATIVE_INFINITY;
        const positions = topPositions(own, this.size, k, this.#order.rank);
        heads.push({ positions, scores: Float64Array.from(positions, (position) => own[position]) });
      }
    }
    return heads;
  }

  #stack(vectors: readonly Float64Array[]): Float64Array {
    const stacked = new Float64Array(vectors.length * this.#width);
    vectors.forEach((vector, i) => {
      stacked.set(vector, i * this.#width);
    });
    return stacked;
  }

  #ranking({ positions, scores }: Head): Ranking {
    return { ids: Array.from(positions, (position) => this.#order.ids[position]), scores };
  }

  #row(position: number): Float32Array {
    return this.#content.vectors.subarray(position * this.#width, (position + 1) * this.#width);
  }

  #position(id: string): number {
    const position = this.#order.positionOf(id);
    if (position < 0) throw unknownDocument(id);
    return position;
  }
}

function isZero(data: Float32Array, start: number, width: number): boolean {
  for (let j = start; j < start + width; j++) if (data[j] !== 0) return false;
  return true;
}
