/** The loop with what it is for: the embedded edit policy, real BM25, a small code collection. */
import { describe, expect, it } from 'vitest';
import { createBm25Retriever } from '../../index/retrievers/bm25.ts';
import { splitQueries } from '../../src/data/mod.ts';
import { createPolicy } from '../../src/models/policies/mod.ts';
import type { TrainablePolicy } from '../../src/ports.ts';
import { createMemoryExperiment } from '../../src/store/memory-experiment.ts';
import { editBaselines } from '../../train/commands/edit-baselines.ts';
import { trainingPairs } from '../../train/commands/policy.ts';
import { trainOptions } from '../../train/options.ts';
import type { TrainSetup } from '../../train/session.ts';
import { train } from '../../train/train.ts';
import { createSnippets } from '../support/snippets.ts';

const { corpus, queries, qrels } = createSnippets();
const splits = splitQueries(queries, qrels, { train: 0.5, dev: 0.25, seed: 1 });
const retriever = createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' });

async function setup(over: Partial<TrainSetup> = {}): Promise<TrainSetup> {
  const dataset = { name: 'snippets', path: '', corpus, queries, qrels, qrelsBySplit: {} };
  const policy = (await createPolicy(
    { driver: 'edit' },
    { corpus, analyzer: 'english', trainingPairs: trainingPairs(dataset, splits), seed: 1 },
  )) as TrainablePolicy;
  const options = trainOptions('edit', { steps: 20, documentsPerStep: 8, indexRefreshRate: 5, metrics: ['nDCG@5'] });
  return { corpus, queries, qrels, splits, retriever, policy, options, now: () => 0, ...over };
}

describe('the edit policy', () => {
  it('starts from the originals, and is better than they are after training', async () => {
    const { report } = await train(await setup());
    const { original, zeroShot, trained } = report.metrics['nDCG@5'];
    expect(zeroShot).toBe(original);
    expect(trained!).toBeGreaterThan(original! + 0.1);
  });

  it('goes on after an interruption to the identical series', async () => {
    const straight = createMemoryExperiment();
    const whole = await train(await setup({ experiment: straight }));
    const broken = createMemoryExperiment();
    const controller = new AbortController();
    const stopping = {
      ...broken,
      appendRows: async (name: string, rows: readonly { step: number }[]) => {
        await broken.appendRows(name, rows);
        if (rows[0]?.step === 7) controller.abort();
      },
    };
    await expect(train(await setup({ experiment: stopping, signal: controller.signal }))).rejects.toThrow(
      'interrupted after step 7',
    );
    const resumed = await train(await setup({ experiment: broken, resume: true }));
    expect(Object.fromEntries(broken.files)).toEqual(Object.fromEntries(straight.files));
    expect(resumed.report).toEqual(whole.report);
  });

  it('is measured beside fixed choices of the same edits, and without each operation', async () => {
    const operations = ['title', 'abbr', 'trans'] as const;
    const { report } = await train(await setup({ baselines: editBaselines(operations) }));
    expect(Object.keys(report.baselines)).toEqual([
      'allEdits',
      'bestFixedSubset',
      'tableAlone',
      'without:title',
      'without:abbr',
      'without:trans',
    ]);
    expect(report.baselines.bestFixedSubset.note).toMatch(/chosen on train/);
    expect(report.baselineComparisons.map(({ baseline }) => baseline)).toEqual([
      'allEdits',
      'bestFixedSubset',
      'tableAlone',
    ]);
  });
});
