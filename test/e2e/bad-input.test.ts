/**
 * What people get wrong, through the real programs: every failure is one clear sentence with a way on, in the promised
 * shape and with the promised exit status; odd but lawful input works.
 */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { visible } from '../../src/text/visible.ts';
import { runHere } from '../support/in-process.ts';
import { folderWith, jsonl } from '../support/temp-folder.ts';

const words = ['parse', 'date', 'vector', 'sparse', 'walk', 'tree', 'lock', 'queue', 'merge', 'hash'];
const documents = Array.from({ length: 30 }, (_, i) => ({
  _id: `d${i}`,
  title: `f${i}`,
  text: `function f${i}(${words[i % 10]}) { return ${words[(i * 3) % 10]} + token${i}; }`,
}));
const queries = documents.map((_, i) => ({ _id: `q${i}`, text: `${words[i % 10]} with token${i}` }));
const qrels = (...more: string[]): string =>
  ['query-id\tcorpus-id\tscore', ...documents.map((_, i) => `q${i}\td${i}\t1`), ...more].map((l) => `${l}\n`).join('');
const dataset = (name: string, files: Record<string, string | Uint8Array> = {}) =>
  Object.fromEntries(
    Object.entries({
      'corpus.jsonl': jsonl(...documents),
      'queries.jsonl': jsonl(...queries),
      'qrels/test.tsv': qrels(),
      ...files,
    }).map(([file, content]) => [`${name}/${file}`, content]),
  );

const KEY = 'sk-fake-0123456789abcdef';
const env = { OPENAI_API_KEY: KEY, MORPH_API_KEY: `${KEY}-morph` };
let cwd = '';
const at = (...names: string[]): string => join(cwd, ...names);

/** Everything that a terminal would obey. */
const OBEYED = /(?![\n\t])[\p{Cc}\p{Bidi_C}]/u;

async function ran(argv: readonly string[], status: number) {
  const result = await runHere(argv, { cwd, env });
  const line = argv.join(' ').slice(0, 200);
  expect([line, result.status, result.stderr]).toEqual([line, status, expect.any(String)]);
  expect(result.stdout + result.stderr).not.toContain(KEY);
  expect(result.stdout + result.stderr).not.toMatch(OBEYED);
  return result;
}

/** Exactly one JSON document on stdout. */
async function works(...argv: string[]) {
  const { stdout } = await ran([...argv, '--json'], 0);
  expect(stdout).toMatch(/^[^\n]+\n$/);
  return JSON.parse(stdout);
}

