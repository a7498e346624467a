/** `--previous` through the real programs: what changed is told, and what comes out is what a full run gives, byte by byte. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../support/in-process.ts';
import { folderWith, jsonl } from '../support/temp-folder.ts';

const documents = Array.from({ length: 40 }, (_, i) => ({
  _id: `d${i}`,
  title: `handle${i}`,
  text: `function handle${i}(sparseList) { return parseDate(sparseList, "token${i}"); }`,
}));
/** Two are gone, two have another text, one has another title, one is new; the order is another. */
const next = [
  ...documents.slice(20),
  { ...documents[2], text: `${documents[2].text} // changedHere` },
  { ...documents[3], text: 'const nothingLikeIt = 1;' },
  { ...documents[4], title: 'renamed' },
  { ...documents[5], _id: 'new' },
  ...documents.slice(5, 20),
];
const CHANGES = { added: 1, changed: 3, removed: 2, unchanged: 35 };
let cwd = '';

async function docopt<T>(...argv: string[]): Promise<T> {
  const { status, stdout, stderr } = await runHere(['docopt', ...argv, '--json'], { cwd });
  expect([argv.join(' '), status, stderr]).toEqual([argv.join(' '), 0, expect.any(String)]);
  return JSON.parse(stdout) as T;
}

/** Every file of a folder, the manifest without what says when and how it came about. */
function contentOf(folder: string): Record<string, unknown> {
  const files = readdirSync(join(cwd, folder), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      if (entry.name !== 'manifest.json') return [path.slice(join(cwd, folder).length), readFileSync(path, 'base64')];
      const { createdAt: _, info, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
      const { run: __, ...facts } = info;
      return ['manifest.json', { ...rest, info: facts }];
    }),
  );
}

beforeAll(async () => {
  cwd = folderWith({ 'one/corpus.jsonl': jsonl(...documents), 'two/corpus.jsonl': jsonl(...next) });
  // An experiment's policy does not depend on the corpus that it rewrites; neither does this one.
  await docopt('rewrite-corpus', '--data', 'one', '--policy', 'identity', '--out', 'c/one');
});

describe('an update', () => {
  it('of a corpus asks the policy for what is new, and is the full run', async () => {
    interface Report {
      from: Record<string, number>;
      changes?: Record<string, number>;
      fingerprint: string;
    }
    const full = await docopt<Report>('rewrite-corpus', '--data', 'two', '--policy', 'identity', '--out', 'c/full');
    const argv = [
      'rewrite-corpus',
      '--data',
      'two',
      '--policy',
      'identity',
      '--out',
      'c/update',
      '--previous',
      'c/one',
    ];
    const update = await docopt<Report>(...argv);
    expect([full.from, full.changes]).toEqual([{ policy: 39, journal: 0, previous: 0 }, undefined]);
    expect([update.from, update.changes]).toEqual([{ policy: 4, journal: 0, previous: 35 }, CHANGES]);
    expect(update.fingerprint).toBe(full.fingerprint);
    expect(contentOf('c/update')).toEqual(contentOf('c/full'));
    const { info } = JSON.parse(readFileSync(join(cwd, 'c/update/manifest.json'), 'utf8'));
    expect(info.run).toMatchObject({ from: update.from, changes: CHANGES, seconds: expect.any(Number) });
  });

  it('of a corpus under other settings reuses nothing, and still says what changed', async () => {
    const argv = [
      'rewrite-corpus',
      '--data',
      'two',
      '--policy',
      'identity',
      '--out',
      'c/other',
      '--previous',
      'c/one',
      '--seed',
      '9',
    ];
    const { from, changes } = await docopt<{ from: object; changes: object }>(...argv);
    expect([from, changes]).toEqual([{ policy: 39, journal: 0, previous: 0 }, CHANGES]);
  });

  it.each(['bm25', 'lsa'])('of an index (%s) is the full run, and says what changed', async (retriever) => {
    const index = (corpus: string, out: string, ...more: string[]) =>
      docopt<{ fingerprint: string; changes?: object }>(
        'index',
        '--corpus',
        corpus,
        '--retriever',
        retriever,
        '--out',
        out,
        ...more,
      );
    await index('c/one', `i/${retriever}-one`);
    const full = await index('c/full', `i/${retriever}-full`);
    const update = await index('c/full', `i/${retriever}-update`, '--previous', `i/${retriever}-one`);
    expect([full.changes, update.changes]).toEqual([undefined, CHANGES]);
    expect(update.fingerprint).toBe(full.fingerprint);
    expect(contentOf(`i/${retriever}-update`)).toEqual(contentOf(`i/${retriever}-full`));
  });
});
