/** `docopt train` in child processes: what it leaves, several seeds, refusals. Deaths and interruptions are in interrupt.test.ts. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { run, runJson, tempFolder } from '../support/cli.ts';
import { writeSnippets } from '../support/snippets.ts';

const cwd = tempFolder('train-');
const settings = ['--index-refresh-rate', '5', '--documents-per-step', '8', '--metrics', 'nDCG@5'];
const trainFor = (steps: number, out: string, ...more: string[]): string[] => [
  'docopt',
  'train',
  '--data',
  'data',
  '--retriever',
  'bm25',
  '--policy',
  'edit',
  '--no-baselines',
  '--out',
  out,
  '--steps',
  String(steps),
  ...settings,
  ...more,
];
const train = (out: string, ...more: string[]): string[] => trainFor(30, out, ...more);

const read = (path: string): string => readFileSync(join(cwd, path), 'utf8');
/** The series without its times. */
const series = (out: string): unknown[] =>
  read(`${out}/metrics.jsonl`)
    .trimEnd()
    .split('\n')
    .map((line) => ({ ...JSON.parse(line), step_time: 0 }));
const figures = (out: string): unknown => {
  const { metrics, curve, checkpoint, comparisons, unseenDocuments } = JSON.parse(read(`${out}/report.json`));
  return { metrics, curve, checkpoint, comparisons, unseenDocuments };
};

beforeAll(async () => {
  writeSnippets(join(cwd, 'data'));
  const { status, stderr } = await run(train('straight'), { cwd });
  expect([status, stderr]).toEqual([0, expect.stringContaining('is kept')]);
}, 60_000);

describe('a straight run', () => {
  it('leaves what was promised, and no lock', () => {
    expect(readdirSync(join(cwd, 'straight')).sort()).toEqual([
      'checkpoints',
      'completions.jsonl',
      'config.json',
      'metrics.jsonl',
      'report.json',
      'runs',
      'zero-shot.jsonl',
    ]);
    expect(readdirSync(join(cwd, 'straight/runs')).sort()).toEqual(['original.trec', 'trained.trec', 'zeroShot.trec']);
    expect(series('straight')).toHaveLength(30);
    expect(readdirSync(join(cwd, 'data/splits')).sort()).toEqual(['dev.txt', 'split.json', 'test.txt', 'train.txt']);
  });

  it('comes out the same again', async () => {
    await runJson(train('again'), { cwd });
    expect(series('again')).toEqual(series('straight'));
    expect(read('again/completions.jsonl')).toBe(read('straight/completions.jsonl'));
    expect(figures('again')).toEqual(figures('straight'));
  });
});

describe('several seeds', () => {
  it('train in subfolders and share one report', async () => {
    const report = await runJson<Record<string, never>>(trainFor(5, 'seeds', '--seeds', '1,2'), { cwd });
    expect(report.seeds).toEqual([1, 2]);
    for (const seed of [1, 2]) {
      const own = JSON.parse(read(`seeds/seed-${seed}/report.json`));
      expect(own.seed).toBe(seed);
      expect(own.splits).toEqual(report.splits);
    }
    expect(report.deviations).toHaveProperty(['nDCG@5', 'trained']);
    const again = await run(trainFor(5, 'seeds', '--seeds', '1,2'), { cwd });
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('already holds a training')]);
    // The folder as a whole is a policy: its best run's.
    await runJson(['docopt', 'rewrite-corpus', '--policy', 'seeds', '--out', 'seeds-corpus'], { cwd });
  }, 60_000);
});

describe('refusals, before anything costs', () => {
  const refused = async (argv: string[], message: RegExp, status = 2): Promise<void> => {
    const result = await run(argv, { cwd });
    expect([result.status, result.stderr]).toEqual([status, expect.stringMatching(message)]);
  };

  it('a dry run says what would be done and writes nothing', async () => {
    const estimate = await runJson(train('dry', '--dry-run'), { cwd });
    expect(estimate).toMatchObject({ dryRun: true, documents: 80, steps: 30, rollouts: 30 * 8 * 8, costUsd: 0 });
    expect(existsSync(join(cwd, 'dry'))).toBe(false);
  });

  it('missing data, missing retriever, nothing to train', async () => {
    await refused(['docopt', 'train', '--retriever', 'bm25'], /--data is missing/);
    await refused(['docopt', 'train', '--data', 'data'], /--retriever is missing/);
    await refused(
      ['docopt', 'train', '--data', 'data', '--retriever', 'bm25', '--policy', 'identity'],
      /nothing to train/,
    );
    await refused(['docopt', 'train', '--resume'], /--out is missing and there is no unfinished one/);
  });

  it('prose without a chosen policy: says so, names the ways, writes nothing', async () => {
    mkdirSync(join(cwd, 'prose/qrels'), { recursive: true });
    const texts = [
      'The boundary layer over a heated plate grows thicker as the wall becomes warmer.',
      'Libraries that lend books by post reach readers who live far from any town.',
      'Patients were observed for two years, and none of them had a second attack.',
    ];
    const rows = (kind: string) => texts.map((text, i) => `${JSON.stringify({ _id: `${kind}${i}`, text })}\n`).join('');
    writeFileSync(join(cwd, 'prose/corpus.jsonl'), rows('d'));
    writeFileSync(join(cwd, 'prose/queries.jsonl'), rows('q'));
    writeFileSync(
      join(cwd, 'prose/qrels/test.tsv'),
      `query-id\tcorpus-id\tscore\n${texts.map((_, i) => `q${i}\td${i}\t1\n`).join('')}`,
    );
    const prose = ['docopt', 'train', '--data', 'prose', '--retriever', 'bm25', '--out', 'p'];
    await refused(prose, /read as prose[\s\S]*--policy edit/);
    expect([existsSync(join(cwd, 'p')), existsSync(join(cwd, 'prose/splits'))]).toEqual([false, false]);
    expect(await runJson([...prose, '--policy', 'edit', '--dry-run'], { cwd })).toMatchObject({ dryRun: true });
    // Code gets the edit policy without being asked for.
    const code = ['docopt', 'train', '--data', 'data', '--retriever', 'bm25', '--dry-run'];
    expect(await runJson(code, { cwd })).toMatchObject({ policy: 'edit' });
  });

  it('settings that differ from those that a run began with', async () => {
    await refused(train('straight', '--resume', '--beta', '0.5'), /began with beta 0\.02, not 0\.5/);
    // And the refusal changes nothing: the run can still be resumed as it was.
    await runJson(['docopt', 'train', '--out', 'straight', '--resume'], { cwd });
  });

  it('a folder that holds something else, a file', async () => {
    mkdirSync(join(cwd, 'photos'));
    writeFileSync(join(cwd, 'photos/cat.jpg'), '');
    writeFileSync(join(cwd, 'file'), '');
    await refused(train('photos'), /is not empty and holds no training/);
    await refused(train('file'), /is a file/);
    expect(readdirSync(join(cwd, 'photos'))).toEqual(['cat.jpg']);
  });
});
