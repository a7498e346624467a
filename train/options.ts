/** Every setting of a training, flat and named as on the command line, with the three sets of defaults. */
import { DocOptError } from '../src/errors.ts';
import { parseMeasures } from '../src/metrics/mod.ts';
import type { Sampling } from '../src/types.ts';
import type { AdvantageScale } from './kernels/advantages.ts';
import type { LossAggregation } from './kernels/grpo-loss.ts';
import type { RewardTies } from './kernels/reward.ts';
import type { LearningRateSchedule } from './kernels/schedule.ts';

export interface TrainOptions {
  readonly seed: number;
  /** GRPO updates. */
  readonly steps: number;
  readonly documentsPerStep: number;
  /** Rewrites per document, G. */
  readonly groupSize: number;
  readonly learningRate: number;
  readonly schedule: LearningRateSchedule;
  readonly warmupSteps: number;
  /** Updates between two rewrites of the whole collection, T_refresh. */
  readonly indexRefreshRate: number;

  /** What a rewrite earns (Table 6). */
  readonly reward: 'ranking' | 'similarity' | 'hybrid';
  /** k of the reward's nDCG@k. */
  readonly rewardK: number;
  readonly rewardTies: RewardTies;
  /** Documents without positive or negative queries: left out, or the missing mean counts 0. */
  readonly emptySet: 'skip' | 'zero';
  /** How negative queries are found (Table 7). */
  readonly negatives: 'hard' | 'random' | 'none';
  readonly negativesPerDocument: number;
  /** How often a step may replace its groups without spread by other documents'. */
  readonly resample: number;

  readonly scaleRewards: AdvantageScale;
  readonly loss: LossAggregation;
  readonly clipLow: number;
  readonly clipHigh: number;
  /** Weight of the KL to the anchor. */
  readonly beta: number;
  readonly klAnchor: 'initial' | 'round';
  /** Updates per batch of rollouts; the paper makes one. */
  readonly iterations: number;
  /** Completions whose log-probs are computed at once; 0 = all. The update is the same whatever it is (but for bnpo). */
  readonly microBatch: number;

  /** How rollouts are drawn. */
  readonly rollout: DrawOptions;
  /** How the collection is rewritten for the index: cooler. */
  readonly indexing: DrawOptions;

  /** Measures of the report, ir_measures syntax. */
  readonly metrics: readonly string[];
  /** Depth of the saved runs. */
  readonly runDepth: number;
  /** Steps between checkpoints; 0 = at every refresh. */
  readonly checkpointEvery: number;
  /** How many of the newest checkpoints stay, beside the best. */
  readonly keepCheckpoints: number;
  /** Alarm when training nDCG at a refresh is this much below that of the original texts. */
  readonly collapseMargin: number;
  /** Documents per step whose rewrites go to completions.jsonl. */
  readonly loggedDocuments: number;
}

export type DrawOptions = Omit<Sampling, 'samples' | 'seed'>;

export type Preset = 'edit' | 'lm' | 'api' | 'paper' | 'trl';

const EDIT: TrainOptions = {
  seed: 1,
  steps: 150,
  documentsPerStep: 16,
  groupSize: 8,
  learningRate: 0.1,
  schedule: 'linear',
  warmupSteps: 0,
  // The edit policy moves fast: at 50 one run collapsed (docs/paper-map.md).
  indexRefreshRate: 10,
  reward: 'ranking',
  rewardK: 5,
  rewardTies: 'order',
  emptySet: 'skip',
  negatives: 'hard',
  negativesPerDocument: 5,
  resample: 0,
  scaleRewards: 'group',
  loss: 'dapo',
  clipLow: 0.2,
  clipHigh: 0.2,
  beta: 0.02,
  klAnchor: 'initial',
  iterations: 1,
  microBatch: 0,
  rollout: { temperature: 1 },
  // Temperature 0: the most likely rewrite, which for an untrained edit policy is the original.
  indexing: { temperature: 0 },
  metrics: ['nDCG@5', 'nDCG@10', 'R@100'],
  runDepth: 1000,
  checkpointEvery: 0,
  keepCheckpoints: 2,
  collapseMargin: 0.05,
  loggedDocuments: 4,
};

/** DocOpt A.3 and A.5.1: batch 32 = 4 documents of 8 rewrites. */
const PAPER: TrainOptions = {
  ...EDIT,
  documentsPerStep: 4,
  learningRate: 1e-5,
  indexRefreshRate: 50,
  beta: 0.1,
  rollout: { temperature: 0.7, topP: 0.8, topK: 20, maxNewTokens: 1024 },
  indexing: { temperature: 0.3, topP: 0.9, topK: 30, repetitionPenalty: 1.1, maxNewTokens: 4096 },
  keepCheckpoints: 1,
};

