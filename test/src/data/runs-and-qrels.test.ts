import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  loadDataset,
  loadQrels,
  loadQueries,
  loadRun,
  type Problem,
  writeBeir,
  writeFileAtomic,
  writeRun,
} from '../../../src/data/mod.ts';
import { fallingScores } from '../../../src/data/write-run.ts';
import { folderWith, jsonl, temporaryFolder } from '../../support/temp-folder.ts';

async function thrown(promise: Promise<unknown>): Promise<{ message: string; code: string; hint: string }> {
  return promise.then(
    () => ({ message: 'nothing was thrown', code: '', hint: '' }),
    (error) => error,
  );
}

function file(name: string, content: string | Uint8Array): string {
  return join(folderWith({ [name]: content }), name);
}

test('BEIR qrels: header, CRLF, byte order mark, negative and signed grades, identical repeats', async () => {
  const text =
    '\uFEFFquery-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq1\td2\t-2\r\n\r\nq2\td1\t+3\r\nq2\td1\t3\r\nq3\td9\t1.0';
  const qrels = await loadQrels(file('test.tsv', text));
  expect(qrels).toEqual(
    new Map([
      [
        'q1',
        new Map([
          ['d1', 1],
          ['d2', -2],
        ]),
      ],
      ['q2', new Map([['d1', 3]])],
      ['q3', new Map([['d9', 1]])],
    ]),
  );
  expect(await loadQrels(file('test.tsv.gz', gzipSync(text)))).toEqual(qrels);
});

test('a missing header costs no judgement and is told', async () => {
  const warnings: Problem[] = [];
  const qrels = await loadQrels(file('test.tsv', 'q1\td1\t1\nq1\td2\t0\n'), {
    onWarning: (problem) => warnings.push(problem),
  });
  expect(qrels.get('q1')!.size).toBe(2);
  expect(warnings.map(({ line, message }) => [line, message])).toEqual([[1, expect.stringMatching(/no header line/)]]);
});

test('other headers, and first lines that only look like one', async () => {
  for (const header of [
    'query_id\tdoc_id\trelevance',
    'qid\tpid\tlabel',
    'topic\tdocument\tgrade',
    'QUERY-ID\tCORPUS-ID\tSCORE',
  ]) {
    expect((await loadQrels(file('test.tsv', `${header}\nq1\td1\t1\n`))).size, header).toBe(1);
  }
  await expect(loadQrels(file('test.tsv', 'q1\td1\tnan\n'))).rejects.toThrow(/:1: non-finite grade/);
  expect((await loadQrels(file('test.tsv', 'query7\td1\t1\n'))).get('query7')!.get('d1')).toBe(1);
});

test('a folder of qrels by split, together and apart', async () => {
  const folder = folderWith({
    'corpus.jsonl': jsonl({ _id: 'd1', text: 'x' }),
    'queries.jsonl': jsonl({ _id: 'q1', text: 'x' }, { _id: 'q2', text: 'y' }),
    'qrels/train.tsv': 'query-id\tcorpus-id\tscore\nq1\td1\t1\n',
    'qrels/test.tsv.gz': gzipSync('query-id\tcorpus-id\tscore\nq2\td1\t1\n'),
  });
  const { qrels, qrelsBySplit, name } = await loadDataset(folder);
  expect([...qrels.keys()]).toEqual(['q1', 'q2']);
  expect(Object.keys(qrelsBySplit)).toEqual(['train', 'test']);
  expect(folder.endsWith(name)).toBe(true);
  expect(await loadQrels(folder)).toEqual(qrels);
});

const BAD_QRELS: readonly [string, RegExp][] = [
  ['q1\td1\n', /:1: 2 columns/],
  ['query-id\tcorpus-id\tscore\nq1\td1\t1\nq1 0 d1 1 extra\n', /:3: 5 columns/],
  ['q1\td1\t0.5\n', /:1: not an integer grade '0\.5' for document 'd1'/],
  ['q1\td1\tinf\n', /:1: non-finite grade 'inf'/],
  ['q1\td1\t99999999999999999999\n', /:1: too large a grade/],
  ['q1\td1\t0x10\n', /:1: not an integer grade '0x10'/],
  ['q1\tmy doc\t1\n', /:1: the id "my doc" contains white space/],
  ['q1\t\t1\n', /:1: the id is empty/],
  ['q1\td1\t1\nq1\td1\t2\n', /:2: query 'q1' and document 'd1' are judged 1 before and 2 here/],
];

