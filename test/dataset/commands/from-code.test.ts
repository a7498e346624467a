/** The command on files: what it writes, what it says, how it refuses. */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { datasetFromCodeCommand } from '../../../dataset/commands/from-code.ts';
import type { CodeReport } from '../../../dataset/from-code/from-code.ts';
import { datasetFromCodeSchema } from '../../../src/config/schemas/mod.ts';
import { loadDataset } from '../../../src/data/mod.ts';
import { folderWith, temporaryFolder } from '../../support/temp-folder.ts';

async function run(options: Record<string, unknown>, signal = new AbortController().signal) {
  const lines: string[] = [];
  const log = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const result = await datasetFromCodeCommand.run(datasetFromCodeSchema.parse(options), {
    program: 'docopt',
    log: {
      info: log('info'),
      warn: log('warn'),
      debug: log('debug'),
      progress: () => ({ tick: () => {}, end: () => {} }),
    },
    json: true,
    cwd: '.',
    projectFolder: '.',
    env: {},
    signal,
    typed: [],
    given: new Set(),
    print: () => {},
  });
  return { ...result, json: result.json as CodeReport & { data: string }, lines };
}

const CODE = {
  'src/math.js':
    '/**\n * Adds two numbers, e.g. 1 and 2. More.\n */\nexports.add = function (a, b) {\n  return a + b;\n};\n/** @private */\nfunction g() {}\n',
  'src/text.py':
    'def shout(text):\n    """Write the text in capitals.\n\n    :param text: any\n    """\n    return text.upper()\n',
  'node_modules/dep/index.js': '/** Should never be read. */\nfunction dep() {}',
  'broken.js': 'function ( {',
};

describe('docopt dataset from-code', () => {
  it('writes a data set that loads, and says what became of everything', async () => {
    const dir = folderWith(CODE);
    const out = join(temporaryFolder(), 'data');
    const { json, text, lines } = await run({ dir, out });
    const dataset = await loadDataset(out);
    expect(dataset.corpus.ids).toEqual(['src/math.js#add', 'src/text.py#shout']);
    expect(dataset.corpus.original(0)).toMatchObject({
      title: '',
      metadata: { file: 'src/math.js', line: 4, name: 'add', language: 'javascript' },
    });
    expect(dataset.queries.map(({ text }) => text)).toEqual([
      'Adds two numbers, e.g. 1 and 2.',
      'Write the text in capitals.',
    ]);
    expect(dataset.qrels.get(dataset.queries[0].id)).toEqual(new Map([['src/math.js#add', 1]]));
    expect(json.functions).toMatchObject({ found: 3, documents: 2, refusedComments: { 'no description': 1 } });
    expect(json.files.skipped).toEqual([{ path: 'node_modules/', reason: 'dependencies' }]);
    for (const part of ['1 python', 'node_modules/', 'broken.js', 'comment: no description', `wrote ${out}`])
      expect(text).toContain(part);
    expect(lines.filter((line) => line.startsWith('warn'))).toEqual([expect.stringContaining('only 2 queries')]);
  });

  it('the same code gives the same bytes', async () => {
    const dir = folderWith(CODE);
    const [a, b] = [join(temporaryFolder(), 'data'), join(temporaryFolder(), 'data')];
    await run({ dir, out: a });
    await run({ dir, out: b });
    for (const file of ['corpus.jsonl', 'queries.jsonl', 'qrels/test.tsv']) {
      expect(readFileSync(join(a, file), 'utf8')).toBe(readFileSync(join(b, file), 'utf8'));
    }
  });

  it('replaces only what is a data set, and only with --force', async () => {
    const dir = folderWith(CODE);
    const out = join(temporaryFolder(), 'data');
    await run({ dir, out });
    await expect(run({ dir, out })).rejects.toMatchObject({
      code: 'USAGE',
      hint: expect.stringContaining('--force'),
    });
    writeFileSync(join(out, 'queries.jsonl'), '');
    await run({ dir, out, force: true });
    expect((await loadDataset(out)).queries).toHaveLength(2);
    expect(readdirSync(dirname(out))).toEqual(['data']);
    writeFileSync(join(out, 'thesis.tex'), 'mine');
    await expect(run({ dir, out, force: true })).rejects.toMatchObject({
      message: expect.stringContaining('thesis.tex'),
    });
    writeFileSync(join(dirname(out), 'file'), '');
    await expect(run({ dir, out: join(dirname(out), 'file') })).rejects.toMatchObject({ code: 'USAGE' });
  });

  it.each<[string, Record<string, string>, string]>([
    ['an empty folder', {}, 'no source file'],
    [
      'only dependencies',
      { 'node_modules/a/a.js': '/** Adds two numbers. */\nfunction a() {}' },
      '1 more were left out',
    ],
    [
      'no comments',
      { 'a.js': 'function a() {}' },
      'no function with a comment that describes it in 1 files, 1 functions',
    ],
    [
      'a sentence that gives itself away',
      { 'a.js': '/** Adds two numbers. */\nfunction a() { return "adds two numbers" }' },
      'no function',
    ],
  ])('refuses %s', async (_, files, message) => {
    const dir = folderWith(files);
    const out = join(temporaryFolder(), 'data');
    await expect(run({ dir, out })).rejects.toMatchObject({
      code: 'DATA',
      exitStatus: 1,
      message: expect.stringContaining(message),
    });
    expect(readdirSync(dirname(out))).toEqual([]);
  });

  it('a missing folder and a file are named', async () => {
    const dir = folderWith(CODE);
    await expect(run({ dir: join(dir, 'none'), out: join(dir, 'o') })).rejects.toMatchObject({ exitStatus: 1 });
    await expect(run({ dir: join(dir, 'broken.js'), out: join(dir, 'o') })).rejects.toMatchObject({
      message: expect.stringContaining('is a file'),
    });
  });

  it('a read-only place is refused before anything is read', async () => {
    const dir = folderWith(CODE);
    const shut = temporaryFolder();
    chmodSync(shut, 0o555);
    const out = join(shut, 'deeper', 'data');
    await expect(run({ dir, out })).rejects.toMatchObject({
      code: 'ENVIRONMENT',
      message: expect.stringContaining('read-only'),
    });
    chmodSync(shut, 0o755);
  });

  it('stops at an interrupt, with nothing written', async () => {
    const dir = folderWith(CODE);
    const out = join(temporaryFolder(), 'data');
    await expect(run({ dir, out }, AbortSignal.abort())).rejects.toMatchObject({
      code: 'INTERRUPTED',
      exitStatus: 130,
    });
    expect(readdirSync(dirname(out))).toEqual([]);
  });
});
