/** Options of `docopt train`. */
import { z } from 'zod';
import {
  data,
  devShare,
  documentText,
  dryRun,
  network,
  option,
  out,
  path,
  policy,
  resume,
  retriever,
  seed,
  splitSeed,
  trainShare,
} from '../options.ts';

const count = z.int().min(1);

/** How completions are drawn; what is left out keeps the preset's value. */
const draw = z
  .strictObject({
    temperature: z.number().min(0).max(10).optional(),
    topP: z.number().gt(0).lte(1).optional(),
    topK: z.int().min(0).optional(),
    repetitionPenalty: z.number().gt(0).optional(),
    presencePenalty: z.number().optional(),
    stop: z.array(z.string().min(1)).optional(),
    maxNewTokens: count.optional(),
  })
  .optional();

export const trainSchema = z.strictObject({
  data: data(),
  retriever: retriever(),
  policy: policy(),
  out: out('the experiment'),
  preset: option(z.enum(['edit', 'lm', 'api', 'paper', 'trl']).optional(), {
    help: 'defaults of the settings below (default: by the policy, lm, api or edit)',
    value: 'edit|lm|api|paper|trl',
  }),
  learner: option(z.enum(['gradient', 'zero-shot', 'best-of-g', 'experience']).optional(), {
    help: 'how it learns (default: gradient; for chat models behind an API, experience)',
    value: 'NAME',
  }),
  refresh: option(z.strictObject({ scope: z.enum(['all', 'training']).optional() }).optional(), {
    help: 'which documents a chat model rewrites at a refresh: --set refresh.scope=training',
    value: 'JSON',
  }),
  steps: option(count.optional(), { help: 'GRPO steps', value: 'N' }),
  documentsPerStep: option(count.optional(), { help: 'documents sampled per step', value: 'N' }),
  groupSize: option(z.int().min(2).optional(), { help: 'rewrites per document, G', value: 'G' }),
  learningRate: option(z.number().gt(0).optional(), { help: 'step size', value: 'LR' }),
  schedule: option(z.enum(['linear', 'constant', 'cosine']).optional(), {
    help: 'learning-rate schedule',
    value: 'NAME',
  }),
  beta: option(z.number().min(0).optional(), { help: 'weight of the KL to the anchor', value: 'BETA' }),
  klAnchor: option(z.enum(['initial', 'round']).default('initial'), {
    help: 'what the KL is measured against',
    value: 'initial|round',
  }),
  indexRefreshRate: option(count.optional(), { help: 'steps between index refreshes', value: 'T' }),
  loss: option(z.enum(['grpo', 'dapo', 'dr_grpo', 'bnpo']).optional(), {
    help: 'aggregation of the token losses',
    value: 'NAME',
  }),
  clipLow: option(z.number().gt(0).lt(1).default(0.2), { help: 'lower clip of the ratio', value: 'EPS' }),
  clipHigh: option(z.number().gt(0).default(0.2), { help: 'upper clip of the ratio', value: 'EPS' }),
  scaleRewards: option(z.enum(['group', 'batch', 'none']).default('group'), {
    help: 'advantage scaling',
    value: 'NAME',
  }),
  reward: option(z.enum(['ranking', 'similarity', 'hybrid']).default('ranking'), {
    help: 'reward (DocOpt Table 6)',
    value: 'NAME',
  }),
  rewardK: option(count.default(5), { help: 'k of the reward nDCG@k', value: 'K' }),
  rewardTies: option(z.enum(['order', 'pessimistic']).default('order'), {
    help: 'how a tie with the swapped document counts',
    value: 'NAME',
  }),
  emptySet: option(z.enum(['skip', 'zero']).default('skip'), {
    help: 'documents without positives or negatives',
    value: 'skip|zero',
  }),
  negatives: option(z.enum(['hard', 'random', 'none']).default('hard'), {
    help: 'negative queries (DocOpt Table 7)',
    value: 'NAME',
  }),
  negativesPerDocument: option(z.int().min(0).default(5), { help: 'negative queries per document', value: 'N' }),
  train: trainShare(),
  dev: devShare(),
  splitSeed: splitSeed(),
  by: option(z.enum(['query', 'document']).default('query'), {
    help: 'split queries, or groups that share documents',
    value: 'query|document',
  }),
  metrics: option(z.array(z.string()).default(['nDCG@5', 'nDCG@10', 'R@100']), {
    help: 'measures of the report',
    value: '"M M"',
  }),
  baselines: option(z.boolean().default(true), { help: 'also measure the fixed baselines and ablations' }),
  init: option(path.optional(), {
    help: 'starting weights of the edit policy: zero, supervised, shipped, or an EXPERIMENT',
    value: 'INIT',
  }),
  seed: seed(),
  seeds: option(
    z
      .array(
        z
          .int()
          .min(0)
          .max(2 ** 32 - 1),
      )
      .min(1)
      .optional(),
    {
      help: 'several seeds, mean and deviation: 1,2,3',
      value: 'LIST',
    },
  ),
  warmupSteps: option(z.int().min(0).optional(), { help: 'steps of linear warm-up', value: 'N' }),
  iterations: option(count.optional(), { help: 'updates per batch of rollouts', value: 'N' }),
  microBatch: option(z.int().min(0).optional(), {
    help: 'completions whose log-probs are computed at once; 0 = all',
    value: 'N',
  }),
  resample: option(z.int().min(0).optional(), {
    help: 'how often groups without spread are replaced by other documents',
    value: 'N',
  }),
  rollout: option(draw, { help: 'how rollouts are drawn: --set rollout.temperature=1', value: 'JSON' }),
  indexing: option(draw, { help: 'how the corpus is rewritten for the index', value: 'JSON' }),
  keepCheckpoints: option(count.optional(), { help: 'newest checkpoints that stay, beside the best', value: 'N' }),
  collapseMargin: option(z.number().min(0).optional(), {
    help: 'alarm when training nDCG is this much below the original',
    value: 'X',
  }),
  loggedDocuments: option(z.int().min(0).optional(), {
    help: 'documents a step whose rewrites are logged',
    value: 'N',
  }),
  checkpointEvery: option(count.optional(), { help: 'steps between checkpoints', value: 'N' }),
  documentText: documentText(),
  resume: resume(),
  dryRun: dryRun(),
  ...network(),
});