test.each(BAD_QRELS)('bad qrels: %j', async (content, message) => {
  const error = await thrown(loadQrels(file('test.tsv', content)));
  expect(error.message).toMatch(message);
  expect([error.code, error.hint === '']).toEqual(['DATA', false]);
});

test('judgements that contradict each other across files', async () => {
  const folder = folderWith({ 'qrels/train.tsv': 'q1\td1\t1\n', 'qrels/test.tsv': 'q1\td1\t0\n' });
  await expect(loadQrels(folder)).rejects.toThrow(
    /test\.tsv:1: query 'q1' and document 'd1' are judged 1 before and 0 here/,
  );
});

test('a run: sorted by score then id, whatever its ranks and line order say', async () => {
  const run = await loadRun(
    file('run.trec', 'q1 Q0 b 1 1.5 t\r\nq1\tQ0\ta\t2\t1.5\tt\nq2 Q0 z 1 -3e2 t\nq1 Q0 c 3 2 t\n\n'),
  );
  expect(run.get('q1')).toEqual({ ids: ['c', 'a', 'b'], scores: Float64Array.from([2, 1.5, 1.5]) });
  expect(run.get('q2')).toEqual({ ids: ['z'], scores: Float64Array.from([-300]) });
});

const BAD_RUNS: readonly [string, RegExp][] = [
  ['q1 Q0 d1 1 t\n', /:1: 5 columns/],
  ['q1 Q0 d1 1 NaN t\n', /:1: non-finite score 'NaN' for document 'd1'/],
  ['q1 Q0 d1 1 -inf t\n', /:1: non-finite score '-inf'/],
  ['q1 Q0 d1 1 1e999 t\n', /:1: non-finite score '1e999'/],
  ['q1 Q0 d1 1 high t\n', /:1: not a number as score: 'high'/],
  ['q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n', /:2: document 'd1' twice for query 'q1'/],
];

test.each(BAD_RUNS)('bad runs: %j', async (content, message) => {
  const error = await thrown(loadRun(file('run.trec', content)));
  expect(error.message).toMatch(message);
  expect([error.code, error.hint === '']).toEqual(['DATA', false]);
});

test('bad queries', async () => {
  await expect(
    loadQueries(file('queries.jsonl', jsonl({ _id: 'q', text: 'x' }, { _id: 'q', text: 'y' }))),
  ).rejects.toThrow(/queries\.jsonl:2: duplicate query id 'q': first on line 1, again on line 2/);
  await expect(loadQueries(file('queries.jsonl', jsonl({ _id: 'q' })))).rejects.toThrow(/:1: row 'q' has no "text"/);
  await expect(loadQueries(folderWith({ 'corpus.jsonl': '' }))).rejects.toThrow(/the folder has no queries file/);
});

test('files where folders were expected, and the reverse', async () => {
  const folder = folderWith({ 'run.trec': '' });
  await expect(loadRun(folder)).rejects.toThrow(/is a folder; expected a TREC run/);
  await expect(loadRun(join(folder, 'none'))).rejects.toThrow(/no such file; expected a TREC run/);
  await expect(loadQrels(join(folder, 'none'))).rejects.toThrow(/no such file or folder; expected a qrels file/);
  await expect(loadQrels(folder)).rejects.toThrow(/the folder has no qrels/);
});

test('what a data set must have', async () => {
  const empty = folderWith({ 'corpus.jsonl': '\n' });
  await expect(loadDataset(empty)).rejects.toThrow(/the corpus is empty/);
  const bare = folderWith({ 'corpus.jsonl': jsonl({ _id: 'a', text: 'x' }) });
  expect((await loadDataset(bare)).queries).toEqual([]);
  await expect(loadDataset(bare, { judged: true })).rejects.toThrow(/the data set has no queries/);
  writeFileSync(join(bare, 'queries.jsonl'), jsonl({ _id: 'q', text: 'x' }));
  await expect(loadDataset(bare, { judged: true })).rejects.toThrow(/the data set has no judgements/);
});

