/** The main job through the real command line: code -> data -> train -> rewrite -> index -> eval -> search -> morph. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { finished, run, runJson, start, tempFolder } from '../support/cli.ts';
import { makeCodeData } from '../support/code-data.ts';

const cwd = tempFolder('pipeline-');
let data = '';

describe('the whole pipeline, from a bare folder', () => {
  beforeAll(async () => {
    data = await makeCodeData(cwd);
  });

  it('makes a data set from code that validates', async () => {
    const { ok, counts } = await runJson<{ ok: boolean; counts: { documents: number; queries: number } }>([
      'docopt',
      'validate',
      data,
    ]);
    expect(ok).toBe(true);
    expect(counts.documents).toBeGreaterThan(100);
  });

  it('trains, and writes what commands.md promises', async () => {
    const report = await runJson<Record<string, never>>(
      [
        'docopt',
        'train',
        '--data',
        data,
        '--retriever',
        'bm25',
        '--steps',
        '20',
        '--index-refresh-rate',
        '10',
        '--no-baselines',
        '--out',
        'exp',
      ],
      { cwd },
    );
    expect(Object.keys(report)).toEqual(
      expect.arrayContaining([
        'retriever',
        'policy',
        'seed',
        'steps',
        'splits',
        'metrics',
        'unseenDocuments',
        'comparisons',
        'cost',
        'seconds',
        'environment',
      ]),
    );
    expect(Object.keys(report.metrics['nDCG@5'])).toEqual(['original', 'zeroShot', 'trained']);
    for (const name of ['config.json', 'metrics.jsonl', 'completions.jsonl', 'checkpoints', 'runs', 'report.json'])
      expect(existsSync(join(cwd, 'exp', name))).toBe(true);
    const rows = readFileSync(join(cwd, 'exp/metrics.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(20);
    expect(rows[0]).toMatchObject({
      step: 1,
      reward: expect.any(Number),
      reward_std: expect.any(Number),
      frac_reward_zero_std: expect.any(Number),
      kl: expect.any(Number),
      entropy: expect.any(Number),
      'completions/mean_length': expect.any(Number),
      step_time: expect.any(Number),
      num_tokens: expect.any(Number),
    });
    const measured = { 'eval/train/nDCG@5': expect.any(Number), 'eval/dev/nDCG@5': expect.any(Number) };
    expect(rows.filter((row) => 'eval/dev/nDCG@5' in row).map(({ step }) => step)).toEqual([10, 20]);
    for (const step of [10, 20]) expect(rows[step - 1]).toMatchObject(measured);
    const completion = JSON.parse(readFileSync(join(cwd, 'exp/completions.jsonl'), 'utf8').split('\n')[0]);
    expect(completion).toMatchObject({ step: 1 });
  });

  it('bare rewrite-corpus takes the latest experiment and keeps every original', async () => {
    const look = await run(['docopt', 'rewrite-corpus', '--limit', '3', '--diff'], { cwd });
    expect(look.stdout).toContain('nothing was written');
    const { corpus, documents } = await runJson<{ corpus: string; documents: number }>(['docopt', 'rewrite-corpus'], {
      cwd,
    });
    const rows = readFileSync(resolve(cwd, corpus, 'corpus.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const originals = readFileSync(join(data, 'corpus.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(documents);
    rows.forEach((row, i) => {
      expect([row._id, row.title, row.docopt.title, row.docopt.text, row.metadata]).toEqual([
        originals[i]._id,
        '',
        originals[i].title,
        originals[i].text,
        originals[i].metadata,
      ]);
      expect(['rewritten', 'kept', 'failed']).toContain(row.docopt.status);
    });
    expect(rows.some((row) => row.text !== row.docopt.text)).toBe(true);
  });

  it('a rewritten corpus read again counts nothing twice', async () => {
    const latest = JSON.parse(readFileSync(join(cwd, '.docopt/latest.json'), 'utf8')).corpus as string;
    await runJson(['docopt', 'rewrite-corpus', '--corpus', resolve(cwd, latest), '--policy', 'exp', '--out', 'again'], {
      cwd,
    });
    expect(readFileSync(join(cwd, 'again/corpus.jsonl'), 'utf8')).toBe(
      readFileSync(resolve(cwd, latest, 'corpus.jsonl'), 'utf8'),
    );
  });

  it('--previous asks the policy for nothing when nothing changed', async () => {
    const { from } = await runJson<{ from: { policy: number; previous: number } }>(
      ['docopt', 'rewrite-corpus', '--policy', 'exp', '--previous', 'again', '--out', 'third'],
      { cwd },
    );
    expect(from.policy).toBe(0);
    expect(readFileSync(join(cwd, 'third/corpus.jsonl'), 'utf8')).toBe(
      readFileSync(join(cwd, 'again/corpus.jsonl'), 'utf8'),
    );
  });

  it('indexes both, and eval of the artefacts agrees with the report of the training', async () => {
    await runJson(['docopt', 'index', '--data', data, '--retriever', 'bm25', '--out', 'plain'], { cwd });
    await runJson(['docopt', 'index', '--corpus', 'again', '--out', 'trained'], { cwd });
    const evaluation = await runJson<{ systems: { name: string; mean: Record<string, number> }[] }>(
      ['docopt', 'eval', '--data', data, '--index', 'plain', '--index', 'trained', '--metrics', 'nDCG@5'],
      { cwd },
    );
    const report = JSON.parse(readFileSync(join(cwd, 'exp/report.json'), 'utf8'));
    expect(evaluation.systems[0].mean['nDCG@5']).toBeCloseTo(report.metrics['nDCG@5'].original, 12);
    expect(evaluation.systems[1].mean['nDCG@5']).toBeCloseTo(report.metrics['nDCG@5'].trained, 12);
  });

  it('search and select give back originals', async () => {
    const { results } = await runJson<{ results: { id: string; text: string; rank: number }[] }>(
      ['docopt', 'search', '--index', 'trained', 'normalise a vector', '-k', '5'],
      { cwd },
    );
    expect(results.map((result) => result.rank)).toEqual([1, 2, 3, 4, 5]);
    const originals = new Map(
      readFileSync(join(data, 'corpus.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map((row) => [row._id, row.text]),
    );
    for (const { id, text } of results) expect(text).toBe(originals.get(id));
    const answer = await runJson<{ selected: { id: string; source: string }[]; calls: string[]; budget: number }>(
      ['morph', 'select', '--index', 'trained', 'normalise a vector', '-B', '7', '-k', '3'],
      { cwd },
    );
    expect(answer.selected).toHaveLength(3);
    expect(answer.calls.length).toBeLessThanOrEqual(7);
    expect(new Set(answer.calls).size).toBe(answer.calls.length);
  });

  it('morph serve answers over HTTP and stops cleanly', async () => {
    const child = start(['morph', 'serve', '--index', 'trained', '--port', '0'], { cwd });
    const done = finished(child);
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (text: string) => {
        const match = /listening on (http:\S+)/.exec(text);
        if (match) resolve(match[1]);
      });
      child.on('close', () => reject(new Error('the service ended before it listened')));
    });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const answer = await fetch(`${url}/v1/select`, {
      method: 'POST',
      body: JSON.stringify({ query: 'normalise a vector', budget: 5, capacity: 2 }),
    });
    expect(await answer.json()).toMatchObject({
      selected: [
        { rank: 1, title: expect.any(String), text: expect.any(String), metadata: expect.anything() },
        { rank: 2 },
      ],
    });
    const found = await fetch(`${url}/v1/search`, {
      method: 'POST',
      body: JSON.stringify({ query: 'normalise a vector', k: 2 }),
    });
    expect(await found.json()).toMatchObject({ results: [{ rank: 1 }, { rank: 2 }] });
    const bad = await fetch(`${url}/v1/select`, { method: 'POST', body: '{' });
    expect([bad.status, await bad.json()]).toEqual([
      400,
      { error: { code: expect.any(String), message: expect.any(String), hint: expect.any(String) } },
    ]);
    child.kill('SIGTERM');
    expect((await done).signal ?? (await done).status).not.toBe('SIGKILL');
  });

  it('a gate that is not reached exits 100 and still prints', async () => {
    const result = await run(
      ['docopt', 'eval', '--data', data, '--index', 'plain', '--fail-under', 'nDCG@5=0.999', '--json'],
      { cwd },
    );
    expect(result.status).toBe(100);
    expect(JSON.parse(result.stdout).systems).toHaveLength(1);
  });
});
