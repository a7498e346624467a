/** Learning rates over a training. */
export type LearningRateSchedule = 'constant' | 'linear' | 'cosine';

export interface ScheduleOptions {
  readonly learningRate: number;
  readonly schedule: LearningRateSchedule;
  readonly warmupSteps: number;
  readonly steps: number;
}

/** Rate of the update after `done` finished ones: linear warm-up from 0, then constant or decay that would reach 0 at `steps`. */
export function learningRateAt(done: number, options: ScheduleOptions): number {
  const { learningRate, schedule, warmupSteps, steps } = options;
  if (done < warmupSteps) return (learningRate * (done + 1)) / (warmupSteps + 1);
  const span = Math.max(1, steps - warmupSteps);
  const progress = Math.min(1, (done - warmupSteps) / span);
  switch (schedule) {
    case 'constant':
      return learningRate;
    case 'linear':
      return learningRate * (1 - progress);
    case 'cosine':
      return learningRate * 0.5 * (1 + Math.cos(Math.PI * progress));
    default:
      return schedule satisfies never;
  }
}
