import { describe, expect, it } from 'vitest';
import { createBm25Retriever } from '../../index/retrievers/bm25.ts';
import { DocOptError } from '../../src/errors.ts';
import type { Log } from '../../src/ports.ts';
import { silentLog } from '../../src/run/log.ts';
import { createMemoryExperiment, type MemoryExperiment } from '../../src/store/memory-experiment.ts';
import { type TrainOptions, trainOptions } from '../../train/options.ts';
import type { TrainReport } from '../../train/report.ts';
import type { TrainSetup } from '../../train/session.ts';
import { train } from '../../train/train.ts';
import { createClassPolicy } from '../support/class-policy.ts';
import { createTrainingWorld } from '../support/training-world.ts';

const retriever = createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'standard', statistics: 'recompute' });
const world = createTrainingWorld(1);

const options = (over: Partial<TrainOptions> = {}): TrainOptions =>
  trainOptions('edit', {
    steps: 12,
    documentsPerStep: 4,
    groupSize: 4,
    indexRefreshRate: 4,
    metrics: ['nDCG@5', 'R@10'],
    ...over,
  });

function setup(over: Partial<TrainSetup> = {}): TrainSetup {
  return {
    ...world,
    retriever,
    policy: createClassPolicy(3, world.candidatesOf, -1),
    options: options(),
    // Times are the only thing that may differ between equal runs: here they stand still.
    now: () => 0,
    ...over,
  };
}

interface Outcome {
  readonly report: TrainReport;
  readonly files: Record<string, string>;
  readonly checkpoints: number[];
}

async function outcome(experiment: MemoryExperiment, report: TrainReport): Promise<Outcome> {
  return { report, files: Object.fromEntries(experiment.files), checkpoints: await experiment.checkpoints() };
}

async function straight(over: Partial<TrainSetup> = {}): Promise<Outcome> {
  const experiment = createMemoryExperiment();
  return outcome(experiment, (await train(setup({ experiment, ...over }))).report);
}