/** Exactly {error: {code, message, hint}} on stdout, the same words on stderr, and nothing that only its authors understand. */
async function refused(argv: readonly string[], status: number, message: RegExp | string): Promise<void> {
  const { stdout, stderr } = await ran([...argv, '--json'], status);
  const document = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
  expect(document).toEqual({
    error: {
      code: expect.stringMatching(/^[A-Z_]+$/),
      message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
      hint: expect.stringMatching(/\S/),
    },
  });
  const { error } = document;
  expect(error.code).not.toBe('INTERNAL');
  expect(error.message).not.toMatch(/\bE[A-Z]{3,}\b:|undefined|\[object|Invalid input|is not a function|Cannot read/);
  expect(stderr).toContain(visible(error.message));
}

const train = (data: string, out: string, ...more: string[]): string[] => [
  ...['docopt', 'train', '--data', data, '--retriever', 'bm25', '--policy', 'edit', '--no-baselines', '--out', out],
  ...['--steps', '2', '--metrics', 'nDCG@5', ...more],
];

beforeAll(async () => {
  const bom = (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
  const odd = [
    { _id: '__proto__', title: 'constructor', text: 'boat proto', metadata: { constructor: 1, hasOwnProperty: 2 } },
    { _id: 'constructor', title: '', text: 'boat constructor' },
    { _id: 'D1', title: '', text: 'boat that differs by case' },
    { _id: 'long', title: '', text: `boat ${'lorem ipsum '.repeat(170_000)}` },
    { _id: 'word', title: '', text: `boat ${'x'.repeat(2_000_000)}` },
    { _id: 'nul', title: '', text: 'boat a\u0000b' },
    {
      _id: '<b>esc</b>',
      title: '\u001b]0;title\u0007',
      text: 'boat \u001b[31mred\u001b[0m \u009b1m <script>alert(1)</script>',
    },
    { _id: 'unicode', title: '', text: 'boat \u202eright to left\u202c zero\u200bwidth lone \ud800 \u2028 line' },
    { _id: 'empty', title: '', text: '' },
  ];
  cwd = folderWith({
    ...dataset('ok'),
    ...dataset('odd', {
      'corpus.jsonl': jsonl(...documents, ...odd),
      'queries.jsonl': jsonl(
        ...queries,
        { _id: '__proto__', text: 'boat proto' },
        { _id: 'constructor', text: 'boat constructor' },
        { _id: 'big', text: 'parse token1 '.repeat(80_000) },
        { _id: 'blank', text: '  ' },
        { _id: 'lone', text: 'boat \ud800' },
      ),
      'qrels/test.tsv': qrels(
        ...['q1\td2\t-1', 'q2\tempty\t-5', '__proto__\t__proto__\t1', 'constructor\tconstructor\t9007199254740991'],
        ...['big\td1\t1', 'blank\td3\t1', 'lone\tunicode\t1', 'q3\tD1\t1'],
      ),
    }),
    ...dataset('bom', {
      'corpus.jsonl': bom(jsonl(...documents)),
      'queries.jsonl': bom(jsonl(...queries)),
      'qrels/test.tsv': bom(qrels()),
    }),
    ...dataset('empty', { 'corpus.jsonl': '' }),
    ...dataset('one', {
      'corpus.jsonl': jsonl(documents[0]),
      'queries.jsonl': jsonl(queries[0]),
      'qrels/test.tsv': 'query-id\tcorpus-id\tscore\nq0\td0\t1\n',
    }),
    ...dataset('negative', { 'qrels/test.tsv': qrels().replaceAll('\t1\n', '\t-1\n') }),
    ...dataset('cut', { 'corpus.jsonl': jsonl(...documents).slice(0, -20) }),
    ...dataset('latin', { 'corpus.jsonl': Buffer.from('{"_id": "d", "text": "caf\u00e9"}\n', 'latin1') }),
    ...dataset('binary', { 'corpus.jsonl': new Uint8Array(4096) }),
    ...dataset('escaped-fault', { 'corpus.jsonl': '{"_id": "d", "text": \u001b[31m}\n' }),
    ...dataset('grades', { 'qrels/test.tsv': qrels('q1\td2\t1e99') }),
    'pools/ok.json': JSON.stringify({
      query: { text: 'boat' },
      documents: [1, 2, 3].map((i) => ({ id: `d${i}`, text: `boat ${i}`, score: i / 10 })),
    }),
    'a file': '',
    'docs/readme.bin': '',
  });
  mkdirSync(at('folders/corpus.jsonl'), { recursive: true });
  mkdirSync(at('folder-qrels/qrels/test.tsv'), { recursive: true });
  for (const file of ['queries.jsonl', 'qrels']) cpSync(at('ok', file), at('folders', file), { recursive: true });
  for (const file of ['corpus.jsonl', 'queries.jsonl']) cpSync(at('ok', file), at('folder-qrels', file));
  await works('docopt', 'index', '--data', 'ok', '--retriever', 'bm25', '--out', 'index');
  await works(...train('ok', 'exp'));
  await works('docopt', 'rewrite-corpus', '--policy', 'exp', '--out', 'corpus');
}, 60_000);

describe('odd but lawful data', () => {
  it('goes through the whole pipeline and comes back as it was', async () => {
    expect(await works('docopt', 'validate', 'odd')).toMatchObject({ ok: true });
    await works(...train('odd', 'odd-exp'));
    await works('docopt', 'rewrite-corpus', '--policy', 'odd-exp', '--out', 'odd-corpus');
    await works('docopt', 'index', '--corpus', 'odd-corpus', '--out', 'odd-index');
    const originals = readFileSync(at('odd/corpus.jsonl'), 'utf8').trimEnd().split('\n');
    const found = await works('docopt', 'search', 'boat', '--index', 'odd-index', '-k', '20');
    const byId = new Map(found.results.map((result: { id: string }) => [result.id, result]));
    expect(byId.size).toBe(8);
    for (const line of originals) {
      const { _id: id, title, text, metadata = {} } = JSON.parse(line);
      if (byId.has(id)) expect(byId.get(id)).toMatchObject({ title, text, metadata });
    }
    const chosen = await works('morph', 'select', 'boat', '--index', 'odd-index', '-B', '4', '-k', '8');
    expect(chosen.selected.map(({ id }: { id: string }) => id).sort()).toEqual([...byId.keys()].sort());
    const { systems } = await works('docopt', 'eval', '--data', 'odd', '--index', 'odd-index', '--split', 'all');
    expect(Object.entries(systems[0].perQuery['nDCG@5'])).toEqual(
      expect.arrayContaining([
        ['__proto__', 1],
        ['constructor', 1],
        ['blank', 0],
      ]),
    );
    // For people: one line each, whatever the documents hold (`ran` looks for escapes).
    await ran(['docopt', 'search', 'boat', '--index', 'odd-index', '-k', '20'], 0);
    await ran(['morph', 'select', 'boat', '--index', 'odd-index', '-B', '4'], 0);
    await ran(['docopt', 'rewrite-corpus', '--policy', 'odd-exp', '--corpus', 'odd', '--limit', '39', '--diff'], 0);
  }, 60_000);

  it('CRLF and byte order marks change nothing', async () => {
    const { fingerprint } = JSON.parse(readFileSync(at('index/manifest.json'), 'utf8'));
    const other = await works('docopt', 'index', '--data', 'bom', '--retriever', 'bm25', '--out', 'bom-index');
    expect(other.fingerprint).toBe(fingerprint);
  });

  it('one document, no labels that serve, every query in train', async () => {
    await works('docopt', 'index', '--data', 'one', '--retriever', 'bm25', '--out', 'one-index');
    expect((await works('docopt', 'search', 'token0', '--index', 'one-index')).results).toHaveLength(1);
    expect((await works('morph', 'select', 'token0', '--index', 'one-index')).selected).toHaveLength(1);
    await works('docopt', 'index', '--data', 'negative', '--retriever', 'bm25', '--out', 'negative-index');
    await refused(train('one', 'one-exp'), 1, 'there are no training queries');
    await refused(train('negative', 'negative-exp'), 1, 'no query has a positive judgement');
    cpSync(at('ok'), at('all-train'), { recursive: true });
    rmSync(at('all-train/splits'), { recursive: true });
    const report = await works(...train('all-train', 'all-exp', '--train', '1'));
    expect([report.splits.test, report.metrics['nDCG@5'].trained, report.comparisons]).toEqual([0, null, []]);
    expect((await ran(['docopt', 'train', '--out', 'all-exp', '--resume'], 0)).stdout).not.toContain('NaN');
    await refused(['docopt', 'eval', '--data', 'all-train', '--retriever', 'bm25'], 1, "no queries of split 'test'");
  }, 60_000);
});

describe('data that cannot be used', () => {
  it.each([
    ['empty', /empty.* (is empty|has no documents)/],
    ['cut', 'cut/corpus.jsonl:30: the last row is cut off'],
    ['latin', 'latin/corpus.jsonl:1: bad UTF-8: byte 0xe9'],
    ['binary', 'binary/corpus.jsonl:1: invalid JSON: NUL byte at character 0'],
    ['escaped-fault', 'escaped-fault/corpus.jsonl:1: invalid JSON'],
    ['grades', "grades/qrels/test.tsv:32: not an integer grade '1e99'"],
    ['folders', 'folders/corpus.jsonl: is a folder; expected'],
    ['folder-qrels', 'folder-qrels/qrels/test.tsv: is a folder; expected a file'],
    ['nowhere', 'nowhere: no such file or folder; expected a data set'],
    ['docs', 'docs: the folder holds no corpus'],
    ['a file', 'a file'],
  ])('%s: every command says the same', async (data, message) => {
    const validation = await runHere(['docopt', 'validate', data, '--json'], { cwd });
    expect(validation.status).toBe(1);
    await refused(['docopt', 'eval', '--data', data, '--retriever', 'bm25', '--split', 'all'], 1, message);
    if (data === 'docs' || data === 'a file') return;
    await refused(train(data, 'never'), 1, message);
    await refused(['docopt', 'index', '--data', data, '--retriever', 'bm25', '--out', 'never'], 1, /\S/);
    expect(existsSync(at('never'))).toBe(false);
  });

  it('pools and runs', async () => {
    const pool = readFileSync(at('pools/ok.json'), 'utf8');
    const bad: [string, string | Buffer, RegExp][] = [
      ['nan', pool.replace('0.2', 'NaN'), /not JSON/],
      ['infinite', pool.replace('0.2', '1e999'), /document 'd2' \(documents\[1\]\): score is Infinity/],
      ['negative', pool.replace('0.2', '-0.2'), /score is -0.2, expected a probability/],
      ['cut', pool.slice(0, 50), /not JSON/],
      ['latin', Buffer.from(pool.replace('boat', 'caf\u00e9'), 'latin1'), /bad UTF-8 at byte \d+/],
      ['utf16', Buffer.from(`\uFEFF${pool}`, 'utf16le'), /bad UTF-8/],
      ['no-query', pool.replace('"boat"', '""'), /neither text nor embedding/],
      ['twice', pool.replace('"d2"', '"d1"'), /has the id of documents\[0\]/],
      ['number', pool.replace('"d2"', '2'), /documents\[1\]\.id is a number/],
      ['null', 'null', /expected an object, found null/],
    ];
    for (const [name, content, message] of bad) {
      writeFileSync(at(`pools/${name}.json`), content);
      await refused(['morph', 'select', '--pool', `pools/${name}.json`], 1, message);
    }
    await refused(['morph', 'select', '--pool', 'pools'], 2, "'pools' is a folder");
    await refused(['morph', 'select', '--pool', 'pools/none.json'], 2, 'does not exist');
    for (const [line, message] of [
      ['q1 Q0 d1 1 NaN t', /x\.trec:1: non-finite score 'NaN'/],
      ['q1 Q0 d1 1 1e400 t', /non-finite score/],
      ['q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t', /x\.trec:2: document 'd1' twice/],
      ['q1\u001b[31m Q0 d1 1 2 t', /U\+001B/],
      ['q1 d1 2', /x\.trec:1: 3 columns/],
    ] as const) {
      writeFileSync(at('x.trec'), `${line}\n`);
      await refused(['docopt', 'eval', '--data', 'ok', '--run', 'x.trec'], 1, message);
    }
    await refused(['docopt', 'eval', '--data', 'ok', '--run', 'index'], 1, 'index: is a folder; expected a TREC run');
  });
});

describe('artefacts', () => {
  const damaged = (from: string, change: (folder: string) => void): void => {
    rmSync(at('damaged'), { recursive: true, force: true });
    cpSync(at(from), at('damaged'), { recursive: true });
    change(at('damaged'));
  };
  const filesIn = (folder: string): string[] =>
    readdirSync(at(folder), { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name).slice(at(folder).length + 1));
  const cutInHalf = (path: string) => (folder: string) =>
    truncateSync(join(folder, path), Math.floor(statSync(join(folder, path)).size / 2));
  const manifest = (change: (manifest: Record<string, unknown>) => unknown) => (folder: string) => {
    const path = join(folder, 'manifest.json');
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))));
  };
  const info = (change: object) =>
    manifest((m) => ({ ...m, info: { ...(m.info as Record<string, unknown>), ...change } }));

  it('cut, changed, of a newer format or none at all', async () => {
    for (const path of filesIn('index')) {
      damaged('index', cutInHalf(path));
      await refused(['docopt', 'search', 'x', '--index', 'damaged'], 1, `damaged/${path}`);
    }
    for (const [change, message] of [
      [manifest((m) => ({ ...m, format: 2 })), "index 'damaged' has format 2; this build reads 1"],
      [manifest((m) => ({ ...m, kind: '__proto__' })), 'no manifest of this project'],
      [manifest(() => null), 'no manifest of this project'],
      [manifest((m) => ({ ...m, files: { 'corpus.jsonl': null } })), "'files.corpus.jsonl' is missing"],
      [manifest(({ info: _, ...m }) => m), "'info' is missing"],
      [info({ retriever: { driver: 'nope' } }), "'info.retriever' is not what an index has there"],
      [info({ vectors: 5 }), "'info.vectors' is not what an index has there"],
      [(folder: string) => appendFileSync(join(folder, 'manifest.json'), '}'), 'manifest.json does not parse'],
      [(folder: string) => rmSync(join(folder, 'manifest.json')), "'damaged' holds no manifest.json"],
    ] as const) {
      damaged('index', change);
      await refused(['morph', 'select', 'x', '--index', 'damaged'], 1, message);
    }
  }, 60_000);

  it('a training that is cut anywhere', async () => {
    const { checkpoint } = JSON.parse(readFileSync(at('exp/report.json'), 'utf8'));
    const paths = filesIn(join('exp', checkpoint.path)).map((name) => join(checkpoint.path, name));
    const rewrite = ['docopt', 'rewrite-corpus', '--policy', 'damaged', '--out', 'never'];
    const resume = ['docopt', 'train', '--out', 'damaged', '--resume'];
    for (const path of ['config.json', 'report.json', ...paths]) {
      damaged('exp', cutInHalf(path));
      await refused(rewrite, 1, `damaged/${path}`);
      if (path !== 'report.json') await refused(resume, 1, `damaged/${path}`);
    }
    damaged('exp', (folder) => {
      const path = join(folder, paths.find((name) => name.includes('policy/') && name.endsWith('.json'))!);
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, `${text.slice(0, 20)}\u0000\u0000${text.slice(22)}`);
    });
    await refused(rewrite, 1, 'has changed');
    damaged('exp', (folder) => {
      rmSync(join(folder, 'report.json'));
      appendFileSync(join(folder, 'zero-shot.jsonl'), 'x\n');
    });
    await refused(resume, 1, 'a saved text does not parse');
    await refused(['docopt', 'train', '--out', 'nowhere', '--resume'], 2, "no training to resume in 'nowhere'");
  }, 60_000);

  it('of another kind than is wanted', async () => {
    for (const [argv, message] of [
      [['docopt', 'search', 'x', '--index', 'corpus'], "'corpus' is of kind 'corpus', 'index' is wanted"],
      [['docopt', 'search', 'x', '--index', 'exp'], "'exp' is a training"],
      [['docopt', 'search', 'x', '--index', 'ok'], "'ok' holds no manifest.json"],
      [['docopt', 'search', 'x', '--index', 'ok/corpus.jsonl'], "'ok/corpus.jsonl' is a file"],
      [['docopt', 'search', 'x', '--index', 'none'], "index 'none' does not exist"],
      [['morph', 'serve', '--index', 'corpus', '--port', '0'], "'corpus' is of kind 'corpus'"],
      [
        ['docopt', 'rewrite-corpus', '--corpus', 'index', '--policy', 'identity', '--out', 'never'],
        "'index' is of kind",
      ],
      [['docopt', 'index', '--corpus', 'index', '--retriever', 'bm25', '--out', 'never'], "'index' is of kind 'index'"],
      [['docopt', 'index', '--data', 'index', '--retriever', 'bm25', '--out', 'never'], "'index' is of kind 'index'"],
      [['docopt', 'rewrite-corpus', '--policy', 'exp', '--previous', 'index', '--out', 'never'], "'index' is of kind"],
      [
        ['docopt', 'rewrite-corpus', '--policy', 'index', '--data', 'ok', '--out', 'never'],
        "'index' holds no training",
      ],
      [['docopt', 'eval', '--data', 'corpus', '--retriever', 'bm25'], 'there are no queries'],
    ] as const)
      await refused(argv, 1, message);
  });
});

