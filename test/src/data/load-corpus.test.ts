import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { loadCorpus } from '../../../src/data/mod.ts';
import type { Corpus, Document } from '../../../src/types.ts';
import { folderWith, jsonl } from '../../support/temp-folder.ts';

const ROWS = jsonl(
  { _id: 'a', title: 'Alpha', text: 'first' },
  { _id: 'b', title: '', text: 'second' },
  { _id: 'c', title: 'Only a title', text: '' },
);

function documents(corpus: Corpus): Document[] {
  return corpus.ids.map((_, position) => corpus.original(position));
}

test('a BEIR folder: originals as they are, index texts with the title joined by one space', async () => {
  const corpus = await loadCorpus(folderWith({ 'corpus.jsonl': ROWS }));
  expect(corpus.size).toBe(3);
  expect(corpus.ids).toEqual(['a', 'b', 'c']);
  expect(corpus.positionOf('c')).toBe(2);
  expect(corpus.positionOf('nowhere')).toBeUndefined();
  expect(corpus.original(0)).toEqual({ id: 'a', title: 'Alpha', text: 'first' });
  expect([0, 1, 2].map((i) => corpus.indexText(i))).toEqual(['Alpha first', 'second', 'Only a title']);
});

test('documentText: text leaves the title out', async () => {
  const corpus = await loadCorpus(folderWith({ 'corpus.jsonl': ROWS }), { documentText: 'text' });
  expect([0, 1, 2].map((i) => corpus.indexText(i))).toEqual(['first', 'second', '']);
});

test('the same rows from .jsonl, .ndjson, .jsonl.gz, .csv, .csv.gz and .tsv', async () => {
  const csv = 'id,title,text\na,Alpha,first\nb,,second\nc,Only a title,\n';
  const folder = folderWith({
    'rows.jsonl': ROWS,
    'rows.ndjson': ROWS,
    'packed.jsonl.gz': gzipSync(ROWS),
    'rows.csv': csv,
    'packed.csv.gz': gzipSync(csv),
    'rows.tsv': csv.replaceAll(',', '\t'),
  });
  const expected = documents(await loadCorpus(join(folder, 'rows.jsonl')));
  for (const name of ['rows.ndjson', 'packed.jsonl.gz', 'rows.csv', 'packed.csv.gz', 'rows.tsv']) {
    expect(documents(await loadCorpus(join(folder, name))), name).toEqual(expected);
  }
});

test('byte order mark, CRLF, blank lines and a last line without an end', async () => {
  const lines = ROWS.trim().split('\n');
  const text = `\uFEFF${lines[0]}\r\n\r\n  \t\r\n${lines[1]}\r\n\n${lines[2]}`;
  const corpus = await loadCorpus(folderWith({ 'corpus.jsonl': text }));
  expect(documents(corpus)).toEqual(documents(await loadCorpus(folderWith({ 'corpus.jsonl': ROWS }))));
});

test('integer ids become strings, `id` stands in for `_id`, null text is an empty one', async () => {
  const rows = jsonl({ _id: 7, text: 'seven' }, { id: 'x', text: null }, { _id: 'y', id: 'other', text: 'y' });
  const corpus = await loadCorpus(folderWith({ 'corpus.jsonl': rows }));
  expect(corpus.ids).toEqual(['7', 'x', 'y']);
  expect(corpus.original(1)).toEqual({ id: 'x', title: '', text: '' });
  expect(corpus.original(2).metadata).toEqual({ id: 'other' });
});

