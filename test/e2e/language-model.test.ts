/** A tiny language model through the real command line: trained, resumed, and rewriting. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createRng } from '../../src/kernels/rng.ts';
import { loadModel } from '../../src/models/lm/load-model.ts';
import { parseSafetensors } from '../../src/models/lm/safetensors.ts';
import { LINEARS } from '../../src/nn/model-config.ts';
import { tempFolder } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { plainLogits } from '../support/plain-transformer.ts';
import { LETTERS, TOY_CONFIG, toyModel, writeToyFolder } from '../support/toy-language-model.ts';

const cwd = tempFolder('lm-');
const read = (path: string): string => readFileSync(join(cwd, path), 'utf8');
const STEPS = 4;
const train = (out: string, ...more: string[]): string[] => [
  ...['docopt', 'train', '--data', 'data', '--retriever', 'bm25:analyzer=standard', '--out', out],
  ...['--policy', 'lm:model', '--set', 'policy.rank=2', '--documents-per-step', '3', '--group-size', '4'],
  ...['--set', 'rollout.maxNewTokens=8', '--set', 'indexing.maxNewTokens=8', '--learning-rate', '0.01'],
  ...['--steps', String(STEPS), '--index-refresh-rate', '2', '--metrics', 'nDCG@5', '--no-baselines', ...more],
];
const series = (out: string): Record<string, number>[] =>
  read(`${out}/metrics.jsonl`)
    .trimEnd()
    .split('\n')
    .map((line) => ({ ...JSON.parse(line), step_time: 0 }));

/** Documents of single letters, which the model writes too; each query is two of its document's letters. */
function writeLetters(folder: string): void {
  const rng = createRng(3);
  const letter = (): string => LETTERS[rng.int(LETTERS.length)];
  const words = (count: number): string => Array.from({ length: count }, letter).join(' ');
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  const rows = Array.from({ length: 30 }, (_, i) => ({ _id: `d${i}`, title: '', text: words(3) }));
  const queries = rows.map(({ text }, i) => ({ _id: `q${i}`, text: `${text[0]} ${text[4]} ${letter()}` }));
  const jsonl = (all: readonly object[]): string => all.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(folder, 'corpus.jsonl'), jsonl(rows));
  writeFileSync(join(folder, 'queries.jsonl'), jsonl(queries));
  const lines = rows.map((_, i) => `q${i}\td${i}\t1`);
  writeFileSync(join(folder, 'qrels/test.tsv'), `query-id\tcorpus-id\tscore\n${lines.join('\n')}\n`);
}

beforeAll(async () => {
  writeLetters(join(cwd, 'data'));
  await writeToyFolder(join(cwd, 'model'));
  const { status, stderr } = await runHere(train('straight', '--train', '0.6'), { cwd });
  expect([status, stderr]).toEqual([0, expect.stringContaining('is kept')]);
  expect(stderr).toMatch(/the longest step: one pass of up to \d+ rows.* GB beside the model estimated/);
}, 300_000);

