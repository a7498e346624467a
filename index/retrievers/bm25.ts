/**
 * The `bm25` driver: an inverted index in typed arrays with exact counterfactual swaps. Memory is about 6 bytes per
 * distinct (document, term) pair; texts are not kept.
 */
import type { ArtefactWriter, RetrievalIndex, Retriever } from '../../src/ports.ts';
import { type Analyzer, type AnalyzerName, createAnalyzer } from '../../src/text/mod.ts';
import type { IndexText, Matrix, Query, Ranking } from '../../src/types.ts';
import { Best } from '../kernels/best.ts';
import { type LengthNorm, lengthNorm, saturation } from '../kernels/bm25.ts';
import { createPostingsBuilder } from '../kernels/build-postings.ts';
import { type IdOrder, orderIds } from '../kernels/id-order.ts';
import type { Postings } from '../kernels/postings.ts';
import { emptyWeights, queryTerms, weigh } from '../kernels/query-terms.ts';
import { addAllScores } from '../kernels/scan.ts';
import { SwappedDocument } from '../kernels/swapped-document.ts';
import { unknownDocument } from './rebuild.ts';

export interface Bm25Options {
  readonly k1: number;
  readonly b: number;
  readonly analyzer: AnalyzerName;
  /** recompute: a swap moves document frequencies and the average length, as a rebuild would; frozen: it does not. */
  readonly statistics: 'recompute' | 'frozen';
}

export function createBm25Retriever(options: Bm25Options): Retriever {
  return {
    id: `bm25(k1=${options.k1},b=${options.b},${options.analyzer})`,
    async build(corpus) {
      const analyzer = createAnalyzer(options.analyzer);
      const builder = createPostingsBuilder();
      for (let i = 0; i < corpus.size; i++) builder.add(analyzer.analyze(corpus.indexText(i)));
      return new Bm25Index(options, analyzer, orderIds(corpus.ids), builder.finish());
    },
    async open() {
      throw new Error('not written yet');
    },
  };
}

class Bm25Index implements RetrievalIndex {
  readonly #options: Bm25Options;
  readonly #analyzer: Analyzer;
  readonly #order: IdOrder;
  readonly #postings: Postings;
  readonly #norm: LengthNorm;
  readonly #best: Best;
  #swapped: SwappedDocument | undefined;

  constructor(options: Bm25Options, analyzer: Analyzer, order: IdOrder, postings: Postings) {
    this.#options = options;
    this.#analyzer = analyzer;
    this.#order = order;
    this.#postings = postings;
    this.#norm = lengthNorm(options, postings.totalLength, postings.size);
    this.#best = new Best(order.rank);
  }

  get size(): number {
    return this.#postings.size;
  }

  async search(queries: readonly Query[], k: number): Promise<Ranking[]> {
    const scores = new Float64Array(this.size);
    return queries.map((query) => {
      const terms = queryTerms(this.#postings, this.#analyzer.analyze(query.text));
      const weights = weigh(terms, terms.frequencies, this.size, emptyWeights(terms.size));
      addAllScores(this.#postings, terms, weights, this.#norm, scores.fill(0));
      return this.#rank(scores, k);
    });
  }

  async similarities(queries: readonly Query[], ids: readonly string[]): Promise<Matrix> {
    const positions = ids.map((id) => this.#position(id));
    const data = new Float64Array(queries.length * ids.length);
    const scores = new Float64Array(this.size);
    queries.forEach((query, row) => {
      const terms = queryTerms(this.#postings, this.#analyzer.analyze(query.text));
      const weights = weigh(terms, terms.frequencies, this.size, emptyWeights(terms.size));
      addAllScores(this.#postings, terms, weights, this.#norm, scores.fill(0));
      for (let column = 0; column < ids.length; column++) data[row * ids.length + column] = scores[positions[column]];
    });
    return { rows: queries.length, columns: ids.length, data };
  }

  async searchReplacing(
    replacements: readonly IndexText[],
    queries: readonly (readonly Query[])[],
    k: number,
  ): Promise<Ranking[][]> {
    const scores = new Float64Array(this.size);
    this.#swapped ??= new SwappedDocument(this.#postings);
    const swapped = this.#swapped;
    return replacements.map((replacement, i) => {
      const position = this.#position(replacement.id);
      swapped.swap(position, this.#analyzer.analyze(replacement.text));
      return queries[i].map((query) => {
        const terms = queryTerms(this.#postings, this.#analyzer.analyze(query.text));
        const counts = swapped.counts(terms, new Int32Array(terms.size));
        const frozen = this.#options.statistics === 'frozen';
        const frequencies = frozen ? terms.frequencies : swapped.frequencies(terms, counts, new Int32Array(terms.size));
        const norm = frozen ? this.#norm : lengthNorm(this.#options, swapped.totalLength, this.size);
        const weights = weigh(terms, frequencies, this.size, emptyWeights(terms.size));
        addAllScores(this.#postings, terms, weights, norm, scores.fill(0));
        let score = 0;
        for (const slot of weights.order) {
          if (counts[slot] > 0) score += weights.weight[slot] * saturation(counts[slot], swapped.length, norm);
        }
        scores[position] = score;
        return this.#rank(scores, k);
      });
    });
  }

  async save(_artefact: ArtefactWriter): Promise<void> {
    throw new Error('not written yet');
  }

  #rank(scores: Float64Array, k: number): Ranking {
    this.#best.reset(k);
    for (let d = 0; d < scores.length; d++) if (scores[d] > 0) this.#best.offer(d, scores[d]);
    const { documents, scores: kept } = this.#best.take();
    return { ids: Array.from(documents, (d) => this.#order.ids[d]), scores: kept };
  }

  #position(id: string): number {
    const position = this.#order.positionOf(id);
    if (position < 0) throw unknownDocument(id);
    return position;
  }
}
