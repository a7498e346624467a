/**
 * The `fusion` driver: several retrievers as one. Each ranks to the same depth; ranks (reciprocal rank fusion, Cormack et al.
 * 2009) or scores are added up. A counterfactual swap happens in each of them, so the fused ranking is a reward like any other.
 */
import { DocOptError } from '../../src/errors.ts';
import { compareRanked } from '../../src/kernels/compare.ts';
import type { RetrievalIndex, Retriever } from '../../src/ports.ts';
import { subReader, subWriter } from '../../src/store/sub-artefact.ts';
import type { Ranking } from '../../src/types.ts';
import { checkDepth, unknownDocument } from './checks.ts';

export interface FusionOptions {
  readonly retrievers: readonly Retriever[];
  readonly method: 'rrf' | 'weighted';
  /** One per retriever; undefined = equal. */
  readonly weights?: readonly number[];
  readonly rankConstant: number;
  /** How deep each ranking is looked at. */
  readonly depth: number;
}

/** Throws CONFIG when there is not one weight per retriever, or no weight above 0. */
export function createFusionRetriever(options: FusionOptions): Retriever {
  const { retrievers, method, rankConstant, depth } = options;
  const weights = options.weights ?? retrievers.map(() => 1 / retrievers.length);
  if (weights.length !== retrievers.length || !weights.some((weight) => weight > 0)) {
    throw new DocOptError(
      'CONFIG',
      `fusion has ${retrievers.length} retrievers and the weights ${weights.join(', ')}`,
      {
        hint: 'Give one weight per retriever, at least one of them above 0.',
      },
    );
  }
  const names = retrievers.map(({ id }) => id).join('+');
  const settings = method === 'rrf' ? `rrf k=${rankConstant}` : 'weighted';
  const fuse: Fuse = (rankings, k) => fuseRankings(rankings, weights, method === 'rrf' ? rankConstant : undefined, k);
  return {
    id: `fusion(${names},${settings},weights=${weights.join('/')},depth=${depth})`,
    build: async (corpus) => {
      const parts: RetrievalIndex[] = [];
      for (const retriever of retrievers) parts.push(await retriever.build(corpus));
      return fusedIndex(parts, corpus.ids, depth, fuse);
    },
    open: async (artefact) => {
      const ids = await artefact.readJson<string[]>('fusion.ids.json');
      const parts: RetrievalIndex[] = [];
      for (const [i, retriever] of retrievers.entries())
        parts.push(await retriever.open(subReader(artefact, `part-${i}`)));
      return fusedIndex(parts, ids, depth, fuse);
    },
  };
}

type Fuse = (rankings: readonly Ranking[], k: number) => Ranking;

function fusedIndex(
  parts: readonly RetrievalIndex[],
  ids: readonly string[],
  depth: number,
  fuse: Fuse,
): RetrievalIndex {
  const known = new Set(ids);
  const dense = parts.find(({ embeddings }) => embeddings !== undefined);
  return {
    size: ids.length,
    async search(queries, k) {
      checkDepth(k);
      const found = await Promise.all(parts.map((part) => part.search(queries, depth)));
      return queries.map((_, q) =>
        fuse(
          found.map((rankings) => rankings[q]),
          k,
        ),
      );
    },
    async similarities(queries, wanted) {
      for (const id of wanted) if (!known.has(id)) throw unknownDocument(id);
      const rankings = await this.search(queries, ids.length);
      const data = new Float64Array(queries.length * wanted.length);
      rankings.forEach((ranking, row) => {
        const scores = new Map(ranking.ids.map((id, i) => [id, ranking.scores[i]]));
        wanted.forEach((id, column) => {
          data[row * wanted.length + column] = scores.get(id) ?? 0;
        });
      });
      return { rows: queries.length, columns: wanted.length, data };
    },
    async searchReplacing(replacements, queries, k) {
      checkDepth(k);
      const found = await Promise.all(parts.map((part) => part.searchReplacing(replacements, queries, depth)));
      return replacements.map((_, i) =>
        queries[i].map((_, q) =>
          fuse(
            found.map((answers) => answers[i][q]),
            k,
          ),
        ),
      );
    },
    async save(artefact) {
      await artefact.write('fusion.ids.json', JSON.stringify(ids));
      for (const [i, part] of parts.entries()) await part.save(subWriter(artefact, `part-${i}`));
    },
    // Vectors for morph are those of the first retriever that has some.
    ...(dense === undefined
      ? {}
      : {
          embedder: dense.embedder,
          embeddings: (wanted) => dense.embeddings!(wanted),
          embedQueries: (queries) => dense.embedQueries!(queries),
        }),
  };
}

/** Sum over the rankings of weight / (constant + rank), or of the weighted score spread over [0, 1]; absent documents add nothing. */
export function fuseRankings(
  rankings: readonly Ranking[],
  weights: readonly number[],
  rankConstant: number | undefined,
  k: number,
): Ranking {
  const sums = new Map<string, number>();
  for (const [r, { ids, scores }] of rankings.entries()) {
    const highest = scores[0];
    const range = highest - scores[scores.length - 1];
    for (let i = 0; i < ids.length; i++) {
      const share =
        rankConstant !== undefined
          ? 1 / (rankConstant + i + 1)
          : // The last of a ranking still counts more than one that is not in it.
            range > 0
            ? (scores[i] - highest + range + range / ids.length) / (range + range / ids.length)
            : 1;
      sums.set(ids[i], (sums.get(ids[i]) ?? 0) + weights[r] * share);
    }
  }
  const order = [...sums].sort(([idA, a], [idB, b]) => compareRanked(a, idA, b, idB)).slice(0, k);
  return { ids: order.map(([id]) => id), scores: Float64Array.from(order, ([, score]) => score) };
}
