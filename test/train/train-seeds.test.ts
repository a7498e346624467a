import { describe, expect, it } from 'vitest';
import { createBm25Retriever } from '../../index/retrievers/bm25.ts';
import { trainOptions } from '../../train/options.ts';
import type { TrainOutcome } from '../../train/report.ts';
import { train } from '../../train/train.ts';
import { trainSeeds } from '../../train/train-seeds.ts';
import { createClassPolicy } from '../support/class-policy.ts';
import { createTrainingWorld } from '../support/training-world.ts';

const retriever = createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'standard', statistics: 'recompute' });
const world = createTrainingWorld(2);
const trainOne = (seed: number) =>
  train({
    ...world,
    retriever,
    policy: createClassPolicy(3, world.candidatesOf, -0.3),
    options: trainOptions('edit', {
      seed,
      steps: 8,
      documentsPerStep: 4,
      indexRefreshRate: 4,
      indexing: { temperature: 1 },
      metrics: ['nDCG@5'],
    }),
    // Differs from seed to seed: some documents left blank.
    baselines: [
      {
        name: 'thinned',
        prepare: async ({ corpus }) => ({
          texts: corpus.ids.map((_, i) => (i % (seed + 1) === 0 ? '' : corpus.indexText(i))),
          note: `seed ${seed}`,
        }),
      },
    ],
    now: () => 0,
  });

describe('trainSeeds', () => {
  it('reports mean and sample deviation, the runs, and the checkpoint with the best dev figure', async () => {
    const outcomes: TrainOutcome[] = [];
    const report = await trainSeeds([3, 1, 2], async (seed) => {
      const outcome = await trainOne(seed);
      outcomes.push(outcome);
      return outcome;
    });
    const trained = outcomes.map((outcome) => outcome.report.metrics['nDCG@5'].trained!);
    const mean = trained.reduce((a, b) => a + b) / 3;
    expect(new Set(trained).size).toBeGreaterThan(1);
    expect(report.metrics['nDCG@5'].trained).toBeCloseTo(mean, 12);
    expect(report.deviations['nDCG@5'].trained).toBeCloseTo(
      Math.sqrt(trained.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2),
      12,
    );
    expect(report.deviations['nDCG@5'].original).toBeCloseTo(0, 12);
    // Every row has its figures, seed by seed, and its own mean and deviation.
    expect(report.perSeed['nDCG@5']).toMatchObject({
      trained,
      original: expect.any(Array),
      thinned: expect.any(Array),
    });
    const beside = outcomes.map((outcome) => outcome.report.baselines.thinned['nDCG@5'] as number);
    expect(report.perSeed['nDCG@5'].thinned).toEqual(beside);
    const besideMean = beside.reduce((a, b) => a + b) / 3;
    expect(report.baselines.thinned['nDCG@5']).toBeCloseTo(besideMean, 12);
    expect(report.baselineDeviations.thinned['nDCG@5']).toBeCloseTo(
      Math.sqrt(beside.reduce((sum, value) => sum + (value - besideMean) ** 2, 0) / 2),
      12,
    );
    expect(report.baselines.thinned.note).toBe('seed 3; seed 1; seed 2');
    expect(report.baselineComparisons[0]).toMatchObject({ baseline: 'thinned', n: world.splits.test.length });
    expect(report.baselineComparisons[0].delta).toBeCloseTo(mean - besideMean, 12);
    expect(report.seeds).toEqual([3, 1, 2]);
    expect(report.runs.map(({ folder }) => folder)).toEqual(['seed-3', 'seed-1', 'seed-2']);
    const dev = outcomes.map(
      ({ report: { curve, checkpoint } }) => curve.find(({ step }) => step === checkpoint.step)!.dev!,
    );
    const best = dev.indexOf(Math.max(...dev));
    expect(report.checkpoint.path).toBe(`seed-${[3, 1, 2][best]}/${outcomes[best].report.checkpoint.path}`);
  });

  it('counts a query once, whatever the number of seeds', async () => {
    const report = await trainSeeds([1, 2], trainOne);
    const gain = report.comparisons.find(({ baseline, system }) => baseline === 'original' && system === 'trained')!;
    expect(gain.n).toBe(world.splits.test.length);
    expect(gain.delta).toBeCloseTo(report.metrics['nDCG@5'].trained! - report.metrics['nDCG@5'].original!, 12);
  });

  it('refuses the same seed twice', async () => {
    await expect(trainSeeds([1, 1], trainOne)).rejects.toThrow('--seeds 1,1');
  });
});