test('metadata comes back untouched, and keys that BEIR does not know join it', async () => {
  const nested = { url: 'http://x', tags: ['a', { deep: null }], title: 'not the title' };
  const rows = [
    jsonl({ _id: '1', text: 't', metadata: nested }, { _id: '2', text: 't', year: 1999, metadata: { url: 'u' } }),
    jsonl({ _id: '3', text: 't', metadata: {} }, { _id: '4', text: 't', metadata: 'a string' }),
    '{"_id": "5", "text": "t", "__proto__": {"polluted": true}, "docopt": "not ours"}\n',
    jsonl({ _id: '6', text: 't', url: 'lost?', metadata: { url: 'kept' } }),
  ].join('');
  const corpus = await loadCorpus(folderWith({ 'corpus.jsonl': rows }));
  const metadata = documents(corpus).map((document) => document.metadata);
  expect(metadata[0]).toEqual(nested);
  expect(metadata[1]).toEqual({ year: 1999, url: 'u' });
  expect(metadata[2]).toEqual({});
  expect(metadata[3]).toEqual({ metadata: 'a string' });
  expect(Object.keys(metadata[4]!).sort()).toEqual(['__proto__', 'docopt']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  expect(metadata[5]).toEqual({ url: 'kept' });
});

test('a rewritten corpus gives the original back and indexes the rewrite as it stands', async () => {
  const docopt = {
    title: 'Old title',
    text: 'old text',
    sourceHash: 'abc',
    status: 'rewritten',
    reason: '',
    policy: 'edit',
  };
  const rows = jsonl(
    { _id: '1', title: '', text: 'rewritten text', metadata: { url: 'u' }, docopt },
    { _id: '2', title: '', text: '', docopt: { ...docopt, status: 'kept' } },
  );
  const corpus = await loadCorpus(folderWith({ 'corpus.jsonl': rows, 'manifest.json': '{}' }));
  expect(corpus.original(0)).toEqual({ id: '1', title: 'Old title', text: 'old text', metadata: { url: 'u' } });
  expect(corpus.indexText(0)).toBe('rewritten text');
  expect(corpus.indexText(1)).toBe('');
});

test('a folder of text files: ids are paths, in order, hidden files and other kinds left out', async () => {
  const folder = folderWith({
    'b.txt': '\uFEFFwith a mark',
    'a.md': '# Title\r\ntext',
    'sub/deep/c d.rst': 'c',
    '100%.txt': 'percent',
    'image.png': new Uint8Array([0xff, 0xd8]),
    '.git/x.txt': 'hidden',
    'node_modules/y.txt': 'not yours',
    'packed.txt.gz': gzipSync('unpacked'),
  });
  symlinkSync(folder, join(folder, 'sub', 'loop'));
  symlinkSync(join(folder, 'missing.txt'), join(folder, 'dangling.txt'));
  const corpus = await loadCorpus(folder);
  expect(corpus.ids).toEqual(['100%25.txt', 'a.md', 'b.txt', 'packed.txt.gz', 'sub/deep/c%20d.rst']);
  expect(corpus.original(1)).toEqual({ id: 'a.md', title: '', text: '# Title\r\ntext', metadata: { path: 'a.md' } });
  expect(corpus.indexText(2)).toBe('with a mark');
  expect(corpus.indexText(3)).toBe('unpacked');
  expect(corpus.original(4).metadata).toEqual({ path: 'sub/deep/c d.rst' });
});

test('a data set may have its documents as text files in corpus/, but its README is no document', async () => {
  const queries = jsonl({ _id: 'q', text: 'x' });
  const folder = folderWith({
    'README.md': 'about',
    'queries.jsonl': queries,
    'corpus/a.txt': 'one',
    'corpus/b.md': 'two',
  });
  expect((await loadCorpus(folder)).ids).toEqual(['a.txt', 'b.md']);
  const without = folderWith({ 'README.md': 'about', 'queries.jsonl': queries });
  await expect(loadCorpus(without)).rejects.toThrow(/the folder has queries or qrels but no corpus/);
});

test('CSV: quotes, newlines and separators inside fields; other columns become metadata', async () => {
  const csv = '\uFEFFText,ID,url\r\n"a ""quoted"", text\r\nin two lines",1,http://x\r\n\r\nplain,2,\r\n';
  const corpus = await loadCorpus(join(folderWith({ 'rows.csv': csv }), 'rows.csv'));
  expect(corpus.original(0)).toEqual({
    id: '1',
    title: '',
    text: 'a "quoted", text\r\nin two lines',
    metadata: { url: 'http://x' },
  });
  expect(corpus.original(1).metadata).toEqual({ url: '' });
});

test('TSV without a header: id and text, quotes mean nothing', async () => {
  const corpus = await loadCorpus(
    join(folderWith({ 'collection.tsv': '0\t"unbalanced\n1\tsecond "one"\n' }), 'collection.tsv'),
  );
  expect(corpus.ids).toEqual(['0', '1']);
  expect(corpus.indexText(0)).toBe('"unbalanced');
  expect(corpus.indexText(1)).toBe('second "one"');
});

test('a document of 2 MB on one line, between small ones, in any order of reading', async () => {
  const large = 'word é '.repeat(300_000);
  const rows = jsonl({ _id: 's', text: 'small' }, { _id: 'l', text: large }, { _id: 't', text: 'after' });
  for (const name of ['corpus.jsonl', 'corpus.jsonl.gz']) {
    const corpus = await loadCorpus(folderWith({ [name]: name.endsWith('.gz') ? gzipSync(rows) : rows }));
    expect(corpus.indexText(2)).toBe('after');
    expect(corpus.indexText(1) === large).toBe(true);
    expect(corpus.indexText(0)).toBe('small');
  }
});

test('rows that cross the blocks of the file, at random and in order', async () => {
  const texts = Array.from({ length: 3000 }, (_, i) => `${i} `.repeat(1 + ((i * 37) % 400)));
  const corpus = await loadCorpus(
    folderWith({ 'corpus.jsonl': jsonl(...texts.map((text, i) => ({ _id: `d${i}`, text }))) }),
  );
  for (let i = 0; i < texts.length; i++) expect(corpus.indexText(i)).toBe(texts[i]);
  for (let i = 0; i < texts.length; i++) {
    const at = (i * 1237) % texts.length;
    expect(corpus.original(at)).toEqual({ id: `d${at}`, title: '', text: texts[at] });
  }
});

test('more text than the kept blocks hold still reads back right', async () => {
  const text = 'x'.repeat(50_000);
  const rows = Array.from({ length: 300 }, (_, i) => ({ _id: `d${i}`, text: `${i}${text}` }));
  const corpus = await loadCorpus(folderWith({ 'corpus.jsonl': jsonl(...rows) }));
  for (const pass of [1, 2])
    for (let i = 0; i < 300; i++) expect(corpus.indexText(i).length, `pass ${pass}`).toBe(50_000 + String(i).length);
});

test('a file that changes or goes away after loading is an error, not a wrong row', async () => {
  const rows = jsonl(...Array.from({ length: 2000 }, (_, i) => ({ _id: `d${i}`, text: 'text '.repeat(50) })));
  const folder = folderWith({ 'corpus.jsonl': rows });
  const corpus = await loadCorpus(folder);
  corpus.indexText(0);
  writeFileSync(join(folder, 'corpus.jsonl'), `${rows}\n`);
  expect(() => corpus.indexText(1999)).toThrow(/corpus\.jsonl: changed while it was being used/);
  writeFileSync(join(folder, 'corpus.jsonl'), rows);
  utimesSync(join(folder, 'corpus.jsonl'), 1, 1);
  expect(() => corpus.indexText(1999)).toThrow(/changed/);
  rmSync(join(folder, 'corpus.jsonl'));
  expect(() => corpus.indexText(1999)).toThrow(/removed/);
});

test('an empty file is an empty corpus', async () => {
  for (const name of ['corpus.jsonl', 'corpus.csv']) {
    const corpus = await loadCorpus(join(folderWith({ [name]: '\n\n' }), name));
    expect(corpus.size).toBe(0);
    expect(() => corpus.original(0)).toThrow(/outside the corpus/);
  }
});

/** One row of each kind of harm: what the message must say, and on which line. */
const BAD_ROWS: readonly [what: string, content: string | Buffer, message: RegExp][] = [
  ['invalid JSON', '{"_id":"a","text":"x"}\n{"_id":"b", oops}\n', /corpus\.jsonl:2: invalid JSON/],
  ['NUL bytes', '{"_id":"a","text":"x\u0000"}\n', /:1: invalid JSON: NUL byte at character 20/],
  ['not an object', '["a"]\n', /:1: expected a JSON object, found an array/],
  ['null', 'null\n', /:1: expected a JSON object, found null/],
  ['no _id', '{"title":"t","text":"x"}\n', /:1: the row has no _id \(its keys: title, text\)/],
  ['_id null', '{"_id":null,"text":"x"}\n', /:1: the row has no _id/],
  ['_id boolean', '{"_id":true,"text":"x"}\n', /:1: the _id must be a string, found a boolean/],
  [
    '_id beyond exact integers',
    '{"_id":12345678901234567890,"text":"x"}\n',
    /:1: the _id 12345678901234567000 is a number/,
  ],
  ['_id fraction', '{"_id":1.5,"text":"x"}\n', /:1: the _id 1\.5 is a number/],
  ['_id empty', '{"_id":"","text":"x"}\n', /:1: the id is empty/],
  ['_id with a space', '{"_id":"my doc","text":"x"}\n', /:1: the id "my doc" contains white space \(U\+0020\)/],
  ['_id with a no-break space', '{"_id":"my\u00a0doc","text":"x"}\n', /contains white space \(U\+00A0\)/],
  ['_id with NUL', '{"_id":"a\\u0000","text":"x"}\n', /contains the character U\+0000/],
  ['_id with half a surrogate pair', '{"_id":"a\\ud800","text":"x"}\n', /contains the character U\+D800/],
  [
    'duplicate',
    '{"_id":"a","text":"x"}\n\n{"_id":"a","text":"y"}\n',
    /:3: duplicate document id 'a': first on line 1, again on line 3/,
  ],
  ['duplicate after stringifying', '{"_id":1,"text":"x"}\n{"_id":"1","text":"y"}\n', /:2: duplicate document id '1'/],
  ['no text', '{"_id":"a","body":"x"}\n', /:1: row 'a' has no "text" \(its keys: _id, body\)/],
  ['text not a string', '{"_id":"a","text":["x"]}\n', /:1: "text" of 'a' must be a string, found an array/],
  ['title not a string', '{"_id":"a","title":3,"text":"x"}\n', /:1: "title" of 'a' must be a string, found a number/],
  ['truncated', '{"_id":"a","text":"x"}\n{"_id":"b","te', /:2: the last row is cut off/],
  ['UTF-16', Buffer.from('\ufeff{"_id":"a","text":"x"}\n', 'utf16le'), /is UTF-16; expected UTF-8/],
  [
    'bad UTF-8',
    Buffer.from('{"_id":"a","text":"x"}\n{"_id":"b","text":"caf\xe9"}\n', 'latin1'),
    /:2: bad UTF-8: byte 0xe9 at byte 45 of the file \(byte 22 of the line\)/,
  ],
  ['overlong UTF-8', Buffer.from([...Buffer.from('{"_id":"'), 0xc0, 0x80]), /:1: bad UTF-8: byte 0xc0 at byte 8/],
  ['a surrogate in UTF-8', Buffer.from([...Buffer.from('{"_id":"'), 0xed, 0xa0, 0x80]), /:1: bad UTF-8: byte 0xed/],
];

test.each(BAD_ROWS)('bad rows: %s', async (_, content, message) => {
  for (const name of ['corpus.jsonl', 'corpus.jsonl.gz']) {
    const folder = folderWith({ [name]: name.endsWith('.gz') ? gzipSync(content) : content });
    const error = await loadCorpus(folder).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error?.message.replace('.gz', '')).toMatch(message);
    expect(error.code).toBe('DATA');
    expect(error.hint).not.toBe('');
  }
});

