/** The readers that imports add: encodings, globs, folders with links, tables with any columns, Parquet. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { decodedChunks } from '../../../src/data/encoding.ts';
import { globTest } from '../../../src/data/glob.ts';
import { listFiles } from '../../../src/data/list-files.ts';
import { parquetRows } from '../../../src/data/parquet-rows.ts';
import { tableRows } from '../../../src/data/table-rows.ts';
import { textLines } from '../../../src/data/text-lines.ts';
import { folderWith, temporaryFolder } from '../../support/temp-folder.ts';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
}
/** In pieces of a few bytes: characters are cut everywhere. */
const pieces = (bytes: Uint8Array, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    Buffer.from(bytes.subarray(i * size, (i + 1) * size)),
  );

describe('encodings', () => {
  const text = 'aé漢字😀\nz';
  it.each([1, 2, 3, 5, 100])('UTF-8 in pieces of %i bytes, its mark left out', async (size) => {
    const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]);
    expect((await all(decodedChunks(pieces(bytes, size), 'x'))).join('')).toBe(text);
  });

  it('others by their names', async () => {
    const sjis = Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67]);
    expect((await all(decodedChunks(pieces(sjis, 1), 'x', 'shift_jis'))).join('')).toBe('テスト');
    const utf16 = Buffer.from('\ufeffab', 'utf16le');
    expect((await all(decodedChunks(pieces(utf16, 3), 'x', 'utf-16le'))).join('')).toBe('ab');
  });

  it.each([
    [[0x61, 0x62, 0x83, 0x65], 'utf-8', /x: bad UTF-8 at byte 2 of the file \(0x83\)/],
    [[0x61, 0xe6, 0xbc], 'utf-8', /bad UTF-8 at byte 1 of the file/],
    [[0xff, 0xfe, 0x61, 0], 'utf-8', /begins as UTF-16 does/],
    [[0x61, 0x83], 'shift_jis', /ends in the middle of a shift_jis character/],
    [[0x61, 0x83, 0xff, 0x61], 'shift_jis', /not shift_jis, between byte 0 and byte 4/],
    [[0x61], 'klingon', /the encoding 'klingon' is not known/],
  ])('%j as %s is an error that says where', async (bytes, encoding, message) => {
    await expect(all(decodedChunks([Buffer.from(bytes)], 'x', encoding))).rejects.toThrowError(message);
  });

  it('the hint of bad bytes is the remedy', async () => {
    const error = await all(decodedChunks([Buffer.from([0x83])], 'x')).catch((thrown) => thrown);
    expect(error.hint).toContain('--encoding shift_jis');
  });
});

it('globs', () => {
  const files = ['a.md', 'b/a.md', 'b/c/d.mdx', 'b/e.txt', 'x+y.md', 'é.md'];
  const matching = (pattern: string): string[] => files.filter(globTest(pattern));
  expect(matching('**/*.md')).toEqual(['a.md', 'b/a.md', 'x+y.md', 'é.md']);
  expect(matching('*.md')).toEqual(['a.md', 'b/a.md', 'x+y.md', 'é.md']);
  expect(matching('./a.md')).toEqual(['a.md']);
  expect(matching('b/*')).toEqual(['b/a.md', 'b/e.txt']);
  expect(matching('b/**')).toEqual(['b/a.md', 'b/c/d.mdx', 'b/e.txt']);
  expect(matching('**/*.{mdx,txt}')).toEqual(['b/c/d.mdx', 'b/e.txt']);
  expect(matching('?.md')).toEqual(['a.md', 'b/a.md', 'é.md']);
  expect(matching('[!a-b]*.md')).toEqual(['x+y.md', 'é.md']);
  expect(matching('x+y.md')).toEqual(['x+y.md']);
  expect(matching('(a.md')).toEqual([]);
});

it('a folder with links in circles is walked once; links to files are followed', async () => {
  const folder = folderWith({
    'a/x.md': 'x',
    'b.md': 'b',
    '.hidden/y.md': 'y',
    'node_modules/z.md': 'z',
    'c.txt': 'c',
  });
  symlinkSync('..', join(folder, 'a', 'up'));
  symlinkSync('self.md', join(folder, 'self.md'));
  symlinkSync('missing.md', join(folder, 'broken.md'));
  symlinkSync('b.md', join(folder, 'link.md'));
  const { files, skipped } = await listFiles(folder, (path) => path.endsWith('.md'));
  expect(files.map(({ path }) => path)).toEqual(['a/x.md', 'b.md', 'link.md']);
  expect(skipped).toEqual([
    { path: 'a/up/', reason: 'a link to a folder' },
    { path: 'broken.md', reason: 'a broken link' },
    { path: 'self.md', reason: 'a link that leads in a circle' },
  ]);
});

