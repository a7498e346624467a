/**
 * A refresh: the whole collection rewritten by the policy as it is now, indexed, mined and measured. Rewards until the
 * next one are counted against this index (DocOpt 3.2).
 */
import { corpusWithTexts } from '../src/data/mod.ts';
import { deriveSeed } from '../src/kernels/rng.ts';
import { evaluate, parseMeasure } from '../src/metrics/mod.ts';
import type { Log, Policy, RetrievalIndex, Retriever } from '../src/ports.ts';
import type { Corpus, Qrels, Query } from '../src/types.ts';
import { runOf } from './measure.ts';
import type { TrainOptions } from './options.ts';
import { createRewarder, type Rewarder } from './reward.ts';
import { type RewriteAll, sampling } from './rollouts.ts';
import type { TrainingQueries } from './training-queries.ts';

/** Mean nDCG@k on an index made after `step` updates. */
export interface RoundEvaluation {
  readonly step: number;
  readonly train: number;
  /** null without dev queries. */
  readonly dev: number | null;
}

export interface Round {
  /** Updates before this refresh. */
  readonly step: number;
  /** Index texts by position. */
  readonly texts: readonly string[];
  readonly rewarder: Rewarder;
  readonly evaluation: RoundEvaluation;
}

/** What a refresh needs of the training around it. */
export interface RefreshContext {
  readonly corpus: Corpus;
  readonly training: TrainingQueries;
  readonly devQueries: readonly Query[];
  readonly qrels: Qrels;
  readonly retriever: Retriever;
  readonly policy: Policy;
  readonly rewriteAll: RewriteAll;
  readonly options: TrainOptions;
  readonly log: Log;
  readonly signal?: AbortSignal;
}

/** D~ := rewrite(all, policy, index sampling), always from the original texts. */
export async function rewriteCollection(context: RefreshContext, step: number): Promise<string[]> {
  const { corpus, policy, options, log, signal } = context;
  const seed = deriveSeed(options.seed, 'index', step);
  const progress = log.progress('rewriting the corpus', corpus.size);
  try {
    return await context.rewriteAll({
      policy,
      corpus,
      sampling: sampling(options.indexing, 1, seed),
      signal,
      onProgress: (documents) => progress.tick(documents),
    });
  } finally {
    progress.end();
  }
}

/** Indexes the texts, mines negatives, computes every training query's base, and measures train and dev. */
export async function openRound(context: RefreshContext, step: number, texts: readonly string[]): Promise<Round> {
  const rewritten = corpusWithTexts(context.corpus, texts);
  const index = await context.retriever.build(rewritten);
  context.signal?.throwIfAborted();
  const rewarder = await createRewarder(index, rewritten, context.training, context.options, step);
  const dev = await devNdcg(context, index);
  return { step, texts, rewarder, evaluation: { step, train: rewarder.trainNdcg, dev } };
}

/** Training and dev nDCG@k of the original texts: what a collapse is measured against. */
export async function evaluateOriginal(context: RefreshContext): Promise<RoundEvaluation> {
  const index = await context.retriever.build(context.corpus);
  const train = await meanNdcg(context, index, context.training.queries);
  return { step: 0, train: train ?? 0, dev: await devNdcg(context, index) };
}

function devNdcg(context: RefreshContext, index: RetrievalIndex): Promise<number | null> {
  return meanNdcg(context, index, context.devQueries);
}

async function meanNdcg(
  { qrels, options, signal }: RefreshContext,
  index: RetrievalIndex,
  queries: readonly Query[],
): Promise<number | null> {
  if (queries.length === 0) return null;
  const measure = parseMeasure(`nDCG@${options.rewardK}`);
  const run = await runOf(index, queries, options.rewardK, signal);
  return evaluate(run, qrels, [measure], { queries: queries.map(({ id }) => id) }).mean[measure.name];
}
