/**
 * The counterfactual reward against one state of the index (DocOpt 3.1). `createRewarder` looks at the index once:
 * positives, negatives, and every training query's current ranking. Then each step asks one question: for each rewrite,
 * swapped in ALONE, how do its document's queries rank now?
 */
import { DocOptError } from '../src/errors.ts';
import { deriveSeed } from '../src/kernels/rng.ts';
import type { RetrievalIndex } from '../src/ports.ts';
import type { Corpus, IndexText, Query, QueryMove, Ranking } from '../src/types.ts';
import {
  depthFor,
  ndcgOf,
  placeAmongTies,
  rankingReward,
  rankWithin,
  similarityReward,
  sinkEmpty,
  tieRunsOverCut,
} from './kernels/reward.ts';
import { createSpread } from './kernels/spread.ts';
import { mineNegatives } from './negatives.ts';
import { type TrainOptions, usesNegatives } from './options.ts';
import type { TrainingQueries } from './training-queries.ts';

export type RewardOptions = Pick<
  TrainOptions,
  'reward' | 'rewardK' | 'rewardTies' | 'emptySet' | 'negatives' | 'negativesPerDocument' | 'seed'
>;

/** Candidate texts of one document. */
export interface Candidates {
  /** Position in the corpus. */
  readonly document: number;
  readonly texts: readonly string[];
}

export interface Rewarded {
  /** One per text. */
  readonly rewards: Float64Array;
  /** moves[text][query]: positives first. */
  readonly moves: readonly (readonly QueryMove[])[];
}

export interface Rewarder {
  /** Documents that can be trained on, by position: those with queries to win and queries to leave alone. */
  readonly eligible: readonly number[];
  /** Mean nDCG@k of the training queries on this index. */
  readonly trainNdcg: number;
  queriesOf(document: number): { readonly positive: readonly Query[]; readonly negative: readonly Query[] };
  /** One searchReplacing call for all candidates. */
  reward(candidates: readonly Candidates[]): Promise<Rewarded[]>;
}

