/** Policies by their block, and from the folder of a checkpoint. */
import type { PolicySpec } from '../../config/specs.ts';
import { DocOptError } from '../../errors.ts';
import type { ArtefactReader, Policy, TrainablePolicy } from '../../ports.ts';
import { type AnalyzerName, createAnalyzer } from '../../text/mod.ts';
import type { Corpus } from '../../types.ts';
import type { ModelServices } from '../services.ts';
import { createChatPolicy, settleChatSpec } from './chat/chat-policy.ts';
import { openChatPolicy } from './chat/checkpoint.ts';
import { readWeights } from './edit/checkpoint.ts';
import { createEditPolicy, type EditPolicy, type NamedInit, openEditPolicy } from './edit/edit-policy.ts';
import type { TrainingPair } from './edit/fit-knowledge.ts';
import { shippedWeights } from './edit/shipped.ts';
import { createIdentityPolicy } from './identity.ts';

export { type BatchPolicy, createBatchPolicy } from './chat/batch/batch-policy.ts';
export { batchService } from './chat/batch/batch-service.ts';
export { type ChatPolicy, createChatPolicy, type SettledChatSpec, settleChatSpec } from './chat/chat-policy.ts';
export { isChatPolicy, openChatPolicy, saveChatPolicy } from './chat/checkpoint.ts';
export { type ChatEstimate, estimateChat } from './chat/estimate.ts';
export type { ChatUsage } from './chat/usage.ts';
export { createEditPolicy, type EditPolicy, type EditPolicyOptions, openEditPolicy } from './edit/edit-policy.ts';
export type { TrainingPair } from './edit/fit-knowledge.ts';
export { chooseFixedSubset, fixedPolicy } from './edit/fixed-policy.ts';
export { OPERATION_NOTES, OPERATIONS, type Operation } from './edit/operations.ts';
export { type ShippedWeights, shippedNotes, shippedWeights } from './edit/shipped.ts';
export { createIdentityPolicy } from './identity.ts';

/** What a driver is fitted on and cannot find itself. */
export interface PolicyContext {
  /** With the original index texts. */
  readonly corpus: Corpus;
  /** The retriever's analyzer; retrievers without one go well with 'english'. */
  readonly analyzer: AnalyzerName;
  /** Of the train split only. */
  readonly trainingPairs: readonly TrainingPair[];
  readonly seed: number;
  /** Opens the policy folder of an experiment's best checkpoint, for `init: PATH`. */
  readonly openExperiment?: (path: string) => Promise<ArtefactReader>;
  /** For policies that are services. */
  readonly services?: ModelServices;
}

/** `init` defaults to zero with training pairs and to shipped without. */
export async function createPolicy(spec: PolicySpec, context: PolicyContext): Promise<Policy | TrainablePolicy> {
  switch (spec.driver) {
    case 'identity':
      return createIdentityPolicy();
    case 'edit':
      return createEditPolicyFrom(spec, context);
    case 'lm':
      return openLanguageModel(spec, context.seed, context.services);
    case 'openai':
    case 'anthropic':
    case 'chat':
      return createChatPolicy(settleChatSpec(spec, context.corpus), context.services ?? {});
    default:
      throw new Error(`unknown policy ${spec satisfies never}`);
  }
}

async function createEditPolicyFrom(
  spec: Extract<PolicySpec, { driver: 'edit' }>,
  context: PolicyContext,
): Promise<EditPolicy> {
  const { corpus, trainingPairs, seed } = context;
  return createEditPolicy({
    corpus,
    trainingPairs,
    seed,
    analyzer: createAnalyzer(context.analyzer),
    operations: spec.operations,
    init: await resolveInit(spec.init ?? (trainingPairs.length > 0 ? 'zero' : 'shipped'), context),
  });
}

async function resolveInit(init: string, context: PolicyContext): Promise<'zero' | 'supervised' | NamedInit> {
  if (init === 'zero' || init === 'supervised') return init;
  if (init === 'shipped') return { name: 'shipped', weights: shippedWeights().weights };
  if (context.openExperiment === undefined) {
    throw new DocOptError('CONFIG', `policy.init '${init}' is none of 'zero', 'supervised', 'shipped'`, {
      hint: "Use 'zero', 'supervised', 'shipped', or the folder of an experiment.",
    });
  }
  return { name: init, weights: await readWeights(await context.openExperiment(init)) };
}

/** The model's weights are read, and its code is loaded, when a policy is made of it. */
async function openLanguageModel(
  spec: Extract<PolicySpec, { driver: 'lm' }>,
  seed: number,
  services?: ModelServices,
): Promise<TrainablePolicy> {
  const [{ createLmPolicy }, { loadModel }, { createOnnxRuntime }] = await Promise.all([
    import('./lm/lm-policy.ts'),
    import('../lm/load-model.ts'),
    import('../runtimes/graph-onnxruntime.ts'),
  ]);
  const runtime = await createOnnxRuntime({ threads: spec.threads });
  return createLmPolicy(spec, await loadModel(spec.path, services), runtime, seed);
}

/** The policy that a checkpoint's policy folder holds, whichever driver wrote it. Throws ARTEFACT. */
export async function openPolicy(artefact: ArtefactReader, services: ModelServices = {}): Promise<Policy> {
  const chat = await openChatPolicy(artefact, services);
  if (chat !== undefined) return chat;
  const driver = artefact.has('policy.json')
    ? (await artefact.readJson<{ driver?: string }>('policy.json')).driver
    : undefined;
  // The edit policy's reader also says what is wrong with a folder that holds none of them.
  if (driver !== 'lm') return openEditPolicy(artefact);
  const { readLmPolicyFile } = await import('./lm/checkpoint.ts');
  const policy = await openLanguageModel((await readLmPolicyFile(artefact)).spec, 0, services);
  await policy.load(artefact);
  return policy;
}