const BAD_TABLES: readonly [what: string, name: string, content: string | Buffer, message: RegExp][] = [
  ['no id column', 'x.csv', 'name,text\na,b\n', /x\.csv: no column 'id' or '_id' in the header \(name, text\)/],
  ['no text column', 'x.csv', 'id,body\na,b\n', /line 1: no column 'text' \(columns: id, body\)/],
  ['a column twice', 'x.csv', 'id,text,text\na,b,c\n', /two columns are named 'text'/],
  ['too few columns', 'x.csv', 'id,text\n1,"two\nlines"\n2\n', /x\.csv:4: 1 columns where the header has 2/],
  ['too many columns', 'x.csv', 'id,text\n1,a, b\n', /x\.csv:2: 3 columns where the header has 2/],
  ['an open quote', 'x.csv', 'id,text\n1,"open\n2,b\n', /x\.csv:2: a quote opened in this row is never closed/],
  ['a quote in the middle', 'x.csv', 'id,text\n1,a "b" c\n', /x\.csv:2: Invalid Opening Quote/],
  [
    'duplicate',
    'x.csv',
    'id,text\n1,"a\nb"\n\n1,c\n',
    /x\.csv:5: duplicate document id '1': first on line 2, again on line 5/,
  ],
  [
    'duplicate after line ends inside quotes',
    'x.csv',
    'id,text\r\n1,"a\r\nb"\r\n2,lone\rreturn\r\n1,c\r\n',
    /x\.csv:5: duplicate document id '1': first on line 2, again on line 5/,
  ],
  ['empty id', 'x.csv', 'id,text\n,c\n', /x\.csv:2: the id is empty/],
  ['bad UTF-8', 'x.csv', Buffer.from('id,text\n1,caf\xe9\n', 'latin1'), /x\.csv: bad UTF-8 at byte 13 of the file/],
  [
    'cut off inside a character',
    'x.csv',
    Buffer.from('id,text\n1,caf\xc3', 'latin1'),
    /x\.csv: bad UTF-8 at byte 13 of the file/,
  ],
  ['TSV without header, one column', 'x.tsv', 'a\tb\nonly\n', /x\.tsv:2: 1 columns; expected id and text/],
  ['TSV without header, three columns', 'x.tsv', 'a\tb\tc\n', /x\.tsv: no column 'id'/],
];

