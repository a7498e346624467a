/** The licence of a data set goes wherever its documents go. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../support/in-process.ts';
import { folderWith } from '../support/temp-folder.ts';

it('dataset.json is in the manifests of the corpus and of the index made from it; without one the licence is unknown', async () => {
  const folder = folderWith({
    'c.csv': 'id,text\n1,warm lamp\n2,oak desk\n3,chair\n',
    'bare/corpus.csv': 'id,text\n1,lamp\n',
  });
  const at = (name: string): string => join(folder, name);
  const docopt = async (...words: string[]): Promise<void> => {
    const { status, stderr } = await runHere(['docopt', ...words], { cwd: folder });
    expect(status, stderr).toBe(0);
  };
  const cardIn = (name: string): unknown =>
    JSON.parse(readFileSync(join(at(name), 'manifest.json'), 'utf8')).info.dataset;
  const said = [
    '--license',
    'CC-BY-4.0',
    '--source',
    'https://example.org',
    '--language',
    'en,de',
    '--citation',
    'Doe 2026',
  ];
  await docopt('dataset', 'import', '--corpus', at('c.csv'), ...said, '--name', 'shop', '--out', at('data'));
  await docopt('rewrite-corpus', '--data', at('data'), '--policy', 'identity', '--out', at('corpus'));
  await docopt('index', '--corpus', at('corpus'), '--retriever', 'bm25', '--embedder', 'none', '--out', at('index'));
  const card = {
    name: 'shop',
    license: 'CC-BY-4.0',
    source: 'https://example.org',
    languages: ['en', 'de'],
    citation: 'Doe 2026',
  };
  expect([cardIn('corpus'), cardIn('index')]).toEqual([card, card]);
  await docopt('index', '--data', at('bare'), '--retriever', 'bm25', '--embedder', 'none', '--out', at('index-2'));
  expect(cardIn('index-2')).toEqual({ name: 'bare', license: 'unknown', source: null, languages: [], citation: null });
});