/** `corpus` is what `index` holds; `round` tells one refresh from the next in random mining. */
export async function createRewarder(
  index: RetrievalIndex,
  corpus: Corpus,
  training: TrainingQueries,
  options: RewardOptions,
  round: number,
): Promise<Rewarder> {
  const k = options.rewardK;
  const depth = depthFor(options.rewardTies, k);
  const withNegatives = usesNegatives(options);
  const withSimilarity = options.reward !== 'ranking';
  if (withSimilarity && index.rankOnly === true) {
    throw new DocOptError(
      'USAGE',
      `the retriever answers ranks and no similarities, which --reward ${options.reward} needs`,
      {
        hint: "Use --reward ranking, which is the paper's own.",
      },
    );
  }

  const spread = withSimilarity ? createSpread() : undefined;
  // Without its own queries a document can still be told to leave others alone, but only `emptySet: zero` asks for that.
  const trainable =
    options.emptySet === 'zero' && withNegatives
      ? corpus.ids.map((_, position) => position)
      : [...training.positives.keys()].sort((a, b) => a - b);
  const negatives = await mineNegatives(index, corpus, training, trainable, {
    mining: withNegatives ? options.negatives : 'none',
    count: options.negativesPerDocument,
    seed: deriveSeed(options.seed, 'mining', round),
    spread,
  });
  const positivesOf = (document: number): readonly number[] => training.positives.get(document) ?? [];
  const negativesOf = (document: number): readonly number[] => negatives.get(document) ?? [];
  const eligible = trainable.filter((document) => {
    const [wins, leaves] = [positivesOf(document).length, negativesOf(document).length];
    if (!withNegatives) return wins > 0;
    return options.emptySet === 'skip' ? wins > 0 && leaves > 0 : wins + leaves > 0;
  });

  const base = await baseRankings(index, training.queries, k, depth, options.rewardTies === 'pessimistic');
  const baseNdcg = base.map((ranking, q) => ndcgOf(ranking.ids, training.judged[q], k));

  /** A ranking as the reward sees it: for the swapped document ties may count against the rewriter. */
  const seen = (ranking: Ranking, id: string, positive: boolean): readonly string[] =>
    options.rewardTies === 'pessimistic' ? placeAmongTies(ranking, id, !positive) : ranking.ids;

  const move = (q: number, id: string, positive: boolean, after: Ranking): QueryMove => {
    const before = seen(base[q], id, positive);
    const now = seen(after, id, positive);
    return {
      queryId: training.queries[q].id,
      positive,
      rankBefore: rankWithin(before, id, k),
      rankAfter: rankWithin(now, id, k),
      ndcgBefore: options.rewardTies === 'order' ? baseNdcg[q] : ndcgOf(before, training.judged[q], k),
      ndcgAfter: ndcgOf(now, training.judged[q], k),
    };
  };

  return {
    eligible,
    trainNdcg: baseNdcg.reduce((sum, value) => sum + value, 0) / Math.max(1, baseNdcg.length),
    queriesOf: (document) => ({
      positive: positivesOf(document).map((q) => training.queries[q]),
      negative: negativesOf(document).map((q) => training.queries[q]),
    }),

    async reward(candidates) {
      // Equal texts of one document earn the same, so each distinct one is searched once. The similarity reward needs the
      // current text too, measured the same way: then an unchanged text earns exactly 0.
      const swaps: IndexText[] = [];
      const asked: number[][] = [];
      const swapOf = candidates.map(({ document, texts }) => {
        const byText = new Map<string, number>();
        for (const text of withSimilarity ? [...texts, corpus.indexText(document)] : texts) {
          if (byText.has(text)) continue;
          byText.set(text, swaps.length);
          swaps.push({ id: corpus.ids[document], text });
          asked.push([...positivesOf(document), ...negativesOf(document)]);
        }
        return byText;
      });
      const rankings = await searchSwaps(index, swaps, asked, training, {
        k,
        depth,
        isPositive: (swap, column) => column < positivesOf(corpus.positionOf(swaps[swap].id)!).length,
        pessimistic: options.rewardTies === 'pessimistic',
      });

      const similarities = withSimilarity ? await ownScores(index, swaps, asked, training, rankings, depth) : [];

      return candidates.map(({ document, texts }, group) => {
        const id = corpus.ids[document];
        const wins = positivesOf(document).length;
        const queries = [...positivesOf(document), ...negativesOf(document)];
        const similaritiesOf = (text: string): readonly number[] => similarities[swapOf[group].get(text)!];
        const current = withSimilarity ? similaritiesOf(corpus.indexText(document)) : [];
        const rewards = new Float64Array(texts.length);
        const moves = texts.map((text, sample) => {
          const after = rankings[swapOf[group].get(text)!];
          const row = queries.map((q, column) => move(q, id, column < wins, after[column]));
          const gains = row.map((moved) => moved.ndcgAfter - moved.ndcgBefore);
          const ranking = rankingReward(gains.slice(0, wins), gains.slice(wins));
          if (withSimilarity) {
            const nearer = similaritiesOf(text).map((value, column) => value - current[column]);
            const similarity = similarityReward(nearer.slice(0, wins), nearer.slice(wins), spread!.deviation);
            rewards[sample] = options.reward === 'hybrid' ? (ranking + similarity) / 2 : similarity;
          } else rewards[sample] = ranking;
          return row;
        });
        sinkEmpty(rewards, texts, corpus.indexText(document));
        return { rewards, moves };
      });
    },
  };
}

/** Every training query's ranking now; under pessimistic ties as deep as the tie at the cut goes. */
async function baseRankings(
  index: RetrievalIndex,
  queries: readonly Query[],
  k: number,
  depth: number,
  pessimistic: boolean,
): Promise<Ranking[]> {
  const rankings = await index.search(queries, depth);
  if (!pessimistic) return rankings;
  for (let deeper = 2 * depth; ; deeper *= 2) {
    const open = rankings.flatMap((ranking, q) => (tieRunsOverCut(ranking, k, deeper / 2) ? [q] : []));
    if (open.length === 0) return rankings;
    const again = await index.search(
      open.map((q) => queries[q]),
      deeper,
    );
    open.forEach((q, i) => {
      rankings[q] = again[i];
    });
  }
}

interface SwapSearch {
  readonly k: number;
  readonly depth: number;
  isPositive(swap: number, column: number): boolean;
  readonly pessimistic: boolean;
}

