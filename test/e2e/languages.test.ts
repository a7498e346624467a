/** German, Japanese, Arabic from own files to a search, through the real program; the wrong analyzer finds less. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../support/in-process.ts';
import { folderWith } from '../support/temp-folder.ts';

const COLLECTIONS = {
  german: {
    analyzer: 'snowball:german',
    query: 'Häuser STRASSEN',
    finds: 'haus',
    documents: {
      haus: 'Das Haus steht an der Straße neben dem Bahnhof.',
      pumpe: 'Die Pumpe wird vor dem Heizen entlüftet.',
      brot: 'Brot backt man aus Mehl, Wasser und Salz.',
    },
    weaker: 'standard',
  },
  japanese: {
    analyzer: 'cjk',
    query: '京都のサーバー',
    finds: 'kyoto',
    documents: {
      kyoto: '新しいサーバーは京都にあります。',
      tokyo: '東京都の人口は増えています。',
      cat: '猫が好きな人の集まり。',
    },
    weaker: undefined,
  },
  arabic: {
    analyzer: 'snowball:arabic',
    query: 'مكتبة',
    finds: 'library',
    documents: {
      library: 'المكتبة في وسط المدينة مفتوحة كل يوم.',
      pump: 'يجب تفريغ الهواء من المضخة قبل التدفئة.',
      bread: 'يصنع الخبز من الدقيق والماء والملح.',
    },
    weaker: 'english',
  },
} as const;

it.each(Object.entries(COLLECTIONS))('%s', async (_, { analyzer, query, finds, documents, weaker }) => {
  const folder = folderWith(
    Object.fromEntries(Object.entries(documents).map(([id, text]) => [`texts/${id}.md`, text])),
  );
  const at = (name: string): string => join(folder, name);
  const docopt = async (...words: string[]): Promise<string> => {
    const { status, stdout, stderr } = await runHere(['docopt', ...words, '--json'], { cwd: folder });
    expect(status, stderr).toBe(0);
    return stdout;
  };
  await docopt('dataset', 'import', '--corpus', at('texts'), '--out', at('data'));
  const search = async (name: string): Promise<string[]> => {
    const out = at(`index-${name.replace(':', '-')}`);
    await docopt(
      'index',
      '--data',
      at('data'),
      '--retriever',
      `bm25:analyzer=${name}`,
      '--embedder',
      'none',
      '--out',
      out,
    );
    return JSON.parse(await docopt('search', '--index', out, query)).results.map(({ id }: { id: string }) => id);
  };
  expect((await search(analyzer))[0]).toBe(`${finds}.md`);
  if (weaker !== undefined) expect(await search(weaker)).toEqual([]);
});

it('an analyzer that does not exist: the error names those that do', async () => {
  const { status, stderr } = await runHere([
    'docopt',
    'eval',
    '--data',
    'x',
    '--retriever',
    'bm25:analyzer=snowball:klingon',
  ]);
  expect(status).toBe(2);
  expect(stderr).toContain('snowball:german');
  expect(stderr).toContain('cjk');
});
