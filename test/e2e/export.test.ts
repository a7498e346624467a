/** `docopt export` through the real program: every format from a real corpus, changes and deletions, and what people get wrong. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { pointId } from '../../index/export/qdrant.ts';
import { run } from '../support/cli.ts';
import { runHere } from '../support/in-process.ts';
import { folderWith, jsonl, temporaryFolder } from '../support/temp-folder.ts';

const documents = Array.from({ length: 30 }, (_, i) => ({
  _id: `d${i}`,
  title: `f${i}`,
  text: `function f${i}(sparseVector, queue) {\n  return parseDate(queue, "token${i}'s") + sparseVector.length;\n}`,
  metadata: { line: i },
}));
/** The next version of the same data: d0 is gone, d1 has another text, d2 other metadata, n0 is new. */
const next = [
  { ...documents[1], text: `${documents[1].text} // faster now` },
  { ...documents[2], metadata: { line: -1 } },
  ...documents.slice(3),
  { ...documents[3], _id: 'n0' },
];
const queries = jsonl({ _id: 'q1', text: 'parse a date' }, { _id: 'q2', text: 'length of a sparse vector' });
const qrels = 'query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n';
const data = (rows: readonly unknown[]) => ({
  'corpus.jsonl': jsonl(...rows),
  'queries.jsonl': queries,
  'qrels/test.tsv': qrels,
});
const named = (name: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${name}/${path}`, content]));

let cwd = '';
const at = (...names: string[]): string => join(cwd, ...names);
const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

async function docopt(...argv: string[]): Promise<string> {
  const { status, stdout, stderr } = await runHere(['docopt', ...argv], { cwd });
  expect([argv.join(' '), status, stderr]).toEqual([argv.join(' '), 0, expect.any(String)]);
  return stdout;
}

async function refused(argv: readonly string[], status: number, message: RegExp, hint: RegExp) {
  const result = await runHere(['docopt', 'export', ...argv], { cwd });
  expect([argv.join(' '), result.status, result.stdout]).toEqual([argv.join(' '), status, '']);
  expect(result.stderr).toMatch(message);
  expect(result.stderr).toMatch(hint);
}

beforeAll(async () => {
  cwd = folderWith({
    ...named('one', data(documents)),
    ...named('two', data(next)),
    ...named('other', data(documents.map((row) => ({ ...row, _id: `x-${row._id}` })))),
  });
  for (const name of ['one', 'two', 'other'])
    await docopt('rewrite-corpus', '--data', name, '--policy', 'edit', '--out', `corpora/${name}`);
  for (const name of ['one', 'two'])
    await docopt('index', '--corpus', `corpora/${name}`, '--retriever', 'lsa', '--out', `indexes/${name}`);
  await docopt('index', '--corpus', 'corpora/one', '--retriever', 'bm25', '--out', 'indexes/words');
  await docopt(
    'index',
    '--corpus',
    'corpora/one',
    '--retriever',
    'bm25',
    '--embedder',
    'none',
    '--out',
    'indexes/none',
  );
  await docopt('index', '--data', 'one', '--retriever', 'lsa', '--out', 'indexes/plain');
  rmSync(at('.docopt'), { recursive: true, force: true });
});

describe('docopt export', () => {
  it('jsonl to standard output: the original to show, the rewrite to search', async () => {
    const rows = lines(await docopt('export', '--corpus', 'corpora/one', '--to', 'jsonl'));
    const corpus = lines(readFileSync(at('corpora/one/corpus.jsonl'), 'utf8'));
    expect(rows).toEqual(
      documents.map(({ _id, title, text, metadata }, i) => ({
        id: _id,
        title,
        text,
        search_text: corpus[i].text,
        metadata,
      })),
    );
    expect(rows.filter((row) => row.search_text !== `${row.title} ${row.text}`).length).toBeGreaterThan(20);
  });

  it('takes the names of the target', async () => {
    const stdout = await docopt(
      ...['export', '--corpus', 'corpora/one', '--to', 'opensearch-bulk', '--name', 'my-docs'],
      ...['--text-field', 'body', '--original-field', 'shown', '--vectors', 'indexes/one', '--vector-field', 'v'],
    );
    const [action, source] = lines(stdout);
    expect(action).toEqual({ index: { _index: 'my-docs', _id: 'd0' } });
    expect(Object.keys(source)).toEqual(['title', 'shown', 'body', 'metadata', 'v']);
    expect(lines(stdout)).toHaveLength(60);
  });

  it('every format that is a file or a folder, from the latest corpus', async () => {
    await docopt('rewrite-corpus', '--data', 'one', '--policy', 'edit', '--out', 'corpora/one', '--force');
    for (const [format, files] of [
      ['csv', ['x']],
      ['parquet', ['x']],
      ['elasticsearch-bulk', ['x']],
      ['pgvector', ['x']],
      ['beir', ['corpus.jsonl', 'queries.jsonl', 'qrels']],
    ] as const) {
      const out = `files/${format}`;
      const result = JSON.parse(await docopt('export', '--to', format, '--out', out, '--json'));
      expect(result).toMatchObject({ format, documents: 30, upserts: 30, deletes: 0, files: [out] });
      if (files.length > 1) expect(readdirSync(at(out)).sort()).toEqual([...files].sort());
      else expect(readFileSync(at(out)).length).toBeGreaterThan(1000);
    }
    // What came out as BEIR is a data set of its own, judgements included.
    const { ok, counts } = JSON.parse(await docopt('validate', 'files/beir', '--json'));
    expect([ok, counts.documents, counts.queries]).toEqual([true, 30, 2]);
    rmSync(at('.docopt'), { recursive: true, force: true });
  });

  it('vectors: of the very index, row by row', async () => {
    await docopt('export', '--corpus', 'corpora/two', '--to', 'npy', '--vectors', 'indexes/two', '--out', 'files/npy');
    const ids = readFileSync(at('files/npy/ids.txt'), 'utf8').trimEnd().split('\n');
    expect(ids).toEqual(next.map(({ _id }) => _id));
    const file = readFileSync(at('files/npy/vectors.npy'));
    const stored = readFileSync(at('indexes/two/retriever/dense.f32'));
    expect(file.subarray(10 + file.readUInt16LE(8)).equals(stored)).toBe(true);
    const [first] = lines(
      await docopt('export', '--corpus', 'corpora/two', '--to', 'qdrant', '--vectors', 'indexes/two'),
    );
    expect(first.operations[0].upsert.points).toHaveLength(30);
    // BM25 has vectors of the originals beside it, for morph: they may go along, and the user is told what they are.
    const words = await runHere(
      ['docopt', 'export', '--corpus', 'corpora/one', '--to', 'pgvector', '--vectors', 'indexes/words'],
      { cwd },
    );
    expect([words.status, words.stderr]).toEqual([0, expect.stringContaining('those of the original documents')]);
  });

  it('--changed-since: what is new or other, and deletions of what is gone', async () => {
    const argv = ['export', '--corpus', 'corpora/two', '--changed-since', 'corpora/one'];
    const before = new Map(
      lines(await docopt('export', '--corpus', 'corpora/one', '--to', 'jsonl')).map((row) => [row.id, row]),
    );
    const after = new Map(
      lines(await docopt('export', '--corpus', 'corpora/two', '--to', 'jsonl')).map((row) => [row.id, row]),
    );
    // Applied to the old export, the changes give the new one: the definition of an update.
    const engine = new Map(before);
    const changes = lines(await docopt(...argv, '--to', 'jsonl'));
    for (const { op, ...row } of changes) {
      if (op === 'delete') engine.delete(row.id);
      else engine.set(row.id, row);
    }
    expect(engine).toEqual(after);
    const touched = changes.map(({ op, id }) => `${op} ${id}`);
    expect(touched).toEqual(expect.arrayContaining(['upsert d1', 'upsert d2', 'upsert n0', 'delete d0']));

    const bulk = lines(await docopt(...argv, '--to', 'opensearch-bulk'));
    expect(bulk.at(-1)).toEqual({ delete: { _index: 'documents', _id: 'd0' } });
    expect(await docopt(...argv, '--to', 'pgvector')).toContain(`DELETE FROM "documents" WHERE "id" IN (E'd0');`);
    await docopt(...argv, '--to', 'beir', '--out', 'files/changed');
    expect(readFileSync(at('files/changed/deleted.txt'), 'utf8')).toBe('d0\n');
    // Vectors that were fitted on all documents are all others now.
    await refused(
      [...argv.slice(1), '--to', 'qdrant', '--vectors', 'indexes/two'],
      2,
      /were fitted on all documents/,
      /Export everything/,
    );
    const same = [
      '--corpus',
      'corpora/one',
      '--changed-since',
      'corpora/one',
      '--to',
      'qdrant',
      '--vectors',
      'indexes/one',
    ];
    expect(await docopt('export', ...same)).toBe('');
    expect(pointId('d0')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
  });

  it('parts of a bulk file are cut between actions; a shorter export takes the rest of a longer one away', async () => {
    const argv = ['export', '--corpus', 'corpora/one', '--to', 'opensearch-bulk', '--out', 'parts/x.ndjson'];
    const { files } = JSON.parse(await docopt(...argv, '--part-mb', '0.002', '--json'));
    expect(files.length).toBeGreaterThan(4);
    const whole = await docopt('export', '--corpus', 'corpora/one', '--to', 'opensearch-bulk');
    expect(files.map((file: string) => readFileSync(at(file), 'utf8')).join('')).toBe(whole);
    for (const file of files) expect('index' in lines(readFileSync(at(file), 'utf8'))[0]).toBe(true);
    await refused([...argv.slice(1), '--part-mb', '1'], 2, /x\.ndjson\.0001 exists/, /--force/);
    await docopt(...argv, '--part-mb', '1', '--force');
    expect(readdirSync(at('parts'))).toEqual(['x.ndjson.0001']);
  });

  it('a reader that has seen enough ends it quietly', async () => {
    const script = join(import.meta.dirname, '..', '..', 'dist', 'bin', 'docopt.js');
    const sh = `node '${script}' export --corpus corpora/one --to jsonl | head -n 1`;
    const { execFileSync } = await import('node:child_process');
    expect(
      JSON.parse(
        execFileSync('bash', ['-o', 'pipefail', '-c', sh], {
          cwd,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }),
      ).id,
    ).toBe('d0');
    const child = await run(['docopt', 'export', '--corpus', 'corpora/one', '--to', 'csv'], { cwd });
    expect([child.status, child.stdout.split('\n')[0]]).toEqual([0, 'id,title,text,search_text,metadata']);
  });
});

describe('docopt export: what people get wrong', () => {
  it('a corpus that is none', async () => {
    await refused(['--corpus', 'one', '--to', 'jsonl'], 1, /holds no manifest\.json/, /docopt rewrite-corpus/);
    await refused(
      ['--corpus', 'indexes/one', '--to', 'jsonl'],
      1,
      /is of kind 'index', 'corpus' is wanted/,
      /rewrite-corpus/,
    );
    await refused(['--corpus', 'nowhere', '--to', 'jsonl'], 1, /'nowhere' does not exist/, /rewrite-corpus/);
    await refused(['--to', 'jsonl'], 2, /which corpus\?/, /rewrite-corpus/);
    mkdirSync(at('corpora/damaged'), { recursive: true });
    for (const name of readdirSync(at('corpora/one')))
      writeFileSync(
        at('corpora/damaged', name),
        readFileSync(at('corpora/one', name), 'utf8').replace('token7', 'token8'),
      );
    await refused(['--corpus', 'corpora/damaged', '--to', 'jsonl'], 1, /corpus\.jsonl has changed/, /Make it again/);
  });

  it('an earlier corpus of other documents', async () => {
    const argv = ['--corpus', 'corpora/one', '--to', 'jsonl', '--changed-since'];
    await refused(
      [...argv, 'corpora/other'],
      1,
      /none of their 30 and 30 ids in common/,
      /earlier rewrite of the same/,
    );
    await refused([...argv, 'one'], 1, /holds no manifest\.json/, /rewrite-corpus/);
  });

  it('vectors of another corpus, of plain data, or none', async () => {
    const argv = ['--corpus', 'corpora/one', '--to', 'pgvector', '--vectors'];
    await refused(
      [...argv, 'indexes/two'],
      1,
      /was made of corpus [0-9a-f]{12}; corpora\/one is [0-9a-f]{12}/,
      /docopt index/,
    );
    await refused([...argv, 'indexes/plain'], 1, /made of plain data/, /docopt index --corpus corpora\/one/);
    await refused([...argv, 'indexes/none'], 1, /has no vectors/, /dense retriever/);
    await refused([...argv, 'corpora/one'], 1, /'index' is wanted/, /docopt index/);
    await refused(['--corpus', 'corpora/one', '--to', 'npy', '--out', 'v'], 2, /--vectors is missing/, /docopt index/);
  });

  it('an index whose documents are not those of the corpus it names', async () => {
    const manifest = JSON.parse(readFileSync(at('indexes/two/manifest.json'), 'utf8'));
    manifest.parents.corpus = JSON.parse(readFileSync(at('corpora/one/manifest.json'), 'utf8')).fingerprint;
    const { cpSync } = await import('node:fs');
    cpSync(at('indexes/two'), at('indexes/liar'), { recursive: true });
    writeFileSync(at('indexes/liar/manifest.json'), JSON.stringify(manifest));
    await refused(
      ['--corpus', 'corpora/one', '--to', 'pgvector', '--vectors', 'indexes/liar'],
      1,
      /has no document 'd0'/,
      /damaged/,
    );
  });

  it('places that cannot be written, or hold something else', async () => {
    const argv = ['--corpus', 'corpora/one', '--to'];
    writeFileSync(at('mine.txt'), 'mine');
    await refused([...argv, 'jsonl', '--out', 'mine.txt'], 2, /mine\.txt exists/, /--force/);
    await refused(
      [...argv, 'jsonl', '--out', 'mine.txt/x'],
      1,
      /mine\.txt is a file, a folder is wanted/,
      /another place/,
    );
    await refused([...argv, 'jsonl', '--out', 'one'], 2, /one is a folder, a file is wanted/, /another --out/);
    await refused([...argv, 'jsonl', '--out', '/dev/null'], 2, /is no file/, /standard output/);
    await refused([...argv, 'beir', '--out', 'one'], 2, /not empty/, /another --out/);
    await refused([...argv, 'beir', '--out', 'corpora', '--force'], 2, /no earlier export/, /another --out/);
    await refused([...argv, 'parquet', '--out', '/proc/nothing/x'], 1, /cannot write/, /another place/);
    expect(readFileSync(at('mine.txt'), 'utf8')).toBe('mine');
    for (const format of ['parquet', 'beir'])
      await refused([...argv, format], 2, /cannot go to standard output/, /--out/);
    await refused([...argv, 'csv', '--part-mb', '1', '--out', 'y'], 2, /bulk formats/, /--out/);
    const both = await runHere(['docopt', 'export', ...argv, 'csv', '--json'], { cwd });
    expect([both.status, JSON.parse(both.stdout).error.code]).toEqual([2, 'USAGE']);
    expect(existsSync(at('y'))).toBe(false);
    const replaced = temporaryFolder();
    await docopt('export', ...argv, 'jsonl', '--out', join(replaced, 'a'));
    await docopt('export', ...argv, 'jsonl', '--out', join(replaced, 'a'), '--force');
    expect(readdirSync(replaced)).toEqual(['a']);
  });

  it('names that the engine would refuse or read otherwise', async () => {
    const argv = ['--corpus', 'corpora/one', '--to'];
    await refused(
      [...argv, 'opensearch-bulk', '--name', 'My Docs'],
      2,
      /no name for --to opensearch-bulk/,
      /lower case/,
    );
    await refused(
      [...argv, 'pgvector', '--name', 'a"; DROP TABLE b; --'],
      2,
      /no name for --to pgvector/,
      /SCHEMA\.TABLE/,
    );
    await refused([...argv, 'jsonl', '--text-field', 'id'], 2, /--text-field 'id': every row has it/, /another name/);
    await refused(
      [...argv, 'jsonl', '--text-field', 'text'],
      2,
      /--original-field 'text': it is --text-field already/,
      /another name/,
    );
    await refused([...argv, 'jsonl', '--vector-field', 'a.b'], 2, /letters, digits and underscores/, /another name/);
    await refused([...argv, 'solr'], 2, /solr/, /./);
  });
});
