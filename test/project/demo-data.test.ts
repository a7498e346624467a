/** The demo's collection: large enough, and no question is answered by a document that quotes it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEMO_PACKAGE, DEMO_QUESTIONS } from '../../project/demo-package.ts';
import { loadDataset, splitQueries } from '../../src/data/mod.ts';
import { runJson, tempFolder } from '../support/cli.ts';

const source = dirname(createRequire(import.meta.url).resolve(`${DEMO_PACKAGE.name}/package.json`));
const data = join(tempFolder('demo-data-'), 'data');
const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

describe('the data set of the demo', () => {
  beforeAll(async () => {
    await runJson(['docopt', 'dataset', 'from-code', source, '--out', data]);
  });

  it('is made of the pinned version', () => {
    const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
    const { devDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    expect([version, devDependencies[DEMO_PACKAGE.name]]).toEqual([DEMO_PACKAGE.version, DEMO_PACKAGE.version]);
  });

  it('has at least 300 documents and 150 test queries', async () => {
    const { corpus, queries, qrels } = await loadDataset(data);
    expect(corpus.size).toBeGreaterThanOrEqual(300);
    expect(splitQueries(queries, qrels, {}).test.length).toBeGreaterThanOrEqual(150);
  });

  it('has no query sentence in any document, and none of the questions that the demo asks', async () => {
    const { corpus, queries } = await loadDataset(data);
    const all = Array.from({ length: corpus.size }, (_, i) => plain(corpus.indexText(i))).join('\n');
    const sentences = [...queries.map(({ text }) => text), ...DEMO_QUESTIONS];
    expect(sentences.filter((text) => all.includes(plain(text)))).toEqual([]);
    expect(DEMO_QUESTIONS.filter((question) => queries.some(({ text }) => plain(text) === plain(question)))).toEqual(
      [],
    );
  });
});