test.each(BAD_TABLES)('bad tables: %s', async (_, name, content, message) => {
  const error = await loadCorpus(join(folderWith({ [name]: content }), name)).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error?.message).toMatch(message);
  expect(error.code).toBe('DATA');
  expect(error.hint).not.toBe('');
});

test('paths that are not what they should be', async () => {
  const folder = folderWith({
    'only.png': 'x',
    'single.txt': 'text',
    'cut.jsonl.gz': gzipSync(ROWS).subarray(0, 40),
    'no.jsonl.gz': ROWS,
  });
  mkdirSync(join(folder, 'trap', 'corpus.jsonl'), { recursive: true });
  mkdirSync(join(folder, 'empty'));
  const cases: readonly [string, RegExp][] = [
    [join(folder, 'missing'), /missing: no such file or folder; expected a corpus/],
    [join(folder, 'single.txt', 'below'), /no such file or folder/],
    [join(folder, 'empty'), /empty: the folder holds no corpus/],
    [join(folder, 'trap'), /corpus\.jsonl: is a folder; expected the file with a corpus/],
    [join(folder, 'only.png'), /only\.png: cannot tell the format/],
    [join(folder, 'single.txt'), /single\.txt: cannot tell the format/],
    [join(folder, 'cut.jsonl.gz'), /cut\.jsonl\.gz: the gzip file ends too early/],
    [join(folder, 'no.jsonl.gz'), /no\.jsonl\.gz: not a readable gzip file/],
  ];
  for (const [path, message] of cases) {
    const error = await loadCorpus(path).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error?.message, path).toMatch(message);
    expect(error.code, path).toBe('DATA');
    expect(error.hint, path).not.toBe('');
  }
});

test('a text file that is not UTF-8 is named', async () => {
  const folder = folderWith({ 'a.txt': 'good', 'b.txt': Buffer.from('caf\xe9', 'latin1') });
  await expect(loadCorpus(folder)).rejects.toThrow(/b\.txt: bad UTF-8 at byte 3/);
});

test('ids that differ only by case are different documents', async () => {
  const corpus = await loadCorpus(
    folderWith({ 'corpus.jsonl': jsonl({ _id: 'a', text: 'x' }, { _id: 'A', text: 'y' }) }),
  );
  expect(corpus.indexText(corpus.positionOf('A')!)).toBe('y');
});

test('a renamed folder keeps nothing open', async () => {
  const folder = folderWith({ 'data/corpus.jsonl': ROWS });
  const corpus = await loadCorpus(join(folder, 'data'));
  corpus.indexText(0);
  renameSync(join(folder, 'data'), join(folder, 'moved'));
  expect(corpus.indexText(1)).toBe('second'); // read before, still kept
});
