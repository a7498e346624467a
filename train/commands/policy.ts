/** Which policy trains, and what its gain is to be seen beside. */
import { describeSpec } from '../../src/config/spec-names.ts';
import type { PolicySpec } from '../../src/config/specs.ts';
import type { Dataset, Splits } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import {
  type ChatPolicy,
  createPolicy,
  type EditPolicy,
  isChatPolicy,
  shippedNotes,
  type TrainingPair,
} from '../../src/models/policies/mod.ts';
import { type ModelServices, wireOf } from '../../src/models/services.ts';
import type { Learner, Log, Policy, TrainablePolicy } from '../../src/ports.ts';
import { readExperiment } from '../../src/store/experiment.ts';
import type { AnalyzerName } from '../../src/text/mod.ts';
import type { Baseline } from '../baseline.ts';
import type { ExperimentConfig } from '../experiment-config.ts';
import { openPolicyFiles } from '../open-policy.ts';
import type { RewriteAll } from '../rollouts.ts';
import { apiLearner, apiLearnerName, documentsWithQueries, guardedRewriteAll } from './api-policy.ts';
import { defaultPolicy } from './default-policy.ts';
import { analyzerBaselines, editBaselines } from './edit-baselines.ts';
import type { TrainSettings } from './settings.ts';

/** The policy block that is trained. Throws USAGE before anything costs when nobody chose one and none would help. */
export async function choosePolicy(settings: TrainSettings, dataset: Dataset, log: Log): Promise<PolicySpec> {
  const { policy = tellDefault(settings, dataset, log), init } = settings;
  // A trained policy goes on training: its weights are the start.
  const spec: PolicySpec =
    typeof policy === 'string'
      ? withInit((await readExperiment<ExperimentConfig, unknown>(policy)).config.policy, policy)
      : policy;
  if (spec.driver === 'identity') {
    throw new DocOptError('USAGE', 'the policy identity has nothing to train', { hint: 'E.g. --policy edit.' });
  }
  return init === undefined ? spec : withInit(spec, init);
}

function tellDefault({ retriever, split }: TrainSettings, dataset: Dataset, log: Log): PolicySpec {
  const { policy, why } = defaultPolicy(retriever, dataset, split.dev);
  log.info(`policy: ${describeSpec('policy', policy)}, for nobody named one: ${why}.`);
  return policy;
}

function withInit(spec: PolicySpec, init: string): PolicySpec {
  if (spec.driver === 'edit') return { ...spec, init };
  throw new DocOptError('USAGE', `--init is the starting point of the edit policy, not of ${spec.driver}`, {
    hint: 'Add --policy edit, or leave out --init.',
  });
}

export interface PolicyRequest {
  readonly spec: PolicySpec;
  readonly settings: TrainSettings;
  readonly dataset: Dataset;
  readonly splits: Splits;
  readonly seed: number;
  readonly log: Log;
  readonly services: ModelServices;
}

export interface PreparedPolicy {
  /** One of the two. */
  readonly policy?: TrainablePolicy;
  readonly learner?: Learner;
  readonly rewriteAll?: RewriteAll;
  /** What services have cost so far. */
  readonly cost?: () => Readonly<Record<string, number>>;
  readonly baselines: readonly Baseline[];
  /** For the report. */
  readonly notes: readonly string[];
}

/** The policy, fitted on the training pairs alone. */
export async function preparePolicy(request: PolicyRequest): Promise<PreparedPolicy> {
  const { spec, settings, dataset, splits, seed } = request;
  const { retriever } = settings;
  const analyzer: AnalyzerName = 'analyzer' in retriever ? retriever.analyzer : 'english';
  const policy = await createPolicy(spec, {
    corpus: dataset.corpus,
    analyzer,
    trainingPairs: trainingPairs(dataset, splits),
    seed,
    openExperiment: openPolicyFiles,
    services: request.services,
  });
  if (isChatPolicy(policy)) return prepareApiPolicy(policy, request);
  if (settings.learner !== undefined && settings.learner !== 'gradient') {
    throw new DocOptError(
      'USAGE',
      `--learner ${settings.learner} is for chat models behind an API, not for ${policy.id}`,
      {
        hint: 'Leave it out: this policy learns by gradient.',
      },
    );
  }
  if (!isTrainable(policy)) {
    throw new DocOptError('USAGE', `the policy ${policy.id} cannot be trained`, { hint: 'E.g. --policy edit.' });
  }
  const notes = shippedNotes(policy.id, dataset.corpus);
  for (const note of notes) request.log.warn(note);
  const beside = spec.driver === 'edit' ? editBaselines((policy as EditPolicy).operations) : [];
  return { policy, baselines: [...beside, ...analyzerBaselines(retriever)], notes };
}

async function prepareApiPolicy(
  policy: ChatPolicy,
  { settings, dataset, splits, seed, services }: PolicyRequest,
): Promise<PreparedPolicy> {
  const wire = await wireOf(services);
  const { learner, refreshScope, retriever } = settings;
  const partly = refreshScope === 'training';
  return {
    learner: apiLearner(apiLearnerName(learner), policy, dataset, splits, seed),
    rewriteAll: guardedRewriteAll(policy, seed, partly ? documentsWithQueries(dataset, splits) : undefined),
    cost: () => ({ ...policy.usage(), usd: wire.report().usd }),
    baselines: analyzerBaselines(retriever),
    notes: partly
      ? [
          'Refreshes rewrote documents with training or dev queries only (refresh.scope: training): in the row `trained` all others have their zero-shot rewrites. docopt rewrite-corpus and docopt eval measure the whole.',
        ]
      : [],
  };
}

/** Every training query with each of its relevant documents. */
export function trainingPairs({ queries, qrels }: Dataset, { train }: Pick<Splits, 'train'>): TrainingPair[] {
  const wanted = new Set(train);
  return queries
    .filter(({ id }) => wanted.has(id))
    .flatMap(({ id, text }) =>
      [...(qrels.get(id) ?? [])]
        .filter(([, grade]) => grade > 0)
        .map(([documentId]) => ({ documentId, queryText: text })),
    );
}

function isTrainable(policy: Policy | TrainablePolicy): policy is TrainablePolicy {
  return 'applyGradient' in policy;
}