async function searchSwaps(
  index: RetrievalIndex,
  swaps: readonly IndexText[],
  asked: readonly (readonly number[])[],
  training: TrainingQueries,
  search: SwapSearch,
): Promise<Ranking[][]> {
  const queries = asked.map((row) => row.map((q) => training.queries[q]));
  const rankings = (await index.searchReplacing(swaps, queries, search.depth)).map((row) => [...row]);
  checkShape(rankings, queries);
  if (!search.pessimistic) return rankings;

  // A negative query may hide the swapped document in a tie that runs over the cut: look deeper there, and only there.
  for (let depth = search.depth; ; depth *= 2) {
    const hides = (swap: number, column: number): boolean => {
      const ranking = rankings[swap][column];
      return (
        !search.isPositive(swap, column) &&
        tieRunsOverCut(ranking, search.k, depth) &&
        !ranking.ids.includes(swaps[swap].id)
      );
    };
    const open = swaps.flatMap((_, swap) => {
      const columns = queries[swap].flatMap((_, column) => (hides(swap, column) ? [column] : []));
      return columns.length === 0 ? [] : [{ swap, columns }];
    });
    if (open.length === 0) return rankings;
    const deeper = await index.searchReplacing(
      open.map(({ swap }) => swaps[swap]),
      open.map(({ swap, columns }) => columns.map((column) => queries[swap][column])),
      2 * depth,
    );
    open.forEach(({ swap, columns }, i) => {
      columns.forEach((column, j) => {
        rankings[swap][column] = deeper[i][j];
      });
    });
  }
}

/** Entries of rankings held at once while looking deep. */
const HELD_ENTRIES = 20_000_000;

/** How much deeper the next look goes. */
const DEEPER = 8;

/**
 * The swapped documents' own scores, [swap][query]. Most stand in the rankings that are there; for the others, and only for
 * them, the search goes deeper until they are found. A document that a lexical index leaves out matches nothing: 0.
 */
async function ownScores(
  index: RetrievalIndex,
  swaps: readonly IndexText[],
  asked: readonly (readonly number[])[],
  training: TrainingQueries,
  rankings: readonly (readonly Ranking[])[],
  searched: number,
): Promise<number[][]> {
  const scores = asked.map((row) => row.map(() => 0));
  /** Notes a score that is there; whether one may still be found further down. */
  const note = (swap: number, column: number, { ids, scores: found }: Ranking, depth: number): boolean => {
    const position = ids.indexOf(swaps[swap].id);
    if (position >= 0) scores[swap][column] = found[position];
    return position < 0 && ids.length >= depth && depth < index.size;
  };
  let open = rankings.flatMap((row, swap) => {
    const columns = row.flatMap((ranking, column) => (note(swap, column, ranking, searched) ? [column] : []));
    return columns.length === 0 ? [] : [{ swap, columns }];
  });
  for (let depth = Math.max(100, searched) * DEEPER; open.length > 0; depth *= DEEPER) {
    const widest = Math.max(...open.map(({ columns }) => columns.length));
    const part = Math.max(1, Math.floor(HELD_ENTRIES / (widest * Math.min(depth, index.size))));
    const left: typeof open = [];
    for (let start = 0; start < open.length; start += part) {
      const now = open.slice(start, start + part);
      const found = await index.searchReplacing(
        now.map(({ swap }) => swaps[swap]),
        now.map(({ swap, columns }) => columns.map((column) => training.queries[asked[swap][column]])),
        depth,
      );
      now.forEach(({ swap, columns }, i) => {
        const still = columns.filter((column, j) => note(swap, column, found[i][j], depth));
        if (still.length > 0) left.push({ swap, columns: still });
      });
    }
    open = left;
  }
  return scores;
}

function checkShape(rankings: readonly (readonly Ranking[])[], queries: readonly (readonly Query[])[]): void {
  if (rankings.length === queries.length && rankings.every((row, i) => row.length === queries[i].length)) return;
  throw new DocOptError('UPSTREAM', 'the index answered a counterfactual search with the wrong number of rankings', {
    hint: 'This is a fault of the retriever driver; try --retriever bm25.',
  });
}
