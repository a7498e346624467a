/** `docopt report` through the real program: a training, one that is not finished, one whose data is gone, and what people get wrong. */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { writeSnippets } from '../support/snippets.ts';

const cwd = tempFolder('report-');
const at = (...names: string[]): string => join(cwd, ...names);
const docopt = (...argv: string[]) => runHere(['docopt', ...argv], { cwd });

beforeAll(async () => {
  mkdirSync(at('data'));
  writeSnippets(at('data'));
  // A document and a query that would like to be markup.
  const corpus = readFileSync(at('data/corpus.jsonl'), 'utf8').replace(
    /"text":"/,
    '"text":"</script><script>alert(1)</script> ',
  );
  writeFileSync(at('data/corpus.jsonl'), corpus);
  const argv = ['train', '--data', 'data', '--retriever', 'bm25', '--policy', 'edit', '--no-baselines', '--out', 'e'];
  const { status, stderr } = await docopt(...argv, '--steps', '6', '--index-refresh-rate', '3', '--metrics', 'nDCG@5');
  expect([status, stderr]).toEqual([0, expect.any(String)]);
});

async function report(...argv: string[]) {
  const { status, stdout, stderr } = await docopt('report', ...argv, '--json');
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout) as { report: string; finished: boolean; verdict: string; missing: string[] };
}

describe('docopt report', () => {
  it('draws the latest training into its folder: the same bytes every time', async () => {
    const first = await report();
    expect(first).toMatchObject({ finished: true, missing: [] });
    const page = readFileSync(first.report, 'utf8');
    const { metrics } = JSON.parse(readFileSync(at('e/report.json'), 'utf8'));
    expect(page).toContain(metrics['nDCG@5'].trained.toFixed(4));
    for (const title of [
      'Learning curves',
      'Query by query',
      'Length',
      'Queries, originals, rewrites',
      'Where it comes from',
    ]) {
      expect(page).toContain(`<h2>${title}`);
    }
    expect(page.match(/<script/g)).toHaveLength(1);
    await report('e');
    expect(readFileSync(first.report, 'utf8')).toBe(page);
  });

  it('Markdown and LaTeX, to standard output', async () => {
    expect((await docopt('report', 'e', '--format', 'markdown', '--out', '-')).stdout).toMatch(/^# e\n/);
    expect((await docopt('report', 'e', '--format', 'latex', '--out', '-')).stdout).toContain('\\toprule');
  });

  it('a training that is not finished is drawn as far as it got', async () => {
    cpSync(at('e'), at('half'), { recursive: true });
    rmSync(at('half/report.json'));
    rmSync(at('half/runs'), { recursive: true });
    const { finished, verdict, report: path } = await report('half');
    expect([finished, verdict]).toEqual([false, expect.stringMatching(/^Not finished: 6 of 6 steps/)]);
    expect(readFileSync(path, 'utf8')).toContain('Learning curves');
  });

  it('says what is missing when the data is gone, and takes it from --data', async () => {
    renameSync(at('data'), at('moved'));
    try {
      const gone = await report('e', '--out', 'gone.html');
      expect(gone.missing.join('\n')).toMatch(/data cannot be read/);
      expect(readFileSync(at('gone.html'), 'utf8')).toContain('Not in this report');
      expect((await report('e', '--out', 'there.html', '--data', 'moved')).missing).toEqual([]);
    } finally {
      renameSync(at('moved'), at('data'));
    }
  });

  it.each([
    [['nowhere'], 1, /holds no training/],
    [['data'], 1, /holds no training/],
    [['e', '--format', 'pdf'], 2, /format/],
    [['e', '--out', '-', '--json'], 2, /standard output/],
    [['e', '--out', 'mine.txt'], 2, /is there already/],
  ])('refuses %j', async (argv, status, message) => {
    writeFileSync(at('mine.txt'), 'mine');
    const result = await docopt('report', ...argv);
    expect([result.status, result.stderr]).toEqual([status, expect.stringMatching(message)]);
    expect(existsSync(at('mine.txt'))).toBe(true);
  });

  it('a folder of several trainings: which one?', async () => {
    const { status, stderr } = await docopt('report', '.');
    expect([status, stderr]).toEqual([1, expect.stringMatching(/holds several; name one/)]);
  });
});
