/** `docopt eval --agreement` through the real program: the local BM25 beside the rankings of somebody's own engine. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Agreement } from '../../src/metrics/mod.ts';
import { runHere } from '../support/in-process.ts';
import { folderWith, jsonl } from '../support/temp-folder.ts';

const words = ['apple', 'bear', 'cloud', 'door', 'eagle', 'flame', 'glass', 'house'];
const documents = words.flatMap((word, i) =>
  [1, 2, 3].map((n) => ({ _id: `${word}-${n}`, title: '', text: `${`${word} `.repeat(n)}and ${words[(i + 1) % 8]}` })),
);
let cwd = '';

beforeAll(async () => {
  cwd = folderWith({
    'data/corpus.jsonl': jsonl(...documents),
    'data/queries.jsonl': jsonl(...words.map((word) => ({ _id: word, text: word })), { _id: 'none', text: 'zebra' }),
    'data/qrels/test.tsv': `query-id\tcorpus-id\tscore\n${words.map((word) => `${word}\t${word}-3\t1\n`).join('')}none\tbear-1\t1\n`,
  });
  await docopt('--retriever', 'bm25', '--save-runs', 'runs');
  // The engine of the tale: the same, but for two queries whose best documents it has the other way round.
  const lines = readFileSync(join(cwd, 'runs/bm25.trec'), 'utf8').trimEnd().split('\n');
  const swap = (line: string): string => {
    const fields = line.split(' ');
    if (fields[0] === 'apple' || fields[0] === 'bear') fields[4] = String(-Number(fields[4]));
    return fields.join(' ');
  };
  writeFileSync(join(cwd, 'prod.trec'), `${lines.map(swap).join('\n')}\n`);
});

async function docopt(...argv: string[]) {
  return runHere(['docopt', 'eval', '--data', 'data', '--split', 'all', ...argv], { cwd });
}

describe('docopt eval --agreement', () => {
  it('is 1 with its own run, and less where the engine ranks otherwise', async () => {
    const argv = [
      '--retriever',
      'bm25',
      '--run',
      'prod.trec',
      '--run',
      'runs/bm25.trec',
      '--agreement',
      'overlap@2,rbo',
    ];
    const { status, stdout } = await docopt(...argv, '--json');
    expect(status).toBe(0);
    const { agreement } = JSON.parse(stdout) as { agreement: Agreement[] };
    expect(agreement.map(({ a, b, measure, queries }) => [a, b, measure, queries])).toEqual(
      [
        ['bm25', 'prod', 'overlap@2', 8],
        ['bm25', 'prod', 'rbo(p=0.9)', 8],
        ['bm25', 'runs/bm25.trec', 'overlap@2', 8],
        ['bm25', 'runs/bm25.trec', 'rbo(p=0.9)', 8],
      ].map(([a, b, ...rest]) => [a, b === 'runs/bm25.trec' ? agreement[2].b : b, ...rest]),
    );
    expect(agreement.slice(2).map(({ mean }) => Number(mean.toFixed(12)))).toEqual([1, 1]);
    const different = Object.entries(agreement[1].perQuery).filter(([, value]) => value < 1 - 1e-9);
    expect(different.map(([query]) => query)).toEqual(['apple', 'bear']);
    expect(agreement[1].mean).toBeLessThan(1);
    // Nobody finds a zebra: that says nothing about the two.
    expect(agreement[0].perQuery).not.toHaveProperty('none');
  });

  it('shows a table to people', async () => {
    const { stdout } = await docopt(
      '--retriever',
      'bm25',
      '--run',
      'prod.trec',
      '--agreement',
      'overlap@10,rbo(p=0.5)',
    );
    expect(stdout).toMatch(
      /agreement with bm25 \(1 = the same ranking\)\n\nsystem +overlap@10 +rbo\(p=0\.5\) +queries\nprod +1\.0000 +0\.\d{4} +8\n/,
    );
  });

  it('refuses a measure that there is not, and a system alone', async () => {
    const unknown = await docopt('--retriever', 'bm25', '--run', 'prod.trec', '--agreement', 'kendall');
    expect([unknown.status, unknown.stderr]).toEqual([
      2,
      expect.stringContaining("'kendall' is no measure of agreement"),
    ]);
    const alone = await docopt('--retriever', 'bm25', '--agreement', 'rbo');
    expect([alone.status, alone.stderr]).toEqual([2, expect.stringContaining('there is only')]);
  });
});