const rows = (text: string): Record<string, number>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('train', () => {
  it('is a function of its seed', async () => {
    const [one, same, other] = [await straight(), await straight(), await straight({ options: options({ seed: 2 }) })];
    expect(same).toEqual(one);
    expect(other.files['metrics.jsonl']).not.toEqual(one.files['metrics.jsonl']);
  });

  it('learns: rewrites of unseen documents rank better than the originals', async () => {
    const { report } = await straight({ options: options({ steps: 60, documentsPerStep: 8, groupSize: 8 }) });
    const { original, zeroShot, trained } = report.metrics['nDCG@5'];
    expect(zeroShot).toBe(original);
    expect(trained!).toBeGreaterThan(original! + 0.05);
    expect(report.unseenDocuments.queries).toBeGreaterThan(0);
    const gain = report.comparisons.find(
      ({ baseline, system, metric }) => baseline === 'original' && system === 'trained' && metric === 'nDCG@5',
    )!;
    expect(gain.delta).toBeCloseTo(trained! - original!, 12);
    expect(gain.p).toBeLessThan(0.05);
    expect(gain.interval[0]).toBeGreaterThan(0);
    expect(gain.n).toBe(world.splits.test.length);
  });

  it('writes one metrics row a step under the names of TRL, with the evaluation of every refresh', async () => {
    const { files, report } = await straight();
    const metrics = rows(files['metrics.jsonl']);
    expect(metrics.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    for (const row of metrics) {
      for (const name of ['reward', 'reward_std', 'frac_reward_zero_std', 'completions/mean_length', 'step_time']) {
        expect(row[name]).toEqual(expect.any(Number));
      }
    }
    expect(metrics.some((row) => row.kl > 0 && row.entropy > 0 && row.clip_ratio === 0)).toBe(true);
    const evaluated = metrics.filter((row) => 'eval/train/nDCG@5' in row && 'eval/dev/nDCG@5' in row);
    expect(evaluated.map(({ step }) => step)).toEqual([4, 8, 12]);
    expect(report.curve.map(({ step }) => step)).toEqual([0, 4, 8, 12]);
    expect(evaluated.map((row) => row['eval/dev/nDCG@5'])).toEqual(report.curve.slice(1).map(({ dev }) => dev));
    expect(evaluated.map((row) => row['eval/train/nDCG@5'])).toEqual(report.curve.slice(1).map(({ train }) => train));
    expect(metrics.at(-1)!.num_tokens).toBe(12 * 4 * 4 * 5);
  });

  it('logs sampled rewrites with their reward and how each query moved', async () => {
    const { files } = await straight();
    const completions = rows(files['completions.jsonl']) as unknown as {
      step: number;
      document: string;
      text: string;
      reward: number;
      moves: { queryId: string; positive: boolean; ndcgBefore: number; ndcgAfter: number }[];
    }[];
    expect(completions.length).toBe(12 * 4 * 4);
    for (const { document, text, moves, reward } of completions) {
      expect(text.startsWith(world.corpus.indexText(world.corpus.positionOf(document)!))).toBe(true);
      const gain = (positive: boolean) => {
        const ours = moves.filter((move) => move.positive === positive);
        return ours.reduce((sum, move) => sum + move.ndcgAfter - move.ndcgBefore, 0) / ours.length;
      };
      expect(reward).toBeCloseTo(gain(true) + gain(false), 12);
    }
  });

  it('keeps the newest checkpoints and the best, and takes the best by dev', async () => {
    const { report, checkpoints } = await straight({ options: options({ steps: 24, keepCheckpoints: 2 }) });
    const best = report.curve.reduce((a, b) => (b.dev! >= a.dev! ? b : a));
    expect(report.checkpoint).toEqual({
      step: best.step,
      chosenBy: 'dev nDCG@5',
      path: expect.stringMatching(/^checkpoints\/step-\d{6}$/),
    });
    expect(checkpoints).toEqual([...new Set([best.step, 20, 24])].sort((a, b) => a - b));
  });

  it('takes the last checkpoint without dev queries', async () => {
    const splits = { ...world.splits, train: [...world.splits.train, ...world.splits.dev], dev: [] };
    const { report, files } = await straight({ splits });
    expect(report.checkpoint).toMatchObject({ step: 12, chosenBy: 'last' });
    expect(report.curve.every(({ dev }) => dev === null)).toBe(true);
    expect(files['metrics.jsonl']).not.toContain('eval/dev');
  });

  it('raises the alarm when training nDCG falls below the original, and does not ship the collapse', async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
    // A policy that is pushed the wrong way: the learner sees every advantage with its sign turned.
    const policy = createClassPolicy(3, world.candidatesOf, 0.2);
    const backwards = {
      ...policy,
      applyGradient: (...[completions, loss, rate]: Parameters<typeof policy.applyGradient>) =>
        policy.applyGradient(
          completions,
          loss.map((row) => row.map((value) => -value)),
          rate,
        ),
    };
    const { report } = await straight({
      policy: backwards,
      log,
      options: options({ steps: 40, learningRate: 0.4, collapseMargin: 0.01 }),
    });
    expect(report.collapseAlarms.length).toBeGreaterThan(0);
    expect(warnings.join('\n')).toMatch(/COLLAPSE at step \d+: training nDCG@5 .* is below the original/);
    expect(report.collapseAlarms).not.toContain(report.checkpoint.step);
    expect(report.checkpoint.step).toBeLessThan(40);
  });

  it('replaces groups without spread when asked to', async () => {
    const plain = rows((await straight()).files['metrics.jsonl']);
    const again = rows((await straight({ options: options({ resample: 3 }) })).files['metrics.jsonl']);
    const silence = (all: Record<string, number>[]) => all.reduce((sum, row) => sum + row.frac_reward_zero_std, 0);
    expect(silence(again)).toBeLessThan(silence(plain));
    expect(again.some((row) => row.resampled_groups > 0)).toBe(true);
  });

  it('measures baselines beside the trained policy', async () => {
    const texts = world.corpus.ids.map((id, i) =>
      [world.corpus.indexText(i), ...world.candidatesOf(id).map(({ word }) => word)].join(' '),
    );
    const { report } = await straight({
      baselines: [
        { name: 'everything', prepare: async () => ({ texts, note: 'all words' }) },
        {
          name: 'chosen on train',
          prepare: async ({ corpus, trainNdcg }) => {
            const plain = corpus.ids.map((_, i) => corpus.indexText(i));
            return { texts: (await trainNdcg(texts)) > (await trainNdcg(plain)) ? texts : plain };
          },
        },
        {
          name: 'english',
          prepare: async () => ({
            retriever: createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' }),
          }),
        },
      ],
    });
    expect(Object.keys(report.baselines)).toEqual(['everything', 'chosen on train', 'english']);
    expect(report.baselines.everything.note).toBe('all words');
    expect(report.baselines['chosen on train']['nDCG@5']).toBe(report.baselines.everything['nDCG@5']);
    expect(report.baselineComparisons.map(({ baseline }) => baseline)).toContain('english');
  });
});

class Died extends Error {}

/** An experiment whose process dies at its n-th write; what was written before stays. */
function mortal(inner: MemoryExperiment, writes: number): MemoryExperiment {
  let left = writes;
  const guard = <A extends unknown[], R>(write: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (left-- <= 0) throw new Died();
      return write(...args);
    };
  };
  return {
    ...inner,
    appendRows: guard(inner.appendRows),
    saveCheckpoint: guard(inner.saveCheckpoint),
    removeCheckpoint: guard(inner.removeCheckpoint),
    writeFile: guard(inner.writeFile),
  };
}

