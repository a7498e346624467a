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

interface KnownQuery {
  /** Tokens x width; empty: a blank text, which finds nothing. */
  readonly tokens: Float64Array;
  /** The best `depth` documents, once a swap asked for them. */
  head?: Head & { readonly depth: number };
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
  /** By text, least recently used first. */
  readonly #known = new Map<string, KnownQuery>();

  constructor(content: TokenContent) {
    this.#content = content;
    this.size = content.ids.length;
    this.#width = content.embedder.dimensions;
    this.#order = orderIds(content.ids);
    this.#starts = new Float64Array(this.size + 1);
    for (let i = 0; i < this.size; i++) this.#starts[i + 1] = this.#starts[i] + content.lengths[i];
  }

  async search(queries: readonly Query[], k: number): Promise<Ranking[]> {
    checkDepth(k);
    const known = await this.#lookUp(queries);
    const heads = await this.#topOf([...new Set(known)], k);
    return known.map((query) => this.#ranking(heads.get(query)!));
  }

  async similarities(queries: readonly Query[], ids: readonly string[]): Promise<Matrix> {
    const positions = ids.map((id) => this.#position(id));
    const known = await this.#lookUp(queries);
    const data = new Float64Array(queries.length * ids.length);
    for (let column = 0; column < ids.length; column++) {
      const tokens = await this.#documentTokens(positions[column]);
      known.forEach((query, row) => {
        const blank = query.tokens.length === 0 || tokens.length === 0;
        if (!blank) data[row * ids.length + column] = this.#score(query, tokens);
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
    const known = await this.#lookUp(queries.flat());
    await this.#ensureHeads(known, k + 1);
    let next = 0;
    return replacements.map((_, i) =>
      queries[i].map(() => {
        const query = known[next++];
        if (query.head === undefined) return { ids: [], scores: new Float64Array(0) };
        const score = this.#score(query, matrices[i]);
        return this.#ranking(swapInto(query.head, positions[i], score, this.#order.rank, k));
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

  /** What is known of each query, embedding the new texts in one call. */
  async #lookUp(queries: readonly Query[]): Promise<KnownQuery[]> {
    const missing = [...new Set(queries.map(({ text }) => text))].filter((text) => !this.#known.has(text));
    const found = new Map<string, KnownQuery>();
    const matrices = await embedTokens(this.#content.embedder, missing, 'query');
    missing.forEach((text, i) => {
      found.set(text, { tokens: Float64Array.from(matrices[i].data) });
    });
    for (const { text } of queries) {
      if (!found.has(text)) found.set(text, this.#known.get(text)!);
    }
    for (const [text, known] of found) {
      this.#known.delete(text);
      this.#known.set(text, known);
    }
    for (const text of this.#known.keys()) {
      if (this.#known.size <= this.#content.cachedQueries) break;
      this.#known.delete(text);
    }
    return queries.map(({ text }) => found.get(text)!);
  }

  async #ensureHeads(queries: readonly KnownQuery[], depth: number): Promise<void> {
    const shallow = new Set(
      queries.filter(({ tokens, head }) => tokens.length > 0 && !(head !== undefined && head.depth >= depth)),
    );
    for (const [query, head] of await this.#topOf([...shallow], depth)) query.head = { ...head, depth };
  }

  /** The best k of each query, by scoring everything. */
  async #topOf(queries: readonly KnownQuery[], k: number): Promise<Map<KnownQuery, Head>> {
    const heads = new Map<KnownQuery, Head>();
    const asking = queries.filter(({ tokens }) => tokens.length > 0 && k > 0);
    for (const query of queries) heads.set(query, { positions: new Int32Array(0), scores: new Float64Array(0) });
    for (let start = 0; start < asking.length; start += GROUP) {
      const group = asking.slice(start, start + GROUP);
      const scores = await this.#scoreAll(group);
      group.forEach((query, q) => {
        const positions = topPositions(scores[q], this.size, k, this.#order.rank);
        heads.set(query, { positions, scores: Float64Array.from(positions, (position) => scores[q][position]) });
      });
    }
    return heads;
  }

  /** Every document's score with each query, block by block through the tokens. */
  async #scoreAll(queries: readonly KnownQuery[]): Promise<Float64Array[]> {
    const out = queries.map(() => new Float64Array(this.size));
    for (let first = 0; first < this.size; ) {
      let last = first + 1;
      while (last < this.size && this.#starts[last + 1] - this.#starts[first] <= BLOCK_TOKENS) last++;
      const base = this.#starts[first];
      const tokens = await this.#content.tokens.read(base, this.#starts[last]);
      const bounds = Int32Array.from({ length: last - first + 1 }, (_, i) => this.#starts[first + i] - base);
      for (const [q, query] of queries.entries()) {
        maxSimScores(query.tokens, tokens, bounds, this.#width, out[q].subarray(first, last));
        await turn();
      }
      first = last;
    }
    return out;
  }

  #documentTokens(position: number): Promise<Float32Array> {
    return this.#content.tokens.read(this.#starts[position], this.#starts[position + 1]);
  }

  #score({ tokens: query }: KnownQuery, tokens: Float32Array): number {
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
