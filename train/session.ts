/** Everything that one call of train() stands on: what the caller gave, checked, with the defaults filled in. */
import type { DatasetCard } from '../src/data/dataset-card.ts';
import { DocOptError } from '../src/errors.ts';
import type { Learner, Log, Policy, Retriever, TrainablePolicy } from '../src/ports.ts';
import { silentLog } from '../src/run/log.ts';
import type { Experiment } from '../src/store/experiment.ts';
import { fingerprintStrings } from '../src/store/fingerprint.ts';
import { createMemoryExperiment } from '../src/store/memory-experiment.ts';
import type { Corpus, Qrels, Query } from '../src/types.ts';
import type { Baseline } from './baseline.ts';
import type { Identity } from './checkpoint.ts';
import { createGradientLearner } from './learners/gradient.ts';
import type { TrainOptions } from './options.ts';
import type { RefreshContext } from './refresh.ts';
import { type PromptFor, plainPrompt, type RewriteAll, rewriteAllWith } from './rollouts.ts';
import { trainingQueries } from './training-queries.ts';

/** Query ids of each part. Dev chooses the checkpoint and nothing else; test is measured once. */
export interface TrainSplits {
  readonly train: readonly string[];
  readonly dev: readonly string[];
  readonly test: readonly string[];
  /** Where the division comes from, for the report. */
  readonly source?: string;
}

export interface TrainSetup {
  /** With the texts that are to be rewritten as index texts. */
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  readonly splits: TrainSplits;
  readonly retriever: Retriever;
  /** What people call them, for the report; default: their ids. */
  readonly names?: { readonly retriever: string; readonly policy: string };
  /** What is trained: a policy by gradient, or any learner. */
  readonly policy?: TrainablePolicy;
  readonly learner?: Learner;
  readonly options: TrainOptions;
  /** Where checkpoints, metrics and the report go; in memory without. The caller closes it. */
  readonly experiment?: Experiment;
  /** Go on from the newest checkpoint of the experiment, if it has one. */
  readonly resume?: boolean;
  readonly promptFor?: PromptFor;
  /** How the whole collection is rewritten at a refresh; default: straight through the policy. */
  readonly rewriteAll?: RewriteAll;
  /** Fixed ways to rewrite, measured beside the trained policy. */
  readonly baselines?: readonly Baseline[];
  readonly log?: Log;
  readonly signal?: AbortSignal;
  /** Milliseconds; only for the times in the metrics and the report. */
  readonly now?: () => number;
  /** Machine and versions, for the report. */
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly dataset?: DatasetCard;
  /** What a reader of the report must know, e.g. that its figures are void. */
  readonly notes?: readonly string[];
  /** What remote services have cost so far, for the report. */
  readonly cost?: () => Readonly<Record<string, number>>;
}

export interface Session extends TrainSetup {
  readonly learner: Learner;
  readonly experiment: Experiment;
  readonly promptFor: PromptFor;
  readonly rewriteAll: RewriteAll;
  readonly log: Log;
  readonly now: () => number;
  readonly context: RefreshContext;
  readonly identity: Identity;
  /** Of the data together with these index texts. */
  indexFingerprint(texts: readonly string[]): string;
  /** Seconds spent, earlier sessions included. */
  elapsed(): number;
  addElapsed(seconds: number): void;
}

export async function openSession(setup: TrainSetup): Promise<Session> {
  const { corpus, queries, qrels, splits, retriever, options } = setup;
  checkSplits(splits, queries);
  const learner = setup.learner ?? gradientLearner(setup);
  const promptFor = setup.promptFor ?? plainPrompt;
  const rewriteAll = setup.rewriteAll ?? rewriteAllWith(promptFor);
  const now = setup.now ?? (() => performance.now());
  const started = now();
  let earlier = 0;

  const dev = new Set(splits.dev);
  const data = dataFingerprint(setup, learner.policy);
  const context: RefreshContext = {
    corpus,
    training: trainingQueries(corpus, queries, qrels, splits.train, options.rewardK),
    devQueries: queries.filter(({ id }) => dev.has(id) && (qrels.get(id)?.size ?? 0) > 0),
    qrels,
    retriever,
    policy: learner.policy,
    rewriteAll,
    options,
    log: setup.log ?? silentLog,
    signal: setup.signal,
  };
  return {
    ...setup,
    learner,
    promptFor,
    rewriteAll,
    now,
    context,
    experiment: setup.experiment ?? createMemoryExperiment(),
    log: context.log,
    identity: { options, data },
    indexFingerprint: (texts) => fingerprintStrings([data, ...texts]),
    elapsed: () => earlier + (now() - started) / 1000,
    addElapsed(seconds) {
      earlier += seconds;
    },
  };
}

function gradientLearner({ policy, options }: TrainSetup): Learner {
  if (policy !== undefined) return createGradientLearner(policy, options);
  throw new DocOptError('USAGE', 'there is nothing to train: neither a policy nor a learner was given', {
    hint: 'Give train() a trainable policy.',
  });
}

function checkSplits(splits: TrainSplits, queries: readonly Query[]): void {
  const known = new Set(queries.map(({ id }) => id));
  const part = new Map<string, string>();
  for (const name of ['train', 'dev', 'test'] as const) {
    for (const id of splits[name]) {
      if (!known.has(id)) {
        throw new DocOptError('DATA', `query '${id}' of the ${name} split is not among the queries`, {
          hint: 'Make the split again: docopt dataset split DATA --force',
        });
      }
      const other = part.get(id);
      if (other !== undefined) {
        throw new DocOptError('DATA', `query '${id}' is in the ${other} and in the ${name} split`, {
          hint: 'A query that trains or chooses must not be measured: docopt dataset split DATA --force',
        });
      }
      part.set(id, name);
    }
  }
  if (splits.train.length === 0) {
    throw new DocOptError('DATA', 'there are no training queries', {
      hint: 'Use a larger --train share, or more judged queries.',
    });
  }
}

function dataFingerprint(setup: TrainSetup, policy: Policy): string {
  const { corpus, queries, qrels, splits, retriever } = setup;
  function* parts(): Generator<string> {
    yield retriever.id;
    yield policy.id;
    for (let position = 0; position < corpus.size; position++) {
      yield corpus.ids[position];
      yield corpus.indexText(position);
    }
    for (const { id, text } of queries) {
      yield id;
      yield text;
      yield JSON.stringify([...(qrels.get(id) ?? [])]);
    }
    yield JSON.stringify([splits.train, splits.dev, splits.test]);
  }
  return fingerprintStrings(parts());
}