test('scores that already fall are written as they are; ties become the next float below', () => {
  expect([...fallingScores(Float64Array.from([3.1, 2.5, 0.1, -7]))]).toEqual([3.1, 2.5, 0.1, -7]);
  expect([...fallingScores(Float64Array.from([1, 1, 0.5]))]).toEqual([1, 1 - 2 ** -24, 0.5]);
  // Apart as doubles, equal as floats.
  expect(Math.fround(fallingScores(Float64Array.from([1 + 1e-12, 1]))[1])).toBeLessThan(1);
  expect([...fallingScores(new Float64Array(3))]).toEqual([0, -(2 ** -149), -(2 ** -148)]);
  // Beyond the range of floats: the largest one, or, below all of them, ranks.
  expect([...fallingScores(Float64Array.from([1e300, 5]))]).toEqual([2 ** 128 - 2 ** 104, 5]);
  expect([...fallingScores(Float64Array.from([5, -1e300, -1e300]))]).toEqual([3, 2, 1]);
  expect(() => fallingScores(Float64Array.from([1, Number.NaN]))).toThrow(/score NaN at rank 2/);
});

test('a run that cannot be written leaves nothing behind, and an earlier one as it was', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'run.trec');
  writeFileSync(path, 'earlier');
  const run = new Map([['q', { ids: ['a', 'b c'], scores: Float64Array.from([2, 1]) }]]);
  expect((await thrown(writeRun(path, run, 't'))).message).toMatch(
    /cannot write the run: the id "b c" contains white space/,
  );
  expect((await thrown(writeRun(path, new Map(), 'my tag'))).code).toBe('USAGE');
  expect(readdirSync(folder)).toEqual(['run.trec']);
  expect(readFileSync(path, 'utf8')).toBe('earlier');
});

test('atomic writing: text and bytes in order, folders made, failures leave nothing', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'new', 'file');
  await writeFileAtomic(path, ['é', new Uint8Array([0xff]), 'x'.repeat(600_000), 'end']);
  const bytes = readFileSync(path);
  expect(bytes.length).toBe(600_006);
  expect([...bytes.subarray(0, 4)]).toEqual([0xc3, 0xa9, 0xff, 0x78]);
  const failing = (function* () {
    yield 'half';
    throw new Error('source failed');
  })();
  await expect(writeFileAtomic(path, failing)).rejects.toThrow('source failed');
  expect(readFileSync(path).length).toBe(600_006);
  expect(readdirSync(join(folder, 'new'))).toEqual(['file']);
});

test('writeBeir: an empty folder is filled, one with content refused, a failure leaves nothing', async () => {
  const folder = temporaryFolder();
  const content = {
    documents: [{ id: 'a', title: '', text: 'x' }],
    queries: [{ id: 'q', text: 'y' }],
    qrels: new Map([['q', new Map([['a', 1]])]]),
  };
  mkdirSync(join(folder, 'empty'));
  await writeBeir(join(folder, 'empty'), content);
  expect(readdirSync(join(folder, 'empty')).sort()).toEqual(['corpus.jsonl', 'qrels', 'queries.jsonl']);
  expect((await thrown(writeBeir(join(folder, 'empty'), content))).message).toMatch(/exists and is not empty/);
  const twice = { ...content, documents: [...content.documents, ...content.documents] };
  expect((await thrown(writeBeir(join(folder, 'new'), twice))).message).toMatch(/duplicate document id 'a'/);
  const bad = { ...content, qrels: new Map([['q', new Map([['a', 0.5]])]]) };
  expect((await thrown(writeBeir(join(folder, 'new'), bad))).message).toMatch(/grade 0.5 is not an integer/);
  expect(existsSync(join(folder, 'new'))).toBe(false);
  expect(readdirSync(folder)).toEqual(['empty']);
  await writeBeir(join(folder, 'split'), { ...content, qrels: { train: content.qrels, test: new Map() } });
  expect(readFileSync(join(folder, 'split', 'qrels', 'train.tsv'), 'utf8')).toBe(
    'query-id\tcorpus-id\tscore\nq\ta\t1\n',
  );
});