describe('the command line and the configuration', () => {
  const onOk = (...more: string[]): string[] => [
    ...['docopt', 'train', '--data', 'ok', '--retriever', 'bm25', '--dry-run'],
    ...more,
  ];
  const evalOk = (...more: string[]): string[] => ['docopt', 'eval', '--data', 'ok', '--retriever', 'bm25', ...more];
  const pool = (...more: string[]): string[] => ['morph', 'select', '--pool', 'pools/ok.json', ...more];

  it('flags', async () => {
    for (const [argv, message] of [
      [['docopt', 'bogus'], "unknown command 'bogus'"],
      [['docopt', 'constructor'], "unknown command 'constructor'"],
      [['docopt', 'dataset'], 'docopt dataset needs a subcommand'],
      [onOk('--bogus'), 'unknown flag --bogus'],
      [onOk('--__proto__', '1'), 'unknown flag --__proto__'],
      [onOk('--steps', 'NaN'), "--steps 'NaN': expected a finite number"],
      [onOk('--steps', 'Infinity'), "--steps 'Infinity': expected a finite number"],
      [onOk('--steps', '1e99'), '--steps 1e+99: expected at most 9007199254740991'],
      [onOk('--steps', '2.5'), '--steps 2.5: expected a whole number'],
      [onOk('--steps', '3', '--steps', '3'), '--steps was given twice'],
      [onOk('--steps'), '--steps needs a value'],
      [onOk('--learning-rate', '1e999'), "--learning-rate '1e999': expected a finite number"],
      [onOk('--seeds', ''), '--seeds []: expected at least 1'],
      [onOk('--seeds', '1,x'), "seeds 'x'"],
      [onOk('--metrics', 'nDCG@0'), "the cutoff '0' of measure 'nDCG@0'"],
      [onOk('--metrics', '__proto__'), "'__proto__' is not a measure"],
      [onOk('--policy', '__proto__'), "policy '__proto__' is not known"],
      [onOk('--set', '__proto__.x=1'), "unknown key '__proto__.x'"],
      [onOk('--set', 'retriever.constructor.prototype=1'), "unknown key 'retriever.constructor.prototype'"],
      [onOk('--set', 'retriever.k1=NaN'), "--set retriever.k1 'NaN': expected a finite number"],
      [onOk('--set', `apikey=${KEY}`), "unknown key 'apikey'"],
      [['docopt', 'search', '', '--index', 'index'], 'the query text is missing'],
      [['docopt', 'search', 'x', '--index', 'index', '-k', '0'], '--k 0: expected at least 1'],
      [evalOk('--fail-under', 'nDCG@5=NaN'), 'expected MEASURE=NUMBER'],
      [evalOk('--resamples', '1e12'), 'expected at most 10000000'],
      [['morph', 'select', '--pool', '1.5', 'x'], '--pool 1.5: expected a text, or a whole number'],
      [pool('-B', '1e300'), '--budget 1e+300: expected at most'],
      [pool('--selector', '__proto__'), "selector '__proto__' is not known"],
      [['morph', 'serve', '--api-key', KEY, KEY], "unexpected argument '[redacted]'"],
    ] as const)
      await refused(argv, 2, message);
    await works('docopt', 'search', 'parse token1 '.repeat(80_000), '--index', 'index');
    const gate = await ran(evalOk('--fail-under', 'P@30=0.9', '--json'), 100);
    expect(JSON.parse(gate.stdout).gates).toMatchObject([{ passed: false }]);
  }, 60_000);

  it('files', async () => {
    for (const [name, content, message] of [
      ['a.yaml', 'retreiver: bm25', "a.yaml: unknown key 'retreiver'. Did you mean 'retriever'?"],
      ['a.yaml', 'retriever: {driver: bm25, k1: .nan}', 'a.yaml: retriever.k1 NaN: expected a finite number'],
      ['a.yaml', 'metrics: 5', 'a.yaml: metrics 5: expected a list'],
      ['a.yaml', '- a', 'a.yaml holds a list'],
      ['a.yaml', 'a: [', 'a.yaml does not parse'],
      ['a.yaml', 'steps: &a [*a]', 'an anchor refers to itself'],
      ['a.yaml', '__proto__: {steps: 1}', "unknown key '__proto__'"],
      ['a.yaml', 'commands: 5', 'commands is a number'],
      ['a.yaml', 'commands: {train: 5}', 'commands.train is a number'],
      ['a.json', '{"steps": 1e999}', 'a.json: steps Infinity: expected a finite number'],
      ['a.json', '{"steps": 3,}', 'a.json does not parse'],
      ['a.mjs', 'export const x = 1;', 'a.mjs does not parse: it has no default export'],
      ['a.toml', '', 'its ending is none of'],
    ] as const) {
      writeFileSync(at(name), content);
      await refused(onOk('-c', name), 2, message);
      rmSync(at(name));
    }
    await refused(onOk('-c', 'ok'), 2, 'cannot read configuration file ok');
    writeFileSync(at('empty.yaml'), 'steps:\ncommands:\n  train:\n');
    expect(await works(...onOk('-c', 'empty.yaml', '--policy', 'edit'))).toMatchObject({ steps: 150 });
  });
});
