/** The training library: a policy trained against ranking rewards. `train()` is the whole of it; the rest are its parts. */

export { type Experiment, openExperiment } from '../src/store/experiment.ts';
export { createMemoryExperiment } from '../src/store/memory-experiment.ts';
export type { Baseline, BaselineContext, BaselineTexts } from './baseline.ts';
export type { ExperimentConfig } from './experiment-config.ts';
export { type AdvantageScale, type Advantages, groupAdvantages } from './kernels/advantages.ts';
export {
  type BatchTotals,
  batchTotals,
  type GrpoBatch,
  type GrpoLoss,
  type GrpoOptions,
  grpoLoss,
  type LossAggregation,
} from './kernels/grpo-loss.ts';
export { createGradientLearner, type GradientOptions } from './learners/gradient.ts';
export { runOf } from './measure.ts';
export { type OpenPolicy, openPolicy } from './open-policy.ts';
export { type DrawOptions, PRESETS, type Preset, type TrainOptions, trainOptions } from './options.ts';
export type { RoundEvaluation } from './refresh.ts';
export type { SystemFigures, TrainOutcome, TrainReport } from './report.ts';
export { type Candidates, createRewarder, type Rewarded, type Rewarder, type RewardOptions } from './reward.ts';
export { type RewriteAll, type RewriteAllRequest, rewriteAllWith } from './rollouts.ts';
export type { TrainSetup, TrainSplits } from './session.ts';
export type { CompletionRow, MetricsRow } from './step-rows.ts';
export { train } from './train.ts';
export { joinReports, type SeedsReport, trainSeeds } from './train-seeds.ts';
export { type TrainingQueries, trainingQueries } from './training-queries.ts';