/** An adapter on a small local model: higher rates than all weights bear, short answers, greedy texts in the index. */
const LM: TrainOptions = {
  ...PAPER,
  learningRate: 1e-4,
  schedule: 'constant',
  indexRefreshRate: 25,
  beta: 0.02,
  resample: 1,
  rollout: { temperature: 1, topP: 0.95, maxNewTokens: 64 },
  indexing: { temperature: 0, maxNewTokens: 64 },
};

export const PRESETS: Readonly<Record<Preset, TrainOptions>> = {
  edit: EDIT,
  lm: LM,
  paper: PAPER,
  // Every rewrite is paid for: few steps of small groups, and lessons that move in large strides.
  api: { ...PAPER, steps: 12, documentsPerStep: 8, groupSize: 4, indexRefreshRate: 4 },
  // What TRL's GRPOTrainer does unless told otherwise.
  trl: { ...PAPER, learningRate: 1e-6, beta: 0, rollout: { temperature: 1, maxNewTokens: 256 } },
};

/** Every default that depends on the preset, in words: '0.1; lm: 1e-4, paper: 1e-5, trl: 1e-6'. */
export function presetDefaults(): Record<string, string> {
  const shown = (value: unknown): string => {
    if (typeof value === 'number') return value !== 0 && value < 1e-3 ? value.toExponential() : String(value);
    if (typeof value !== 'object' || value === null) return String(value);
    return Object.entries(value)
      .map(([key, inner]) => `${key} ${inner}`)
      .join(' ');
  };
  return Object.fromEntries(
    Object.entries(EDIT).map(([key, value]) => {
      const own = shown(value);
      const others = (['lm', 'api', 'paper', 'trl'] as const).flatMap((preset) => {
        const other = shown(PRESETS[preset][key as keyof TrainOptions]);
        return other === own ? [] : [`${preset}: ${other}`];
      });
      return [key, others.length === 0 ? own : `${own}; ${others.join('; ')}`];
    }),
  );
}

/** Settings to change; of `rollout` and `indexing`, single values. */
export type TrainChanges = Partial<Omit<TrainOptions, 'rollout' | 'indexing'>> & {
  readonly rollout?: Partial<DrawOptions>;
  readonly indexing?: Partial<DrawOptions>;
};

function defined<T extends object>(values: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** A preset with some settings changed; undefined keeps the preset's. Throws CONFIG on values that cannot work. */
export function trainOptions(preset: Preset, changes: TrainChanges = {}): TrainOptions {
  const base = PRESETS[preset];
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const options: TrainOptions = {
    ...base,
    ...Object.fromEntries(given),
    rollout: { ...base.rollout, ...defined(changes.rollout) },
    indexing: { ...base.indexing, ...defined(changes.indexing) },
  };
  const positive: (keyof TrainOptions)[] = [
    'steps',
    'documentsPerStep',
    'indexRefreshRate',
    'rewardK',
    'iterations',
    'keepCheckpoints',
    'runDepth',
  ];
  for (const key of positive) check(Number.isInteger(options[key]) && (options[key] as number) >= 1, key, 'at least 1');
  check(Number.isInteger(options.groupSize) && options.groupSize >= 2, 'groupSize', 'at least 2: one has no spread');
  check(options.learningRate > 0, 'learningRate', 'above 0');
  check(options.beta >= 0, 'beta', 'at least 0');
  check(options.clipLow > 0 && options.clipLow < 1, 'clipLow', 'between 0 and 1');
  check(options.clipHigh > 0, 'clipHigh', 'above 0');
  check(options.metrics.length > 0, 'metrics', 'at least one measure');
  parseMeasures(options.metrics); // Said now, not after the training.
  return options;

  function check(holds: boolean, key: keyof TrainOptions, expected: string): void {
    if (holds) return;
    throw new DocOptError('CONFIG', `${key} is ${JSON.stringify(options[key])}, expected ${expected}`, {
      hint: `Change ${key} on the command line, in the configuration, or in the environment.`,
    });
  }
}

/** Whether documents need negative queries at all. */
export function usesNegatives(options: Pick<TrainOptions, 'negatives' | 'negativesPerDocument'>): boolean {
  return options.negatives !== 'none' && options.negativesPerDocument > 0;
}
