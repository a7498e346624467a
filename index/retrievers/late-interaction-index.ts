import { floatsToHalves, halvesToFloats } from '../../src/kernels/float16.ts';
import { topPositions } from '../../src/kernels/topk.ts';
import type { ArtefactWriter, RetrievalIndex, TokenEmbedder } from '../../src/ports.ts';
import type { HalfRows } from '../../src/store/half-rows.ts';
import type { IndexText, Matrix, Query, Ranking } from '../../src/types.ts';
import { type IdOrder, orderIds } from '../kernels/id-order.ts';
import { maxSim, maxSimScores } from '../kernels/max-sim.ts';
import { type Head, swapInto } from '../kernels/swap-merge.ts';
import { checkDepth, checkSwaps, unknownDocument } from './checks.ts';
import { embedTokens } from './embed-tokens.ts';
import { createQueryMemory, type DirectedQuery, type QueryMemory } from './query-memory.ts';

export interface TokenContent {
  readonly ids: readonly string[];
  /** Tokens of each document; 0: a blank text. */
  readonly lengths: Int32Array;
  /** All documents' tokens back to back. */
  readonly tokens: HalfRows;
  readonly embedder: TokenEmbedder;
  /** The text that a document's tokens were made of, where it is at hand: an unchanged text keeps its tokens. */
  readonly indexText?: (position: number) => string;
  readonly cachedQueries: number;
}

/** Tokens that are scored at a time: what is read and decoded at once. */
const BLOCK_TOKENS = 4096;
/** Queries that share one pass over the tokens. */
const GROUP = 16;

/** Exact MaxSim over every document; nothing is approximated but the halves that tokens are kept in. */
export class LateInteractionIndex implements RetrievalIndex {
  readonly size: number;
  readonly #content: TokenContent;
  readonly #width: number;
  readonly #order: IdOrder;
  /** First token of each document, and the end. */
  readonly #starts: Float64Array;
  /** A query's vector is its tokens x width, back to back. */
  readonly #queries: QueryMemory<Float64Array>;

  constructor(content: TokenContent) {
    this.#content = content;
    this.size = content.ids.length;
    this.#width = content.embedder.dimensions;
    this.#order = orderIds(content.ids);
    this.#starts = new Float64Array(this.size + 1);
    for (let i = 0; i < this.size; i++) this.#starts[i + 1] = this.#starts[i] + content.lengths[i];
    this.#queries = createQueryMemory({
      size: content.cachedQueries,
      async embed(texts) {
        const matrices = await embedTokens(content.embedder, texts, 'query');
        return matrices.map(({ data }) => (data.length === 0 ? undefined : Float64Array.from(data)));
      },
      search: (queries, k) => this.#searchAll(queries, k),
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
    for (let column = 0; column < ids.length; column++) {
      const tokens = await this.#documentTokens(positions[column]);
      known.forEach((query, row) => {
        if (query.vector === undefined || tokens.length === 0) return;
        data[row * ids.length + column] = this.#score(query.vector, tokens);
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
    const matrices = await this.#replacementTokens(replacements, positions);
    const known = await this.#queries.lookUp(queries.flat());
    await this.#queries.ensureHeads(known, k + 1);
    let next = 0;
    return replacements.map((_, i) =>
      queries[i].map(() => {
        const { vector, head } = known[next++];
        if (vector === undefined || head === undefined) return { ids: [], scores: new Float64Array(0) };
        const score = this.#score(vector, matrices[i]);
        return this.#ranking(swapInto(head, positions[i], score, this.#order.rank, k));
      }),
    );
  }

  async save(artefact: ArtefactWriter): Promise<void> {
    const { ids, lengths, tokens, embedder } = this.#content;
    const header = { format: 1, embedder: embedder.id, dimensions: this.#width, documents: this.size };
    await artefact.write('tokens.json', `${JSON.stringify({ ...header, tokens: this.#starts[this.size] }, null, 2)}\n`);
    await artefact.write('tokens.ids.json', JSON.stringify(ids));
    await artefact.write('tokens.lengths.json', JSON.stringify([...lengths]));
    await artefact.writeStream('tokens.f16', tokens.bytes());
  }

  /** All changed texts are embedded in one call, and pass through half precision as stored ones did. */
  async #replacementTokens(
    replacements: readonly IndexText[],
    positions: readonly number[],
  ): Promise<readonly Float32Array[]> {
    const { embedder, indexText } = this.#content;
    const unchanged = replacements.map(({ text }, i) => text === indexText?.(positions[i]));
    const texts = replacements.flatMap(({ text }, i) => (unchanged[i] ? [] : [text]));
    const fresh = await embedTokens(embedder, texts, 'document');
    const out: Float32Array[] = [];
    let next = 0;
    for (let i = 0; i < replacements.length; i++) {
      out.push(
        unchanged[i] ? await this.#documentTokens(positions[i]) : halvesToFloats(floatsToHalves(fresh[next++].data)),
      );
    }
    return out;
  }

  async #searchAll(queries: readonly DirectedQuery<Float64Array>[], k: number): Promise<Head[]> {
    const heads: Head[] = [];
    for (let start = 0; start < queries.length; start += GROUP) {
      for (const scores of await this.#scoreAll(queries.slice(start, start + GROUP))) {
        const positions = topPositions(scores, this.size, k, this.#order.rank);
        heads.push({ positions, scores: Float64Array.from(positions, (position) => scores[position]) });
      }
    }
    return heads;
  }

  /** Every document's score with each query, block by block through the tokens. */
  async #scoreAll(queries: readonly DirectedQuery<Float64Array>[]): Promise<Float64Array[]> {
    const out = queries.map(() => new Float64Array(this.size));
    for (let first = 0; first < this.size; ) {
      let last = first + 1;
      while (last < this.size && this.#starts[last + 1] - this.#starts[first] <= BLOCK_TOKENS) last++;
      const base = this.#starts[first];
      const tokens = await this.#content.tokens.read(base, this.#starts[last]);
      const bounds = Int32Array.from({ length: last - first + 1 }, (_, i) => this.#starts[first + i] - base);
      for (const [q, query] of queries.entries()) {
        maxSimScores(query.vector, tokens, bounds, this.#width, out[q].subarray(first, last));
        await turn();
      }
      first = last;
    }
    return out;
  }

  #documentTokens(position: number): Promise<Float32Array> {
    return this.#content.tokens.read(this.#starts[position], this.#starts[position + 1]);
  }

  #score(query: Float64Array, tokens: Float32Array): number {
    return maxSim(query, tokens, 0, tokens.length / this.#width, this.#width);
  }

  #ranking({ positions, scores }: Head): Ranking {
    return { ids: Array.from(positions, (position) => this.#order.ids[position]), scores };
  }

  #position(id: string): number {
    const position = this.#order.positionOf(id);
    if (position < 0) throw unknownDocument(id);
    return position;
  }
}

/** Lets the event loop turn once: a search of a large index takes seconds. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