async function* streamed(...parts: string[]): AsyncGenerator<string> {
  yield* parts;
}

describe('tables', () => {
  it('quotes, newlines and separators inside cells; any columns; pieces cut anywhere', async () => {
    const csv = 'sku,"the ""body""",n\r\n1,"a\nb, ""c""",2\r\n\r\n2,,3\r\n';
    const rows = [
      { sku: '1', 'the "body"': 'a\nb, "c"', n: '2' },
      { sku: '2', 'the "body"': '', n: '3' },
    ];
    for (let size = 1; size < 9; size++) {
      const parts = csv.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g'))!;
      expect((await all(tableRows(streamed(...parts), 'x.csv', ',', 1e6))).map(({ row }) => row)).toEqual(rows);
    }
  });

  it.each([
    ['a,b\n1,2\n1,2,3\n', /x\.csv: line 3: 3 columns where the header has 2/],
    ['a,b\n1,"2\n', /line \d: a quote opened in this row is never closed/],
    ['a,a\n1,2\n', /two columns are named 'a'/],
    [`a,b\n1,${'x'.repeat(2000)}\n`, /longer than 1,000 characters/],
  ])('an error says where: %#', async (csv, message) => {
    await expect(all(tableRows(streamed(csv), 'x.csv', ',', 1000))).rejects.toThrowError(message);
  });

  it('lines of a stream have their numbers; too long ones are refused', async () => {
    const lines = (await all(textLines(streamed('a\r', '\n\nb', 'c\n d'), 'x', 100))).flat();
    expect(lines).toEqual([
      { text: 'a', line: 1, terminated: true },
      { text: 'bc', line: 3, terminated: true },
      { text: ' d', line: 4, terminated: false },
    ]);
    await expect(all(textLines(streamed('x'.repeat(60), 'x'.repeat(60)), 'x', 100))).rejects.toThrowError(
      /line 1 is longer/,
    );
  });
});

describe('Parquet', () => {
  const write = (columnData: Parameters<typeof parquetWriteBuffer>[0]['columnData'], options = {}): string => {
    const file = join(temporaryFolder(), 'x.parquet');
    writeFileSync(file, Buffer.from(parquetWriteBuffer({ columnData, ...options })));
    return file;
  };

  it('rows over several row groups, numbers and times as JSON has them', async () => {
    const file = write(
      [
        { name: 'id', data: [1n, 2n, 2n ** 60n], type: 'INT64' },
        { name: 'body', data: ['a', 'é\n', null], type: 'STRING', nullable: true },
        { name: 'at', data: [new Date(0), new Date(1000), new Date(2000)], type: 'TIMESTAMP' },
      ],
      { rowGroupSize: 2 },
    );
    expect(await all(parquetRows(file))).toEqual([
      { row: { id: 1, body: 'a', at: '1970-01-01T00:00:00.000Z' }, line: 1 },
      { row: { id: 2, body: 'é\n', at: '1970-01-01T00:00:01.000Z' }, line: 2 },
      { row: { id: '1152921504606846976', body: null, at: '1970-01-01T00:00:02.000Z' }, line: 3 },
    ]);
    expect((await all(parquetRows(file, () => ['body']))).map(({ row }) => row)).toEqual([
      { body: 'a' },
      { body: 'é\n' },
      { body: null },
    ]);
  });

  it('a nested column is named, and no hindrance when it is not wanted', async () => {
    const file = write(
      [
        { name: 'id', data: ['1'] },
        { name: 'tags', data: [['a', 'b']] },
      ],
      {
        schema: [
          { name: 'root', num_children: 2 },
          { name: 'id', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
          { name: 'tags', repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
          { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
          { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        ],
      },
    );
    await expect(all(parquetRows(file))).rejects.toThrowError(/the column 'tags' is nested/);
    expect((await all(parquetRows(file, () => ['id']))).map(({ row }) => row)).toEqual([{ id: '1' }]);
    await expect(all(parquetRows(file, () => ['x']))).rejects.toThrowError(/no column 'x'/);
  });

  it('what is no Parquet file', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'd'));
    for (const [name, bytes] of [
      ['a', 'hello'],
      ['b', ''],
      ['c', `PAR1${'x'.repeat(100)}PAR1`],
    ]) {
      writeFileSync(join(folder, name), bytes);
      await expect(all(parquetRows(join(folder, name)))).rejects.toThrowError(/is no readable Parquet file/);
    }
  });
});