describe('a language model on the command line', () => {
  it('its folder is read as it was written', async () => {
    const [here, there] = [await toyModel(), await loadModel(join(cwd, 'model'))];
    expect(there.config).toEqual({ ...TOY_CONFIG, ropeScaling: undefined });
    expect([...there.weights]).toEqual([...here.weights]);
    expect(there.tokenizer.encode('abc p')).toEqual(here.tokenizer.encode('abc p'));
    expect(there.tokenizer.endTokens).toEqual(here.tokenizer.endTokens);
  });

  it('trains with its own preset, and leaves an adapter that PEFT reads', () => {
    expect(series('straight')).toHaveLength(STEPS);
    expect(series('straight').some((row) => row.reward_std > 0)).toBe(true);
    const { options, policy } = JSON.parse(read('straight/config.json'));
    expect([options.beta, options.schedule, policy.output]).toEqual([0.02, 'constant', 'append']);
    const [checkpoint] = readdirSync(join(cwd, 'straight/checkpoints'));
    const files = readdirSync(join(cwd, 'straight/checkpoints', checkpoint, 'policy'));
    expect(files).toEqual(expect.arrayContaining(['adapter_config.json', 'adapter_model.safetensors', 'policy.json']));
    const report = JSON.parse(read('straight/report.json'));
    expect(report.metrics['nDCG@5'].trained).toBeGreaterThan(0);
    expect(report.truncatedPrompts).toBe(0);
  });

  it('resumed in the middle it comes out the same', async () => {
    cpSync(join(cwd, 'straight'), join(cwd, 'resumed'), { recursive: true });
    rmSync(join(cwd, 'resumed/report.json'));
    const [, ...later] = readdirSync(join(cwd, 'resumed/checkpoints')).sort();
    expect(later.length).toBeGreaterThan(0);
    for (const name of later) rmSync(join(cwd, 'resumed/checkpoints', name), { recursive: true });
    const { status, stderr } = await runHere(['docopt', 'train', '--out', 'resumed', '--resume'], { cwd });
    expect([status, stderr]).toEqual([0, expect.stringMatching(/resuming at step [0-3]/)]);
    expect(series('resumed')).toEqual(series('straight'));
    expect(read('resumed/completions.jsonl')).toBe(read('straight/completions.jsonl'));
  });

  it('rewrites a corpus, trained and untrained', async () => {
    for (const policy of ['straight', 'lm:model']) {
      const out = `corpus-${policy.replace(':', '-')}`;
      const result = await runHere(['docopt', 'rewrite-corpus', '--data', 'data', '--policy', policy, '--out', out], {
        cwd,
      });
      expect([result.status, result.stderr]).toEqual([0, expect.any(String)]);
      const rows = read(`${out}/corpus.jsonl`)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(rows).toHaveLength(30);
      for (const row of rows) expect(row.text.startsWith(row.docopt.text)).toBe(true);
      expect(rows.some((row) => row.text.length > row.docopt.text.length)).toBe(true);
    }
  });

  it('counts the documents that it reads the beginning of', async () => {
    const argv = ['docopt', 'rewrite-corpus', '--data', 'data', '--policy', 'lm:model', '--out', 'cut'];
    const { status, stdout } = await runHere([...argv, '--set', 'policy.maxPromptTokens=16', '--json'], { cwd });
    expect([status, JSON.parse(stdout).truncatedPrompts]).toEqual([0, 0]);
    writeFileSync(join(cwd, 'long.jsonl'), `{"_id":"a","text":"${'a b '.repeat(9)}"}\n{"_id":"b","text":"b"}\n`);
    const more = [
      '--corpus',
      'long.jsonl',
      '--policy',
      'lm:model',
      '--set',
      'policy.maxPromptTokens=16',
      '--out',
      'cut2',
    ];
    const long = await runHere(['docopt', 'rewrite-corpus', ...more], { cwd });
    expect([long.status, long.stdout]).toEqual([0, expect.stringContaining('1 x longer than the policy reads')]);
  });

  it('says what is missing', async () => {
    const elsewhere = train('nowhere').map((argument) => argument.replace('lm:model', 'lm:no/model'));
    const { status, stderr } = await runHere(elsewhere, { cwd, env: { DOCOPT_OFFLINE: '1' } });
    expect(status).toBe(2);
    expect(stderr).toMatch(/no\/model.*hub.*offline/);
  });

  it('goes on from another folder, its model named by a path', async () => {
    cpSync(join(cwd, 'straight'), join(cwd, 'moved'), { recursive: true });
    rmSync(join(cwd, 'moved/report.json'));
    mkdirSync(join(cwd, 'elsewhere'), { recursive: true });
    const { status, stderr } = await runHere(['docopt', 'train', '--out', '../moved', '--resume'], {
      cwd: join(cwd, 'elsewhere'),
    });
    expect([status, stderr]).toEqual([0, expect.stringContaining('resuming at step')]);
  });

  it('model show: a folder, and a training on it', async () => {
    const shown = await runHere(['docopt', 'model', 'show', 'model', '--json'], { cwd });
    const description = JSON.parse(shown.stdout);
    expect(description).toMatchObject({ kind: 'hugging-face', licence: null, config: { family: 'llama' } });
    const stored = [...(await toyModel()).weights.values()].reduce((sum, { length }) => sum + length, 0);
    expect([description.parameters, description.formats]).toEqual([stored, { F32: stored }]);
    const trained = JSON.parse((await runHere(['docopt', 'model', 'show', 'straight', '--json'], { cwd })).stdout);
    expect(trained.trained).toMatchObject({ training: 'lora', rank: 2, alpha: 16, output: 'append' });
    expect(trained.trained.targets).toHaveLength(7);
    const { stdout } = await runHere(['docopt', 'model', 'show', 'straight'], { cwd });
    expect(stdout).toMatch(/quantisation\s+F32 100.0 %[\s\S]*adapter of rank 2, alpha 16, on q_proj/);
  });

  it('model export: the merged folder computes what the adapter computes, and trains on', async () => {
    const argv = ['docopt', 'model', 'export', 'straight', '--merged', 'merged', '--adapter', 'peft'];
    const { status, stderr } = await runHere(argv, { cwd });
    expect([status, stderr]).toEqual([0, '']);
    expect(readdirSync(join(cwd, 'peft')).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    const [base, merged] = [await loadModel(join(cwd, 'model')), await loadModel(join(cwd, 'merged'))];
    const weights = new Map(
      [...(await parseSafetensors('', readFileSync(join(cwd, 'peft/adapter_model.safetensors'))))].map(
        ([name, values]) => [name.replace('base_model.model.', ''), values],
      ),
    );
    const prompt = base.tokenizer.encode('abc p');
    const lora = { config: { rank: 2, alpha: 16, targets: LINEARS }, weights };
    const wanted = plainLogits(base.config, base.weights, prompt, lora);
    const got = plainLogits(merged.config, merged.weights, prompt);
    const plain = plainLogits(base.config, base.weights, prompt);
    const apart = (a: number[][], b: number[][]): number =>
      Math.max(...a.flatMap((row, t) => row.map((value, i) => Math.abs(value - b[t][i]))));
    expect(apart(got, wanted)).toBeLessThan(1e-5);
    expect(apart(plain, wanted)).toBeGreaterThan(1e-3);
    expect([...merged.tokenizer.encode('abc p')]).toEqual([...prompt]);
    expect(merged.tokenizer.endTokens).toEqual(base.tokenizer.endTokens);
    const again = await runHere(argv, { cwd });
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('is not empty')]);
    const nothing = await runHere(['docopt', 'model', 'export', 'straight'], { cwd });
    expect([nothing.status, nothing.stderr]).toEqual([2, expect.stringContaining('--adapter DIR or --merged DIR')]);
  });
});
