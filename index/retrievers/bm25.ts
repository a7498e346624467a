/**
 * The `bm25` driver: an inverted index in typed arrays with exact counterfactual swaps. Memory is about 6 bytes per
 * distinct (document, term) pair, at most 2 more for the columns of common terms, and up to 128 MB for
 * the heads of the queries that swaps ask about. Texts are not kept.
 */
import type { ArtefactWriter, RetrievalIndex, Retriever } from '../../src/ports.ts';
import { type Analyzer, type AnalyzerName, createAnalyzer } from '../../src/text/mod.ts';
import type { IndexText, Matrix, Query, Ranking } from '../../src/types.ts';
import { Best } from '../kernels/best.ts';
import { type LengthNorm, lengthNorm } from '../kernels/bm25.ts';
import { createPostingsBuilder } from '../kernels/build-postings.ts';
import { Heads } from '../kernels/heads.ts';
import { type IdOrder, orderIds } from '../kernels/id-order.ts';
import type { Postings } from '../kernels/postings.ts';
import { type Hits, PrunedSearch } from '../kernels/pruned-search.ts';
import { emptyWeights, type QueryTerms, queryTerms, type Weights, weigh } from '../kernels/query-terms.ts';
import { scorePairs } from '../kernels/scan.ts';
import { SwapSearch } from '../kernels/swap-search.ts';
import { TermReader } from '../kernels/term-reader.ts';
import { openBm25, saveBm25 } from './bm25-files.ts';
import { checkDepth, checkSwaps, unknownDocument } from './checks.ts';

export interface Bm25Options {
  readonly k1: number;
  readonly b: number;
  readonly analyzer: AnalyzerName;
  /** recompute: a swap moves document frequencies and the average length, as a rebuild would; frozen: it does not. */
  readonly statistics: 'recompute' | 'frozen';
}

/** open() goes by the stored k1, b and analyzer: an index answers as it was built. `statistics` is the caller's. */
export function createBm25Retriever(options: Bm25Options): Retriever {
  return {
    id: `bm25:k1=${options.k1},b=${options.b},analyzer=${options.analyzer},statistics=${options.statistics}`,
    async build(corpus) {
      const analyzer = createAnalyzer(options.analyzer);
      const builder = createPostingsBuilder();
      const reader = new TermReader(analyzer, builder.numberOf);
      for (let i = 0; i < corpus.size; i++) builder.addNumbers(reader.read(corpus.indexText(i)));
      return new Bm25Index(options, analyzer, orderIds(corpus.ids), builder.finish());
    },
    async open(artefact) {
      const { k1, b, analyzer, ids, postings } = await openBm25(artefact);
      const stored = { k1, b, analyzer, statistics: options.statistics };
      return new Bm25Index(stored, createAnalyzer(analyzer), orderIds(ids), postings);
    },
  };
}

class Bm25Index implements RetrievalIndex {
  readonly size: number;
  readonly #options: Bm25Options;
  readonly #analyzer: Analyzer;
  readonly #order: IdOrder;
  readonly #postings: Postings;
  readonly #norm: LengthNorm;
  readonly #search: PrunedSearch;
  /** Made at the first swap: plain search needs neither. */
  #swaps: { readonly heads: Heads; readonly search: SwapSearch } | undefined;

  constructor(options: Bm25Options, analyzer: Analyzer, order: IdOrder, postings: Postings) {
    this.size = postings.size;
    this.#options = options;
    this.#analyzer = analyzer;
    this.#order = order;
    this.#postings = postings;
    this.#norm = lengthNorm(options, postings.totalLength, postings.size);
    this.#search = new PrunedSearch(postings, order.rank, this.#norm);
  }

  async search(queries: readonly Query[], k: number): Promise<Ranking[]> {
    checkDepth(k);
    return queries.map(({ text }) => {
      const query = this.#parse(text);
      return this.#ranking(this.#search.search(query, this.#weights(query), this.#norm, k));
    });
  }

  async similarities(queries: readonly Query[], ids: readonly string[]): Promise<Matrix> {
    const positions = Int32Array.from(ids, (id) => this.#position(id));
    const data = new Float64Array(queries.length * ids.length);
    for (let row = 0; row < queries.length; row++) {
      const query = this.#parse(queries[row].text);
      const into = data.subarray(row * ids.length, (row + 1) * ids.length);
      scorePairs(this.#postings, query, this.#weights(query), this.#norm, positions, into);
    }
    return { rows: queries.length, columns: ids.length, data };
  }

  async searchReplacing(
    replacements: readonly IndexText[],
    queries: readonly (readonly Query[])[],
    k: number,
  ): Promise<Ranking[][]> {
    checkSwaps(replacements, queries, k);
    const { heads, search } = (this.#swaps ??= this.#prepareSwaps());
    return replacements.map(({ id, text }, i) => {
      search.swap(this.#position(id), this.#analyzer.analyze(text));
      return queries[i].map((query) => this.#ranking(search.rank(heads.get(query.text, k), k)));
    });
  }

  async save(artefact: ArtefactWriter): Promise<void> {
    const { k1, b, analyzer } = this.#options;
    await saveBm25(artefact, { k1, b, analyzer, ids: this.#order.ids, postings: this.#postings });
  }

  #prepareSwaps(): { heads: Heads; search: SwapSearch } {
    const parse = (text: string) => this.#parse(text);
    return {
      heads: new Heads(this.#postings, this.#search, this.#norm, parse),
      search: new SwapSearch(
        this.#options,
        this.#postings,
        this.#norm,
        this.#search,
        new Best(this.#order.rank),
        this.#options.statistics,
      ),
    };
  }

  #parse(text: string): QueryTerms {
    return queryTerms(this.#postings, this.#analyzer.analyze(text));
  }

  #weights(query: QueryTerms): Weights {
    return weigh(query, query.frequencies, this.size, emptyWeights(query.size));
  }

  #ranking({ documents, scores }: Hits): Ranking {
    return { ids: Array.from(documents, (document) => this.#order.ids[document]), scores };
  }

  #position(id: string): number {
    const position = this.#order.positionOf(id);
    if (position < 0) throw unknownDocument(id);
    return position;
  }
}
