/** `docopt reproduce` through the real program, on a small code collection with a few steps. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { finished, start, tempFolder } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { writeSnippets } from '../support/snippets.ts';

const cwd = tempFolder('reproduce-');
const at = (...names: string[]): string => join(cwd, ...names);
const docopt = (...argv: string[]) => runHere(['docopt', ...argv], { cwd });
const json = (...names: string[]) => JSON.parse(readFileSync(at(...names), 'utf8'));
const reproduce = (name: string, out: string, steps = 2): string[] => [
  ...['reproduce', name, '--data', 'data', '--out', out, '--steps', String(steps)],
];

beforeAll(() => {
  mkdirSync(at('data'));
  writeSnippets(at('data'));
  writeFileSync(at('data/dataset.json'), JSON.stringify({ name: 'snippets', license: 'MIT' }));
});

describe('docopt reproduce', () => {
  it('alone lists the tables', async () => {
    const { status, stdout } = await docopt('reproduce');
    expect(status).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(['a5', 'table1', 'table4', 'table6', 'table7']);
  });

  it('--dry-run tells the cells and writes nothing', async () => {
    const { status, stdout } = await docopt(...reproduce('table7', 'dry'), '--dry-run', '--json');
    expect(status).toBe(0);
    const { cells } = JSON.parse(stdout) as { cells: { estimate: { steps: number } }[] };
    expect(cells.map(({ estimate }) => estimate.steps)).toEqual([2, 2, 2, 2, 2, 2]);
    expect(existsSync(at('dry'))).toBe(false);
  });

  it('table 6: cells, table and manifest; the figures are those of the cells; again trains nothing', async () => {
    const first = await docopt(...reproduce('table6', 't6'));
    expect([first.status, first.stderr]).toEqual([0, expect.any(String)]);
    const cells = readdirSync(at('t6/cells')).sort();
    expect(cells).toEqual(
      ['ranking', 'ranking-negatives', 'similarity', 'similarity-negatives'].map((row) => `data_bm25_${row}`),
    );
    const { rows } = json('t6/table.json') as { rows: { label: string; values: number[] }[] };
    expect(rows.map(({ label }) => label)[0]).toBe('Zero-shot transformation');
    expect(rows.slice(1).map(({ values }) => values[0])).toEqual(
      cells.map((cell) => json('t6/cells', cell, 'report.json').metrics['nDCG@5'].trained),
    );
    expect(cells.map((cell) => json('t6/cells', cell, 'config.json').options.negatives)).toEqual([
      'none',
      'hard',
      'none',
      'hard',
    ]);

    const manifest = json('t6/manifest.json');
    expect(manifest).toMatchObject({
      finished: true,
      command: expect.stringContaining('docopt reproduce table6 --data data'),
      version: expect.stringMatching(/^\d/),
      environment: { node: process.version, threads: expect.any(Number) },
      seeds: [1],
      steps: 2,
      data: [
        { documents: 80, queries: 80, fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/), card: { license: 'MIT' } },
      ],
    });
    expect(manifest.cells.map(({ policyFingerprint }: { policyFingerprint: string }) => policyFingerprint)).toEqual(
      cells.map(() => expect.stringMatching(/^[0-9a-f]{64}$/)),
    );

    const times = () => cells.map((cell) => statSync(at('t6/cells', cell, 'report.json')).mtimeMs);
    const before = [times(), readFileSync(at('t6/table.md'), 'utf8')];
    expect((await docopt(...reproduce('table6', 't6'))).status).toBe(0);
    expect([times(), readFileSync(at('t6/table.md'), 'utf8')]).toEqual(before);
  }, 60_000);

  it('killed in a cell, the same command finishes it to the table of the straight run', async () => {
    const argv = reproduce('table7', 'killed', 30);
    const child = start(['docopt', ...argv], { cwd });
    const ended = finished(child);
    const rows = at('killed/cells/data_bm25_hard-1/metrics.jsonl');
    while (!(existsSync(rows) && statSync(rows).size > 0)) {
      if (child.exitCode !== null) throw new Error('the process ended too early');
      await wait(2);
    }
    child.kill('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    expect(existsSync(at('killed/cells/data_bm25_random-1/report.json'))).toBe(true);
    expect(existsSync(at('killed/cells/data_bm25_hard-1/report.json'))).toBe(false);
    expect(json('killed/manifest.json').finished).toBe(false);

    const kept = statSync(at('killed/cells/data_bm25_random-1/report.json')).mtimeMs;
    expect(await docopt(...argv)).toMatchObject({ status: 0 });
    expect(statSync(at('killed/cells/data_bm25_random-1/report.json')).mtimeMs).toBe(kept);
    expect(await docopt(...reproduce('table7', 'straight', 30))).toMatchObject({ status: 0 });
    expect(json('killed/table.json')).toEqual(json('straight/table.json'));
    expect(readFileSync(at('killed/table.md'), 'utf8')).toBe(readFileSync(at('straight/table.md'), 'utf8'));
  }, 120_000);

  it('table 4: under its own retriever a policy has the figure of its training', async () => {
    const { status, stderr } = await docopt(...reproduce('table4', 't4', 8), '--seeds', '1,2');
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    const { columns, rows } = json('t4/table.json') as { columns: string[]; rows: { values: number[] }[] };
    expect(columns).toEqual(['bm25', 'lsa']);
    for (const [i, name] of columns.entries()) {
      const { checkpoint, runs } = json('t4/cells', `data_${name}_docopt`, 'report.json');
      const chosen = runs.find(({ folder }: { folder: string }) => checkpoint.path.startsWith(folder));
      expect(rows[i + 1].values[i]).toBeCloseTo(chosen.metrics['nDCG@5'].trained, 12);
    }
  }, 120_000);

  it.each(['table1', 'a5'])(
    '%s over two collections',
    async (name) => {
      writeSnippets(at('more'));
      const { status, stdout, stderr } = await docopt(
        ...reproduce(name, `two-${name}`),
        '--data',
        'more',
        '--retriever',
        'bm25',
      );
      expect([status, stderr]).toEqual([0, expect.any(String)]);
      expect(stdout).toContain(name === 'a5' ? 'documents with a training query' : '| Direct retrieval |');
    },
    60_000,
  );

  it('what is wrong is told before anything is written', async () => {
    const told = async (argv: string[]) => {
      const { status, stderr } = await docopt(...argv);
      return `${status} ${stderr}`;
    };
    expect(await told(reproduce('tabel6', 'bad'))).toMatch(/^2 [\s\S]*Did you mean 'table6'/);
    expect(await told(['reproduce', 'table6', '--out', 'bad'])).toMatch(/^2 [\s\S]*--data is missing/);
    expect(await told(['reproduce', 'table6', '--data', 'data'])).toMatch(/^2 [\s\S]*--out is missing/);
    expect(await told(['reproduce', 'table6', '--data', 'data', '--data', 'nowhere', '--out', 'bad'])).toMatch(
      /nowhere/,
    );
    expect(await told([...reproduce('table6', 'bad'), '--data', './data'])).toMatch(/^2 [\s\S]*named twice/);
    expect(existsSync(at('bad'))).toBe(false);

    mkdirSync(at('mine'));
    writeFileSync(at('mine/thesis.txt'), 'mine');
    expect(await told(reproduce('table6', 'mine'))).toMatch(/^2 [\s\S]*holds no reproduction/);
    expect(readdirSync(at('mine'))).toEqual(['thesis.txt']);
    expect(await told(reproduce('table6', 'mine/thesis.txt'))).toMatch(/^2 [\s\S]*is a file/);
    expect(await told(reproduce('table6', 't6', 3))).toMatch(/^2 [\s\S]*reproduction of something else/);
    rmSync(at('mine'), { recursive: true });
  });
});
