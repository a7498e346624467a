import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { validateCommand } from '../../dataset/command.ts';
import { validateDataset } from '../../dataset/mod.ts';
import { validationTable } from '../../dataset/validation-table.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { validateSchema } from '../../src/config/schemas/mod.ts';
import { folderWith, jsonl } from '../support/temp-folder.ts';

const HEADER = 'query-id\tcorpus-id\tscore\n';
const GOOD = {
  'corpus.jsonl': jsonl({ _id: 'd1', title: 'T', text: 'one' }, { _id: 'd2', text: 'two' }),
  'queries.jsonl': jsonl({ _id: 'q1', text: 'first' }, { _id: 'q2', text: 'second' }),
  'qrels/test.tsv': `${HEADER}q1\td1\t1\nq2\td2\t1\nq2\td1\t-1\n`,
};

/** [severity, file:line, id, message] of each problem, paths cut to the folder. */
async function problemsOf(files: Readonly<Record<string, string | Uint8Array>>, below = ''): Promise<unknown[][]> {
  const folder = folderWith(files);
  const { problems, ok, counts } = await validateDataset(join(folder, below));
  expect(ok).toBe(problems.every(({ severity }) => severity === 'warning'));
  expect(counts.errors + counts.warnings).toBe(problems.length);
  for (const { hint } of problems) expect(hint).not.toBe('');
  return problems.map(({ severity, file, line, id, message }) => [
    severity,
    `${file.slice(folder.length + 1)}:${line}`,
    id,
    message,
  ]);
}

const like = (text: string | RegExp) => expect.stringMatching(text);

test('a good data set has no problems, and negative grades are none', async () => {
  const { ok, problems, counts } = await validateDataset(folderWith(GOOD));
  expect({ ok, problems }).toEqual({ ok: true, problems: [] });
  expect(counts).toEqual({ documents: 2, queries: 2, judgements: 3, errors: 0, warnings: 0 });
});

test('every problem of a corpus at once, each with its line', async () => {
  const corpus = Buffer.concat([
    Buffer.from(jsonl({ _id: 'd1', text: 'one' }, { _id: 'd2', text: 'two' }, { _id: 'd1', text: 'again' })),
    Buffer.from('{"_id": "bad json\n\n'),
    Buffer.from('{"_id":"d5","text":"caf\xe9"}\n', 'latin1'),
    Buffer.from(jsonl({ _id: 'with space', text: 'x' }, { text: 'no id' }, { _id: 'D1', text: 'case' })),
    Buffer.from(jsonl({ _id: 'd9', title: '', text: ' ' }, { _id: 'd10', text: 'a\u0000b' }, { _id: 'd11', text: 5 })),
    Buffer.from('{"_id":"d12","te'),
  ]);
  expect(await problemsOf({ ...GOOD, 'corpus.jsonl': corpus })).toEqual([
    ['error', 'corpus.jsonl:3', 'd1', "duplicate document id 'd1': first on line 1, again on line 3"],
    ['error', 'corpus.jsonl:4', null, like(/^invalid JSON/)],
    ['error', 'corpus.jsonl:6', null, like(/^bad UTF-8: byte 0xe9/)],
    ['error', 'corpus.jsonl:7', 'with space', like(/white space/)],
    ['error', 'corpus.jsonl:8', null, like(/no _id/)],
    ['warning', 'corpus.jsonl:9', 'D1', "id 'D1' differs only by case from 'd1'"],
    ['warning', 'corpus.jsonl:10', 'd9', 'the document is empty'],
    ['warning', 'corpus.jsonl:11', 'd10', like(/NUL/)],
    ['error', 'corpus.jsonl:12', 'd11', like(/"text" of 'd11' must be a string/)],
    ['error', 'corpus.jsonl:13', null, like(/cut off/)],
  ]);
});

test('problems of queries', async () => {
  const queries = jsonl(
    { _id: 'q1', text: 'first' },
    { _id: 'q2', text: ' FIRST ' },
    { _id: 'q3', text: '' },
    { _id: 'q1', text: 'x' },
    { _id: 'q5', text: 'fifth' },
  );
  const qrels = `${HEADER}q1\td1\t1\nq2\td1\t1\nq3\td1\t1\nq5\td1\t0\n`;
  expect(await problemsOf({ ...GOOD, 'queries.jsonl': queries, 'qrels/test.tsv': qrels })).toEqual([
    ['warning', 'queries.jsonl:2', 'q2', "the same text as query 'q1' on line 1"],
    ['warning', 'queries.jsonl:3', 'q3', 'the query is empty'],
    ['error', 'queries.jsonl:4', 'q1', "duplicate query id 'q1': first on line 1, again on line 4"],
    ['warning', 'queries.jsonl:5', 'q5', 'the query has no positive judgement'],
  ]);
});

