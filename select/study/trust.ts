/**
 * Does the reranker know better than the retriever whose candidates it is asked about? AUC and nDCG@10 over the pool, from
 * judgements, of both and of their reciprocal-rank fusion. Whoever spends calls on a reranker should know this first.
 */
import { areaUnderCurve } from '../../src/kernels/stats.ts';
import { meanOf, ndcg, wilcoxon } from '../../src/metrics/mod.ts';
import type { StudyQuery } from './types.ts';

export const TRUST_CUTOFF = 10;
/** Reciprocal-rank fusion's constant (Cormack et al. 2009). */
const RRF = 60;

export interface TrustFigures {
  readonly auc: number;
  readonly ndcg: number;
}

export interface TrustOfQuery {
  readonly retriever: TrustFigures;
  readonly reranker: TrustFigures;
  readonly fusion: TrustFigures;
}

export type Ranker = keyof TrustOfQuery;
export const RANKERS: readonly Ranker[] = ['retriever', 'reranker', 'fusion'];

/** Undefined where the pool holds only relevant documents or only others: there is nothing to tell apart. */
export function trustOf({
  scores,
  relevance,
  relevant,
}: Pick<StudyQuery, 'scores' | 'relevance' | 'relevant'>): TrustOfQuery | undefined {
  const size = scores.length;
  const found = relevance.reduce((sum, value) => sum + value, 0);
  if (found === 0 || found === size) return undefined;
  const first = Float64Array.from({ length: size }, (_, position) => -position);
  // A failed call says nothing: such documents come last, in first-stage order.
  const second = Float64Array.from(scores, (score) => (Number.isNaN(score) ? -1 : score));
  const order = (values: Float64Array) => Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);
  const fused = new Float64Array(size);
  for (const ranking of [order(first), order(second)]) {
    ranking.forEach((position, rank) => {
      fused[position] += 1 / (RRF + 1 + rank);
    });
  }
  const ideal = new Array<number>(relevant).fill(1);
  const figures = (values: Float64Array): TrustFigures => ({
    auc: areaUnderCurve(values, relevance),
    ndcg: ndcg(
      order(values).map((position) => relevance[position]),
      ideal,
      TRUST_CUTOFF,
    ),
  });
  return { retriever: figures(first), reranker: figures(second), fusion: figures(fused) };
}

export interface Trust {
  /** Queries whose pool held both kinds. */
  readonly queries: number;
  readonly auc: Readonly<Record<Ranker, number>>;
  readonly ndcg: Readonly<Record<Ranker, number>>;
  /** Reranker and fusion minus retriever, mean over queries, with Wilcoxon's p. */
  readonly gain: Readonly<Record<'reranker' | 'fusion', { readonly ndcg: number; readonly p: number }>>;
  readonly verdict: 'earns' | 'only-fused' | 'unclear' | 'does-not-earn';
}

/** Means over queries, and what follows from them. */
export function judgeTrust(queries: readonly (TrustOfQuery | undefined)[]): Trust {
  const known = queries.filter((query) => query !== undefined);
  const mean = (figure: keyof TrustFigures): Record<Ranker, number> =>
    Object.fromEntries(
      RANKERS.map((who) => [who, known.length === 0 ? Number.NaN : meanOf(known.map((q) => q[who][figure]))]),
    ) as Record<Ranker, number>;
  const gain = (who: 'reranker' | 'fusion') => {
    const differences = known.map((query) => query[who].ndcg - query.retriever.ndcg);
    return { ndcg: known.length === 0 ? Number.NaN : meanOf(differences), p: wilcoxon(differences).p };
  };
  const gains = { reranker: gain('reranker'), fusion: gain('fusion') };
  return { queries: known.length, auc: mean('auc'), ndcg: mean('ndcg'), gain: gains, verdict: verdictOf(gains) };
}

/** What counts as more than chance. */
const LEVEL = 0.05;

function verdictOf({ reranker, fusion }: Trust['gain']): Trust['verdict'] {
  if (reranker.ndcg > 0 && reranker.p < LEVEL) return 'earns';
  if (fusion.ndcg > 0 && fusion.p < LEVEL) return 'only-fused';
  if (reranker.ndcg <= 0 || Number.isNaN(reranker.ndcg)) return 'does-not-earn';
  return 'unclear';
}

/** The verdict in a sentence. */
export function explainTrust({ verdict, gain, queries }: Trust): string {
  const by = (value: number): string =>
    `${value >= 0 ? '+' : ''}${(100 * value).toFixed(1)} points of nDCG@${TRUST_CUTOFF}`;
  const { reranker, fusion } = gain;
  switch (verdict) {
    case 'earns':
      return `The reranker earns its calls: ${by(reranker.ndcg)} over the retriever (p ${shown(reranker.p)}, ${queries} queries).`;
    case 'only-fused':
      return `The reranker does not beat the retriever (${by(reranker.ndcg)}, p ${shown(reranker.p)}), but the two together do (${by(fusion.ndcg)}, p ${shown(fusion.p)}): give it less trust than its scores ask for.`;
    case 'unclear':
      return `Not clear that the reranker earns its calls: ${by(reranker.ndcg)} over the retriever, which may be chance (p ${shown(reranker.p)}, ${queries} queries).`;
    case 'does-not-earn':
      return queries === 0
        ? 'No query has both relevant and other documents in its pool: nothing can be said of the reranker.'
        : `The reranker does not earn its calls: ${by(reranker.ndcg)} against the retriever alone (p ${shown(reranker.p)}, ${queries} queries). Use the retriever's order, or another reranker.`;
    default:
      return verdict satisfies never;
  }
}

function shown(p: number): string {
  return p < 0.001 ? '< .001' : p.toFixed(3);
}
