/** Own data in, through the real program: folders, tables, a pipe, clicks, chunks, and what people get wrong with them. */
import { existsSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import type { ImportReport } from '../../dataset/import/import-dataset.ts';
import type { JudgementReport } from '../../dataset/import/judgements.ts';
import { finished, start } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { folderWith, jsonl, temporaryFolder } from '../support/temp-folder.ts';

interface Report extends Omit<ImportReport, 'judgements'> {
  readonly judgements: JudgementReport;
}
type Row = { _id: string; title: string; text: string; metadata?: Record<string, unknown> };
const rowsAt = <T = Row>(file: string): T[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const qrelsAt = (out: string): string[] =>
  readFileSync(join(out, 'qrels', 'test.tsv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1);

async function importing(...flags: string[]): Promise<{ out: string; report: Report; stderr: string }> {
  const out = join(temporaryFolder(), 'data');
  const { status, stdout, stderr } = await runHere(['docopt', 'dataset', 'import', ...flags, '--out', out, '--json']);
  expect(stderr, stderr).not.toContain('docopt:');
  expect(status, stdout + stderr).toBe(0);
  return { out, report: JSON.parse(stdout), stderr };
}

async function failing(...flags: string[]): Promise<{ message: string; hint: string; status: number | null }> {
  const out = join(temporaryFolder(), 'data');
  const { status, stdout } = await runHere(['docopt', 'dataset', 'import', '--out', out, ...flags, '--json']);
  expect(status).not.toBe(0);
  expect(existsSync(out)).toBe(false);
  return { ...JSON.parse(stdout).error, status };
}

const notes = {
  'guide/install.md':
    '---\ntitle: Install\nslug: setup\nlang: en\n---\n# Install\n\nRun the installer.\n\n## Linux\n\nUse apt.\n',
  'guide/read me.md': '# Read me\n\nStart here.\n',
  'page.html': '<title>Page</title><h1>Page</h1><p>Hello <b>world</b></p>',
  'plain.txt': 'only text',
  'image.png': 'x',
};

describe('a folder', () => {
  it('of Markdown, HTML and text: formats told by name, paths as ids, front matter as metadata', async () => {
    const { out, report, stderr } = await importing('--corpus', folderWith(notes));
    expect(rowsAt(join(out, 'corpus.jsonl'))).toEqual([
      {
        _id: 'guide/install.md',
        title: 'Install',
        text: '# Install\n\nRun the installer.\n\n## Linux\n\nUse apt.\n',
        metadata: { path: 'guide/install.md', slug: 'setup', lang: 'en' },
      },
      {
        _id: 'guide/read%20me.md',
        title: 'Read me',
        text: '# Read me\n\nStart here.\n',
        metadata: { path: 'guide/read me.md' },
      },
      { _id: 'page.html', title: 'Page', text: '# Page\n\nHello world', metadata: { path: 'page.html' } },
      { _id: 'plain.txt', title: '', text: 'only text', metadata: { path: 'plain.txt' } },
    ]);
    expect(report).toMatchObject({ documents: 4, chunks: 4, formats: { markdown: 2, html: 1, text: 1 } });
    expect(stderr).toContain('guessed from the names');
    expect((await runHere(['docopt', 'validate', out])).status).toBe(0);
  });

  it('chosen by --glob, ids from the front matter or the text', async () => {
    const folder = folderWith(notes);
    const { out } = await importing('--corpus', folder, '--glob', '**/install.md', '--id-from', 'frontmatter:slug');
    expect(rowsAt(join(out, 'corpus.jsonl')).map(({ _id }) => _id)).toEqual(['setup']);
    const twins = await importing('--corpus', folderWith({ 'a.txt': 'same', 'b.txt': 'same' }), '--id-from', 'hash');
    expect(twins.report).toMatchObject({ documents: 1, sameTexts: 1 });
  });

  it('links in a circle do no harm and are named', async () => {
    const folder = folderWith(notes);
    symlinkSync('..', join(folder, 'guide', 'up'));
    const { report } = await importing('--corpus', folder, '--format', 'markdown');
    expect(report).toMatchObject({ documents: 2, skipped: [{ path: 'guide/up/', reason: 'a link to a folder' }] });
  });
});

describe('tables', () => {
  const csv = 'sku,name,body,brand\nA 1,Lamp,"warm ""white""\nlight",X\nB2,Desk,oak,\n';

  it('CSV by --columns; what is not named becomes metadata', async () => {
    const folder = folderWith({ 'shop.csv': csv });
    const columns = ['--columns', 'id=sku,title=name,text=body'];
    const { out } = await importing('--corpus', join(folder, 'shop.csv'), ...columns);
    expect(rowsAt(join(out, 'corpus.jsonl'))).toEqual([
      { _id: 'A%201', title: 'Lamp', text: 'warm "white"\nlight', metadata: { brand: 'X' } },
      { _id: 'B2', title: 'Desk', text: 'oak', metadata: { brand: '' } },
    ]);
  });

  it('TSV, JSONL and Parquet give the same documents as CSV', async () => {
    const rows = [
      { id: '1', title: 'T', text: 'one' },
      { id: '2', title: '', text: 'two' },
    ];
    const parquet = parquetWriteBuffer({
      columnData: (['id', 'title', 'text'] as const).map((name) => ({
        name,
        data: rows.map((row) => row[name]),
        type: 'STRING' as const,
      })),
    });
    const folder = folderWith({
      'c.csv': 'id,title,text\n1,T,one\n2,,two\n',
      't.tsv': 'id\ttitle\ttext\n1\tT\tone\n2\t\ttwo\n',
      'j.jsonl': jsonl(...rows),
      'p.parquet': Buffer.from(parquet),
    });
    const texts = [];
    for (const name of readdirSync(folder)) {
      const { out } = await importing('--corpus', join(folder, name));
      texts.push(readFileSync(join(out, 'corpus.jsonl'), 'utf8'));
    }
    expect(texts.length).toBe(4);
    expect(new Set(texts).size).toBe(1);
  });

  it('rows through a pipe, as psql writes them', async () => {
    const out = join(temporaryFolder(), 'data');
    const child = start(
      [
        'docopt',
        'dataset',
        'import',
        '--corpus',
        '-',
        '--format',
        'csv',
        '--columns',
        'id=sku,title=name,text=body',
        '--out',
        out,
      ],
      { input: true },
    );
    // In pieces, so that a character and a quoted newline come apart.
    for (const byte of Buffer.from(csv.replace('oak', 'Eiche für 5 €'))) child.stdin!.write(Buffer.from([byte]));
    child.stdin!.end();
    const { status, stderr } = await finished(child);
    expect(status, stderr).toBe(0);
    expect(rowsAt(join(out, 'corpus.jsonl')).map(({ text }) => text)).toEqual(['warm "white"\nlight', 'Eiche für 5 €']);
  });

  it('Shift-JIS with --encoding', async () => {
    const bytes = Buffer.from([...Buffer.from('id,text\n1,'), 0x83, 0x65, 0x83, 0x58, 0x83, 0x67, 0x0a]);
    const file = join(folderWith({ 'x.csv': bytes }), 'x.csv');
    const { out } = await importing('--corpus', file, '--encoding', 'shift_jis');
    expect(rowsAt(join(out, 'corpus.jsonl'))[0].text).toBe('テスト');
    const { message, hint } = await failing('--corpus', file);
    expect(message).toContain('x.csv: bad UTF-8 at byte 10 of the file (0x83)');
    expect(hint).toContain('--encoding shift_jis');
  });
});

describe('judgements', () => {
  const corpus = 'id,text\n1,warm lamp\n2,oak desk\n3,chair\n';
  const clicks = 'q,url,n\nlamp,1,2\nLamp ,1,1\n"desk, oak",2,40\nchair,3,2\nlamp,9,5\n';
  const literal = (folder: string): string[] => [
    ...['--corpus', join(folder, 'c.csv'), '--columns', 'id=id,text=text'],
    ...['--judgments', join(folder, 'clicks.csv'), '--columns', 'query=q,id=url,clicks=n'],
  ];

  it('of a click log: summed, graded by thresholds, the bias said, the unknown listed', async () => {
    const folder = folderWith({ 'c.csv': corpus, 'clicks.csv': clicks });
    const { out, report } = await importing(...literal(folder), '--grades', '3,10,30');
    const queries = rowsAt<{ _id: string; text: string }>(join(out, 'queries.jsonl'));
    expect(queries.map(({ text }) => text)).toEqual(['lamp', 'desk, oak']);
    expect(qrelsAt(out)).toEqual([`${queries[0]._id}\t1\t1`, `${queries[1]._id}\t2\t3`]);
    expect(report.judgements).toMatchObject({
      kind: 'clicks',
      rows: 5,
      clicks: 50,
      pairs: 3,
      judged: 2,
      belowThreshold: 1,
      unknownDocuments: { rows: 1, names: 1, listed: [{ name: '9', rows: 1 }] },
      unknownQueries: { rows: 0 },
    });
    expect(report.notes.join()).toContain('position bias is not corrected');
    expect(JSON.parse(readFileSync(join(out, 'import-report.json'), 'utf8'))).toEqual({ ...report, data: undefined });
    const text = await runHere(['docopt', 'dataset', 'import', ...literal(folder), '--out', join(folder, 'o')]);
    expect(text.stdout).toContain('position bias is not corrected');
    expect(text.stdout).toContain("rows with 1 unknown: '9'");
  });

  it('with queries of their own, by id or by text; labels before clicks; unknown queries listed', async () => {
    const folder = folderWith({
      'c.csv': corpus,
      'q.jsonl': jsonl({ _id: 'a', text: 'Lamp' }, { _id: 'b', text: 'desk' }),
      'clicks.csv': 'q,url,n,g\na,1,9,\nDESK,2,0,2\nlamp,3,1,0\nsofa,1,5,\nsofa,2,5,\n',
    });
    const flags = literal(folder).with(-1, 'query=q,id=url,clicks=n,label=g');
    const { out, report } = await importing(...flags, '--queries', join(folder, 'q.jsonl'));
    expect(qrelsAt(out)).toEqual(['a\t1\t1', 'a\t3\t0', 'b\t2\t2']);
    expect(report.judgements.unknownQueries).toMatchObject({ rows: 2, names: 1, listed: [{ name: 'sofa', rows: 2 }] });
  });

  it('of qrels, spread over the chunks of their documents; then everything downstream runs on it', async () => {
    const body = (word: string): string => Array.from({ length: 30 }, (_, i) => `${word} filler${i}.`).join(' ');
    const ids = ['x', 'y', 'z', 'v', 'w'];
    const folder = folderWith({
      'c.jsonl': jsonl(...ids.map((id) => ({ id, title: `T${id}`, text: body(`word${id}`), metadata: { k: id } }))),
      'q.jsonl': jsonl(...ids.map((id) => ({ _id: `q${id}`, text: `word${id} filler3` }))),
      'qrels.tsv': `query-id\tcorpus-id\tscore\n${ids.map((id) => `q${id}\t${id}\t2\n`).join('')}`,
    });
    const flags = ['--queries', join(folder, 'q.jsonl'), '--judgments', join(folder, 'qrels.tsv')];
    const { out, report } = await importing('--corpus', join(folder, 'c.jsonl'), ...flags, '--chunk', 'tokens:40/8');
    expect(report.documents).toBe(5);
    expect(report.chunks).toBeGreaterThan(15);
    const rows = rowsAt(join(out, 'corpus.jsonl'));
    const original = new Map(ids.map((id) => [id, body(`word${id}`)]));
    for (const { _id, text, metadata } of rows) {
      const { parent, start: from, end } = metadata as { parent: string; start: number; end: number };
      expect(_id.startsWith(`${parent}#`)).toBe(true);
      expect(original.get(parent)!.slice(from, end)).toBe(text);
    }
    expect(qrelsAt(out).length).toBe(rows.length);
    const found = await runHere(['docopt', 'eval', '--data', out, '--retriever', 'bm25', '--split', 'all', '--json']);
    expect(found.status, found.stderr).toBe(0);
    expect(JSON.parse(found.stdout).systems[0].mean['nDCG@5']).toBe(1);
    const words = [
      'docopt',
      'eval',
      '--data',
      out,
      '--retriever',
      'bm25',
      '--split',
      'all',
      '--metrics',
      'P@2 R@1',
      '--json',
    ];
    for (const how of ['max', 'first']) {
      const whole = JSON.parse((await runHere([...words, '--aggregate', how])).stdout);
      // One relevant document for each query, first of all: by chunks its recall at 1 would be far lower.
      expect(whole.systems[0].mean).toEqual({ 'P@2': 0.5, 'R@1': 1 });
    }
  });

  it('of a BEIR folder keep their splits', async () => {
    const folder = folderWith({
      'corpus.jsonl': jsonl({ _id: 'a', title: '', text: 'One two. Three four.' }),
      'queries.jsonl': jsonl({ _id: 'q', text: 'one' }, { _id: 'r', text: 'two' }),
      'qrels/train.tsv': 'query-id\tcorpus-id\tscore\nq\ta\t1\n',
      'qrels/test.tsv': 'query-id\tcorpus-id\tscore\nr\ta\t1\n',
      'dataset.json': JSON.stringify({ name: 'mine', license: 'CC0-1.0', languages: ['en'] }),
    });
    const { out, report } = await importing('--corpus', folder, '--chunk', 'sentences:1');
    expect(qrelsAt(out)).toEqual(['r\ta#0\t1', 'r\ta#1\t1']);
    expect(readFileSync(join(out, 'qrels', 'train.tsv'), 'utf8')).toContain('q\ta#1\t1');
    expect(report.dataset).toEqual({
      name: 'mine',
      license: 'CC0-1.0',
      source: null,
      languages: ['en'],
      citation: null,
    });
    expect(JSON.parse(readFileSync(join(out, 'dataset.json'), 'utf8'))).toEqual(report.dataset);
  });
});

describe('what goes wrong is said in one clear error, and nothing is written', () => {
  const csv = (text: string | Uint8Array, name = 'x.csv'): string => join(folderWith({ [name]: text }), name);

  it.each<[string, () => string[], RegExp]>([
    ['no such path', () => ['--corpus', '/nowhere/at/all'], /no such file or folder/],
    ['empty file', () => ['--corpus', csv('')], /there is no document in it/],
    ['only a header', () => ['--corpus', csv('id,text\n')], /there is no document in it/],
    ['empty folder', () => ['--corpus', folderWith({ 'x.png': '' })], /the folder holds no file of a known format/],
    ['unknown format', () => ['--corpus', csv('x', 'x.docx')], /its name does not say which format/],
    ['a pipe without format', () => ['--corpus', '-'], /whose format has no name to be told from/],
    [
      'a pipe of parquet',
      () => ['--corpus', '-', '--format', 'parquet'],
      /cannot be read as parquet, which needs files/,
    ],
    [
      'same id twice',
      () => ['--corpus', csv('id,text\n1,a\n2,b\n1,c\n')],
      /x\.csv:4: duplicate document id '1': .*x\.csv:2 has it, too/,
    ],
    [
      'two files with one id',
      () => [
        '--corpus',
        folderWith({ 'a.md': '---\nid: k\n---\na', 'b.md': '---\nid: k\n---\nb' }),
        '--id-from',
        'frontmatter:id',
      ],
      /b\.md: duplicate document id 'k': .*a\.md has it, too/,
    ],
    [
      'front matter without the key',
      () => ['--corpus', csv('x', 'a.md'), '--id-from', 'frontmatter:id'],
      /a\.md: the document has no 'id'/,
    ],
    [
      'front matter that is no YAML',
      () => ['--corpus', csv('---\na: [\n---\nx', 'a.md')],
      /a\.md:\d: the front matter is not YAML/,
    ],
    ['no id', () => ['--corpus', csv('name,text\na,b\n')], /the document has no 'id' to be its id/],
    ['an empty id', () => ['--corpus', csv('id,text\n,b\n')], /x\.csv:2: 'id' is empty/],
    [
      'no text',
      () => ['--corpus', csv('id,body\n1,b\n')],
      /x\.csv: line 2: no column 'text' \(its columns: id, body\)/,
    ],
    ['a wrong column', () => ['--corpus', csv('id,text\n1,b\n'), '--columns', 'id=id,text=txt'], /no column 'txt'/],
    [
      'JSONL that is none',
      () => ['--corpus', csv('{"id": "1", "text": "a"}\n{oops\n', 'x.jsonl')],
      /x\.jsonl:2: invalid JSON/,
    ],
    [
      'a list as text',
      () => ['--corpus', csv('{"id": "1", "text": ["a"]}\n', 'x.jsonl')],
      /line 1: 'text' holds a list; expected text/,
    ],
    [
      'judgement columns alone',
      () => ['--corpus', csv('id,text\n1,a\n'), '--columns', 'query=q,id=u'],
      /there is no --judgments FILE/,
    ],
    [
      'clicks of nothing known',
      () => ['--corpus', csv('id,text\n1,a\n'), '--judgments', csv('q,u\na,7\n'), '--columns', 'query=q,id=u'],
      /none of its 1 rows became a judgement: 1 name unknown documents, e\.g\. '7'/,
    ],
    [
      'clicks that are no numbers',
      () => [
        '--corpus',
        csv('id,text\n1,a\n'),
        '--judgments',
        csv('q,u,n\na,1,many\n'),
        '--columns',
        'query=q,id=u,clicks=n',
      ],
      /x\.csv:2: 'many' is no number of clicks/,
    ],
    [
      'chunks of nonsense',
      () => ['--corpus', csv('id,text\n1,a\n'), '--chunk', 'pages:3'],
      /--chunk pages:3 is not understood/,
    ],
    [
      'a file that is too large',
      () => ['--corpus', csv('x'.repeat(200), 'x.txt'), '--max-document-bytes', '100'],
      /has 200 bytes or more; at most 100/,
    ],
    [
      'a row that is too large',
      () => ['--corpus', csv(`id,text\n1,${'x'.repeat(200)}\n`), '--max-document-bytes', '100'],
      /longer than 100 characters/,
    ],
  ])('%s', async (_, flags, message) => {
    const error = await failing(...flags());
    expect(error.message).toMatch(message);
    expect(error.hint).not.toBe('');
  });

  it('a file of 1 GB as one document is refused before it is read', async () => {
    const file = csv('x', 'big.txt');
    truncateSync(file, 2 ** 30);
    expect((await failing('--corpus', file)).message).toContain('1,073,741,824 bytes');
  });

  it('an output that holds something else is left alone', async () => {
    const folder = folderWith({ 'x.csv': 'id,text\n1,a\n', 'out/mine.txt': 'x' });
    const flags = ['--corpus', join(folder, 'x.csv'), '--out', join(folder, 'out'), '--force'];
    const { status, stderr } = await runHere(['docopt', 'dataset', 'import', ...flags]);
    expect(status).toBe(2);
    expect(stderr).toContain("'mine.txt', which is no part of a data set");
    writeFileSync(join(folder, 'y.csv'), 'id,text\n2,b\n');
    const again = ['--corpus', join(folder, 'y.csv'), '--out', join(folder, 'data')];
    expect((await runHere(['docopt', 'dataset', 'import', ...flags.with(3, join(folder, 'data'))])).status).toBe(0);
    expect((await runHere(['docopt', 'dataset', 'import', ...again])).status).toBe(2);
    expect((await runHere(['docopt', 'dataset', 'import', ...again, '--force'])).status).toBe(0);
    expect(rowsAt(join(folder, 'data', 'corpus.jsonl')).map(({ _id }) => _id)).toEqual(['2']);
  });
});