test('problems of judgements', async () => {
  const qrels = `q1\td1\t1\r\nq9\td1\t1\nq1\td9\t1\nq1\td1\t1\nq1\td1\t2\nq2\td2\tNaN\nq2\td2\t0.5\nq2\tmy doc\t1\nq2\td2\n`;
  expect(await problemsOf({ ...GOOD, 'qrels/test.tsv': qrels })).toEqual([
    ['warning', 'queries.jsonl:2', 'q2', 'the query has no judgements'],
    ['warning', 'qrels/test.tsv:1', null, like(/no header line/)],
    ['error', 'qrels/test.tsv:2', 'q9', "judgement of unknown query 'q9'"],
    ['error', 'qrels/test.tsv:3', 'q1', "judgement of unknown document 'd9'"],
    ['warning', 'qrels/test.tsv:4', 'q1', "query 'q1' and document 'd1' are judged twice (line 1)"],
    ['error', 'qrels/test.tsv:5', 'q1', "query 'q1' and document 'd1' are judged 2 here and 1 before (line 1)"],
    ['error', 'qrels/test.tsv:6', 'q2', "non-finite grade 'NaN' for document 'd2'"],
    ['error', 'qrels/test.tsv:7', 'q2', "not an integer grade '0.5' for document 'd2'"],
    ['error', 'qrels/test.tsv:8', 'q2', like(/white space/)],
    ['error', 'qrels/test.tsv:9', 'q2', '2 columns'],
  ]);
});

test('a query in two splits, said once', async () => {
  const files = {
    ...GOOD,
    'qrels/train.tsv': `${HEADER}q1\td1\t1\n`,
    'qrels/test.tsv': `${HEADER}q1\td2\t1\nq1\td1\t0\nq2\td2\t1\n`,
  };
  const problems = await problemsOf(files);
  expect(problems.map(([severity, place]) => [severity, place])).toEqual([
    ['error', 'qrels/test.tsv:2'],
    ['error', 'qrels/test.tsv:3'],
  ]);
  expect(problems[0][3]).toMatch(/query 'q1' is also judged in .*train\.tsv/);
  expect(problems[1][3]).toMatch(/are judged 0 here and 1 before \(.*train\.tsv, line 2\)/);
});

test('missing parts', async () => {
  const { 'qrels/test.tsv': qrels, 'queries.jsonl': queries, 'corpus.jsonl': corpus } = GOOD;
  expect(await problemsOf({ 'corpus.jsonl': corpus })).toEqual([]);
  expect(await problemsOf({ 'corpus.jsonl': corpus, 'queries.jsonl': queries })).toEqual([
    ['warning', ':null', null, 'there are queries but no judgements'],
  ]);
  expect(await problemsOf({ 'corpus.jsonl': corpus, 'qrels/test.tsv': qrels })).toEqual([
    ['error', ':null', null, 'there are judgements but no queries'],
  ]);
  expect(await problemsOf({ 'queries.jsonl': queries, 'qrels/test.tsv': qrels })).toEqual([
    ['error', ':null', null, 'the folder has queries or qrels but no corpus'],
  ]);
  expect(await problemsOf({ ...GOOD, 'corpus.jsonl': '' })).toEqual([
    ['error', 'corpus.jsonl:null', null, 'no usable document'],
    ...[1, 2, 3].map((line) => ['error', `qrels/test.tsv:${line + 1}`, like('q'), like(/unknown document/)]),
  ]);
  const noQrels = await problemsOf({ ...GOOD, 'qrels/test.tsv': HEADER });
  expect(noQrels.map(([, place, , message]) => [place, message])).toEqual([
    ['queries.jsonl:1', 'the query has no judgements'],
    ['queries.jsonl:2', 'the query has no judgements'],
    ['qrels/test.tsv:null', 'no judgements'],
  ]);
  expect(await problemsOf({ ...GOOD, 'qrels/validation.tsv': HEADER, 'qrels/README.md': '' })).toEqual([
    ['warning', 'qrels/README.md:null', null, 'not read'],
    ['warning', 'qrels/validation.tsv:null', null, 'not read'],
  ]);
  await expect(validateDataset('/nowhere/at/all')).rejects.toThrow(/no such file or folder/);
});

test('what stops a reader is a problem, and the other files are still checked', async () => {
  const files = {
    'corpus.csv': 'name,body\na,b\n',
    'queries.jsonl.gz': gzipSync(GOOD['queries.jsonl']).subarray(0, 30),
    'qrels/test.tsv': `${HEADER}q1\td1\tinf\n`,
  };
  expect((await problemsOf(files)).map(([severity, place, , message]) => [severity, place, message])).toEqual([
    ['error', 'corpus.csv:null', like(/no column 'id'/)],
    ['error', 'queries.jsonl.gz:null', like(/ends too early/)],
    ['error', 'qrels/test.tsv:2', like(/non-finite grade 'inf'/)],
  ]);
});