describe('a run that died', () => {
  it('continues to the identical series, wherever it died', async () => {
    const over = { options: options({ checkpointEvery: 3 }) };
    const whole = await straight(over);
    let deaths = 0;
    for (let writes = 0; ; writes++) {
      const experiment = createMemoryExperiment();
      try {
        await train(setup({ ...over, experiment: mortal(experiment, writes) }));
        break;
      } catch (error) {
        if (!(error instanceof Died)) throw error;
        deaths++;
      }
      const { report } = await train(setup({ ...over, experiment, resume: true }));
      const resumed = await outcome(experiment, report);
      expect(resumed.files).toEqual(whole.files);
      expect(resumed.report).toEqual(whole.report);
      expect(resumed.checkpoints.at(-1)).toBe(12);
    }
    expect(deaths).toBeGreaterThan(30);
  }, 60_000);

  it('may die again and again', async () => {
    const whole = await straight();
    const experiment = createMemoryExperiment();
    let report: TrainReport | undefined;
    for (let life = 0; report === undefined; life++) {
      expect(life).toBeLessThan(20);
      try {
        ({ report } = await train(setup({ experiment: mortal(experiment, 11), resume: true })));
      } catch (error) {
        if (!(error instanceof Died)) throw error;
      }
    }
    expect((await outcome(experiment, report)).files).toEqual(whole.files);
  });
});

describe('an interrupted run', () => {
  it.each([0, 1, 5, 11, 17, 22])(
    'stops between updates and continues to the identical series (after %i searches)',
    async (searches) => {
      const whole = await straight();
      const experiment = createMemoryExperiment();
      const controller = new AbortController();
      let count = 0;
      const interrupting = {
        ...retriever,
        build: async (corpus: Parameters<typeof retriever.build>[0]) => {
          const index = await retriever.build(corpus);
          const tick = () => {
            if (count++ === searches) controller.abort();
          };
          return {
            size: index.size,
            search: (...args: Parameters<typeof index.search>) => {
              tick();
              return index.search(...args);
            },
            similarities: index.similarities.bind(index),
            searchReplacing: (...args: Parameters<typeof index.searchReplacing>) => {
              tick();
              return index.searchReplacing(...args);
            },
            save: index.save.bind(index),
          };
        },
      };
      const error = await train(setup({ experiment, retriever: interrupting, signal: controller.signal })).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(controller.signal.aborted).toBe(true);
      expect(error).toBeInstanceOf(DocOptError);
      expect((error as DocOptError).code).toBe('INTERRUPTED');
      expect((error as DocOptError).hint).toContain('resume');
      const { report } = await train(setup({ experiment, resume: true }));
      expect((await outcome(experiment, report)).files).toEqual(whole.files);
    },
  );
});

describe('refusals', () => {
  const codeOf = async (run: Promise<unknown>): Promise<[string, string]> => {
    const error = await run.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(DocOptError);
    return [(error as DocOptError).code, (error as DocOptError).message];
  };

  it('a folder that holds a training is not overwritten', async () => {
    const experiment = createMemoryExperiment();
    await train(setup({ experiment }));
    expect(await codeOf(train(setup({ experiment })))).toEqual(['USAGE', expect.stringContaining('already holds')]);
  });

  it('a run resumes with the settings and the data that it began with', async () => {
    const experiment = createMemoryExperiment();
    await train(setup({ experiment }));
    const resume = (over: Partial<TrainSetup>) => codeOf(train(setup({ experiment, resume: true, ...over })));
    expect(await resume({ options: options({ beta: 0.5 }) })).toEqual([
      'CONFIG',
      expect.stringMatching(/beta 0\.02, not 0\.5/),
    ]);
    const splits = { ...world.splits, test: world.splits.test.slice(1) };
    expect(await resume({ splits })).toEqual(['CONFIG', expect.stringContaining('splits')]);
    // What no step depends on may change.
    await train(setup({ experiment, resume: true, options: options({ metrics: ['RR'] }) }));
  });

  it('queries in two parts, unknown queries, no training queries', async () => {
    const splits = (over: Partial<typeof world.splits>) => setup({ splits: { ...world.splits, ...over } });
    expect(await codeOf(train(splits({ dev: ['q0'] })))).toEqual([
      'DATA',
      expect.stringContaining("'q0' is in the train"),
    ]);
    expect(await codeOf(train(splits({ test: ['nope'] })))).toEqual(['DATA', expect.stringContaining("'nope'")]);
    expect(await codeOf(train(splits({ train: [] })))).toEqual([
      'DATA',
      expect.stringContaining('no training queries'),
    ]);
  });

  it('nothing to train on', async () => {
    const one = { ...world.splits, train: ['q1'], dev: [], test: ['q3'] };
    expect(await codeOf(train(setup({ splits: one })))).toEqual([
      'DATA',
      expect.stringContaining('no document has both'),
    ]);
    expect(await codeOf(train(setup({ policy: undefined })))).toEqual([
      'USAGE',
      expect.stringContaining('nothing to train'),
    ]);
  });
});
