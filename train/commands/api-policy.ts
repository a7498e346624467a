/** A chat model behind an API as what is trained: which learner, how the collection is rewritten, what it has cost. */
import { rewriteBatch } from '../../rewrite/mod.ts';
import type { Dataset, Splits } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { type ChatPolicy, estimateChat, saveChatPolicy } from '../../src/models/policies/mod.ts';
import { type ModelServices, wireOf } from '../../src/models/services.ts';
import type { Learner } from '../../src/ports.ts';
import type { IndexText, Sampling } from '../../src/types.ts';
import { createBestOfGLearner } from '../learners/best-of-g.ts';
import { createExperienceLearner } from '../learners/experience.ts';
import { createFrozenLearner } from '../learners/frozen.ts';
import type { RewriteAll } from '../rollouts.ts';
import type { TrainSettings } from './settings.ts';

export type ApiLearnerName = 'zero-shot' | 'best-of-g' | 'experience';

/** The learner of a policy without weights. Throws USAGE for one that needs them. */
export function apiLearnerName(named: TrainSettings['learner']): ApiLearnerName {
  if (named !== 'gradient') return named ?? 'experience';
  throw new DocOptError('USAGE', 'the learner gradient needs weights, and a chat model behind an API has none here', {
    hint: 'Take --learner experience, best-of-g or zero-shot.',
  });
}

export function apiLearner(
  name: ApiLearnerName,
  policy: ChatPolicy,
  { queries }: Dataset,
  { train }: Splits,
  seed: number,
): Learner {
  switch (name) {
    case 'zero-shot':
      return createFrozenLearner({
        id: policy.id,
        generate: (prompts, sampling) => policy.generate(prompts, sampling),
        save: (artefact) => saveChatPolicy(artefact, policy),
      });
    case 'best-of-g':
      return createBestOfGLearner(policy, {
        system: policy.system,
        savePolicy: (artefact) => saveChatPolicy(artefact, policy),
      });
    case 'experience': {
      // Of the training queries only: whatever else there is never comes near a prompt.
      const wanted = new Set(train);
      const texts = new Map(queries.filter(({ id }) => wanted.has(id)).map(({ id, text }) => [id, text]));
      return createExperienceLearner(policy, {
        seed,
        queryText: (id) => texts.get(id) ?? '',
        protectedTexts: texts.values(),
        savePolicy: (artefact, now) => saveChatPolicy(artefact, now as ChatPolicy),
      });
    }
    default:
      throw new Error(`unknown learner ${name satisfies never}`);
  }
}

/** What `rewrite-corpus` does by default; a training must index what its product will hold. */
const GUARDS = {
  onEmpty: 'keep',
  onOverlong: 'keep',
  onDropped: 'keep',
  onTruncated: 'retry',
  onRefused: 'keep',
  maxGrowth: 10,
  minKept: 0.5,
} as const;
const BATCH = 256;

/**
 * The whole collection under the guards of `rewrite-corpus`, from one seed at every refresh: as long as the policy is the
 * same, its answers are on record and cost nothing. With `only`, documents outside of it keep what they were given by the
 * policy as it was configured.
 */
export function guardedRewriteAll(base: ChatPolicy, seed: number, only?: ReadonlySet<string>): RewriteAll {
  let untrained: Promise<string[]> | undefined;
  return async (request) => {
    if (only === undefined) return rewriteEach(request, () => true);
    untrained ??= rewriteEach({ ...request, policy: base }, () => true);
    const before = await untrained.catch((error) => {
      untrained = undefined;
      throw error;
    });
    const now = await rewriteEach(request, (id) => only.has(id));
    return before.map((text, i) => (only.has(request.corpus.ids[i]) ? now[i] : text));
  };

  async function rewriteEach(
    { policy, corpus, sampling, signal, onProgress }: Parameters<RewriteAll>[0],
    wanted: (id: string) => boolean,
  ): Promise<string[]> {
    const texts = Array.from({ length: corpus.size }, (_, i) => corpus.indexText(i));
    const open = corpus.ids.flatMap((id, i) => (wanted(id) ? [i] : []));
    for (let start = 0; start < open.length; start += BATCH) {
      signal?.throwIfAborted();
      const part = open.slice(start, start + BATCH);
      const sources = part.map((i): IndexText => ({ id: corpus.ids[i], text: texts[i] }));
      const rewrites = await rewriteBatch(sources, {
        policy,
        sampling: { ...sampling, seed },
        guards: GUARDS,
        retries: 1,
      });
      rewrites.forEach(({ text }, i) => {
        texts[part[i]] = text;
      });
      onProgress?.(part.length);
    }
    return texts;
  }
}

/** Documents that a training or dev query judges relevant: the others' texts teach nothing and choose nothing. */
export function documentsWithQueries({ qrels }: Dataset, { train, dev }: Splits): Set<string> {
  const found = new Set<string>();
  for (const id of [...train, ...dev]) {
    for (const [document, grade] of qrels.get(id) ?? []) if (grade > 0) found.add(document);
  }
  return found;
}

/** Words of thought about a group, and of changes to a library, in tokens out; both in about four times as many. */
const REFLECTION_TOKENS = 120;

export interface TrainingEstimate {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd?: number;
}

/** Rewrites of the collection, rollouts, and what the learner asks beside them. */
export async function estimateTraining(
  policy: ChatPolicy,
  { corpus }: Dataset,
  { options }: TrainSettings,
  counts: { readonly rewrittenDocuments: number; readonly rollouts: number; readonly reflections: number },
  services: ModelServices,
): Promise<TrainingEstimate> {
  const price = policy.price(await wireOf(services));
  function* texts(): Generator<IndexText> {
    for (let i = 0; i < corpus.size; i++) yield { id: corpus.ids[i], text: corpus.indexText(i) };
  }
  const sampling: Sampling = { ...options.indexing, samples: 1, seed: 1 };
  const once = await estimateChat(policy, texts(), sampling, price);
  // Documents are drawn evenly: a rollout is an average rewrite.
  const times = (counts.rewrittenDocuments + counts.rollouts) / Math.max(1, corpus.size);
  const inputTokens = Math.round(once.inputTokens * times + 5 * REFLECTION_TOKENS * counts.reflections);
  const outputTokens = Math.round(once.outputTokens * times + REFLECTION_TOKENS * counts.reflections);
  return {
    requests: counts.rewrittenDocuments + counts.rollouts + counts.reflections,
    inputTokens,
    outputTokens,
    ...(price === undefined ? {} : { usd: (inputTokens * price.input + outputTokens * price.output) / 1e6 }),
  };
}