test('saved splits and runs beside the data', async () => {
  const files = {
    ...GOOD,
    'splits/train.txt': 'q1\ngone\n',
    'splits/test.txt': 'q1\nq2\nq2\n',
    'runs/a.trec': 'q1 Q0 d1 1 nan t\nq1 Q0 d2 2 1 t\nq7 Q0 d8 1 1 t\nq7 Q0 d8 2 1 t\n',
  };
  expect(await problemsOf(files)).toEqual([
    ['error', 'splits/train.txt:2', 'gone', "unknown query id 'gone'"],
    ['error', 'splits/test.txt:null', 'q1', "query 'q1' is also in train.txt"],
    ['error', 'splits/test.txt:3', 'q2', "query id 'q2' for the second time"],
    ['error', 'runs/a.trec:1', 'q1', "non-finite score 'nan' for document 'd1'"],
    ['warning', 'runs/a.trec:3', 'q7', "unknown query 'q7'"],
    ['warning', 'runs/a.trec:3', 'd8', "unknown document 'd8'"],
    ['error', 'runs/a.trec:4', 'q7', "document 'd8' twice for query 'q7'"],
  ]);
});

test('single files are known by name or by columns', async () => {
  const files = {
    'run.txt': 'q1 Q0 d1 1 inf t\n',
    'qrels.txt': 'q1 0 d1 1\nq1 0 d1 x\n',
    'some.tsv': `${HEADER}q1\td1\t1.5\n`,
    'rows.tsv': 'id\ttext\na\tx\na\ty\n',
    'rows.csv': 'id,text\na,\n',
    'run.trec.gz': gzipSync('q1 Q0 d1 1 t\n'),
  };
  const messages = async (name: string) => (await problemsOf(files, name)).map(([, , , message]) => message);
  expect(await messages('run.txt')).toEqual([like(/non-finite score/)]);
  expect(await messages('qrels.txt')).toEqual([like(/not an integer grade 'x'/)]);
  expect(await messages('some.tsv')).toEqual([like(/not an integer grade '1.5'/)]);
  expect(await messages('rows.tsv')).toEqual([like(/duplicate document id 'a': first on line 2, again on line 3/)]);
  expect(await messages('rows.csv')).toEqual(['the document is empty']);
  expect(await messages('run.trec.gz')).toEqual(['5 columns']);
});

test('a rewritten corpus: an empty rewrite is told, the original is what counts otherwise', async () => {
  const docopt = { title: '', text: 'old', sourceHash: 'h', status: 'rewritten', reason: '', policy: 'edit' };
  const corpus = jsonl({ _id: 'd1', text: 'new', docopt }, { _id: 'd2', text: '', docopt });
  expect(await problemsOf({ ...GOOD, 'corpus.jsonl': corpus })).toEqual([
    ['warning', 'corpus.jsonl:2', 'd2', 'the rewrite is empty'],
  ]);
});

test('the command: exit status, JSON and table', async () => {
  const context = {} as CommandContext; // validate needs nothing of it
  const run = (data?: string) => validateCommand.run(validateSchema.parse({ data }), context);
  const good = await run(folderWith(GOOD));
  expect(good.exitStatus).toBe(0);
  expect(good.json).toMatchObject({ ok: true, problems: [] });
  expect(good.text).toMatch(/: ok, 0 errors, 0 warnings \(2 documents, 2 queries, 3 judgements\)$/);

  const folder = folderWith({ ...GOOD, 'queries.jsonl': jsonl({ _id: 'q1', text: 'x' }, { _id: 'q1', text: 'y' }) });
  const bad = await run(folder);
  expect(bad.exitStatus).toBe(1);
  expect((bad.json as { problems: unknown[] }).problems[0]).toEqual({
    severity: 'error',
    file: join(folder, 'queries.jsonl'),
    line: 2,
    id: 'q1',
    message: "duplicate query id 'q1': first on line 1, again on line 2",
    hint: expect.any(String),
  });
  expect(bad.text).toMatch(/error {4}\S+queries\.jsonl:2 +duplicate query id 'q1'/);
  expect(bad.text).toMatch(/: not usable, 3 errors, 0 warnings/);

  const many = folderWith({
    'corpus.jsonl': jsonl(...Array.from({ length: 150 }, (_, i) => ({ _id: `d${i}`, text: '' }))),
  });
  expect((await run(many)).text).toMatch(/\.\.\. and 50 more; --json lists all/);
  await expect(run()).rejects.toThrow(/DATA is missing/);
});

test('a run tells what a run has', async () => {
  const folder = folderWith({ 'a.trec': 'q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq7 Q0 d8 1 1 t\n', 'b.qrels': 'q1 0 d1 1\n' });
  const run = await validateDataset(join(folder, 'a.trec'));
  expect(run.counts).toMatchObject({ documents: 0, rankings: 2, retrieved: 3 });
  expect(validationTable('a.trec', run)).toBe('a.trec: ok, 0 errors, 0 warnings (a run: 3 documents for 2 queries)');
  const judged = validationTable('b.qrels', await validateDataset(join(folder, 'b.qrels')));
  expect(judged).toBe('b.qrels: ok, 0 errors, 0 warnings (1 judgement)');
});
