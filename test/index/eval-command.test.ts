/** The command itself, on files: which systems, which queries, what is written, how it ends. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildIndex } from '../../index/build-index.ts';
import { evalCommand } from '../../index/commands/eval.ts';
import type { EvaluationReport } from '../../index/evaluate.ts';
import type { GateResult } from '../../index/gates.ts';
import { createRetriever } from '../../index/mod.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { evalSchema } from '../../src/config/schemas/mod.ts';
import { bm25Schema } from '../../src/config/specs.ts';
import { loadCorpus, loadRun } from '../../src/data/mod.ts';
import { silentLog } from '../../src/run/log.ts';
import { createArtefact } from '../../src/store/artefact.ts';
import { rememberLatest } from '../../src/store/workspace.ts';

type Json = EvaluationReport & { gates?: GateResult[] };

let folder = '';
const at = (name: string) => join(folder, name);

async function run(flags: [string, unknown][], extra: Record<string, unknown> = {}, forPeople = false) {
  const options: Record<string, unknown> = { ...extra };
  for (const [name, value] of flags) {
    const isList = ['retriever', 'index', 'run', 'failUnder', 'metrics'].includes(name);
    options[name] = isList ? [...((options[name] as unknown[]) ?? []), value] : value;
  }
  const lines: string[] = [];
  const log = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const context: CommandContext = {
    program: 'docopt',
    log: {
      info: log('info'),
      warn: log('warn'),
      debug: log('debug'),
      progress: () => ({ tick: () => {}, end: () => {} }),
    },
    json: !forPeople,
    cwd: folder,
    projectFolder: folder,
    env: {},
    signal: new AbortController().signal,
    typed: flags.map(([name, value]) => ({ name, value: typeof value === 'string' ? value : 'bm25' })),
    given: new Set(Object.keys(options)),
    print: () => {},
  };
  const result = await evalCommand.run(evalSchema.parse(options), context);
  return { ...result, json: result.json as Json, lines };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docopt-eval-'));
  await mkdir(at('data/qrels'), { recursive: true });
  const words = ['apple', 'bear', 'cloud', 'door', 'eagle', 'flame', 'glass', 'house', 'iron', 'jewel'];
  // Query wN is also document wN, as where questions are found among questions.
  const documents = words.flatMap((word, i) => [
    { _id: `w${i}`, title: '', text: word },
    { _id: `d${i}`, title: '', text: `${word} and ${words[(i + 1) % 10]} together` },
  ]);
  const json = (rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  await writeFile(at('data/corpus.jsonl'), json(documents));
  await writeFile(at('data/queries.jsonl'), json(words.map((word, i) => ({ _id: `w${i}`, text: word }))));
  const judged = words.map((_, i) => `w${i}\td${i}\t${1 + (i % 2)}\n`).join('');
  await writeFile(at('data/qrels/test.tsv'), `query-id\tcorpus-id\tscore\n${judged}`);
  await writeFile(at('qrels.txt'), 'q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq2 0 d 1\nq3 0 e 0\n');
  await writeFile(at('first.trec'), 'q1 Q0 b 1 2.0 t\nq1 Q0 a 2 1.0 t\nq2 Q0 d 1 1.0 t\nq2 Q0 c 2 1.0 t\n');
  await writeFile(at('second.trec'), 'q1 Q0 a 1 2.0 t\nq2 Q0 c 1 1.0 t\nother Q0 c 1 1.0 t\n');
  await writeFile(at('ids.txt'), 'q2\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const bm25 = { driver: 'bm25' };
const plain = { driver: 'bm25', analyzer: 'standard' };

describe('docopt eval on runs', () => {
  it('takes every query of a qrels file and names runs by their files', async () => {
    const { json, exitStatus } = await run([
      ['qrels', at('qrels.txt')],
      ['run', at('first.trec')],
      ['run', at('second.trec')],
      ['metrics', 'RR'],
    ]);
    expect(exitStatus).toBe(0);
    expect([json.split, json.queries, json.metrics]).toEqual(['all', 3, ['RR']]);
    expect(json.systems.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(json.systems[0].perQuery.RR).toEqual({ q1: 0.5, q2: 1, q3: 0 });
    expect(json.comparisons[0]).toMatchObject({
      baseline: 'first',
      system: 'second',
      n: 3,
      wins: 1,
      losses: 0,
      ties: 2,
    });
  });

  it('orders ties as asked, and writes the order that it evaluated', async () => {
    const flags: [string, unknown][] = [
      ['qrels', at('qrels.txt')],
      ['run', at('first.trec')],
      ['metrics', 'nDCG@1'],
      ['saveRuns', at('saved')],
    ];
    expect((await run(flags)).json.systems[0].perQuery['nDCG@1'].q2).toBe(1);
    expect((await run([...flags, ['ties', 'trec']])).json.systems[0].perQuery['nDCG@1'].q2).toBe(0.5);
    const saved = await loadRun(at('saved/first.trec'));
    expect(saved.get('q2')!.ids).toEqual(['d', 'c']);
    expect(saved.get('q2')!.scores[0]).toBeGreaterThan(saved.get('q2')!.scores[1]);
  });

  it('keeps to a file of query ids; refuses a split that a qrels file cannot have', async () => {
    const flags: [string, unknown][] = [
      ['qrels', at('qrels.txt')],
      ['run', at('first.trec')],
    ];
    expect((await run([...flags, ['split', at('ids.txt')]])).json.queries).toBe(1);
    await expect(run([...flags, ['split', 'train']])).rejects.toThrow('--split train needs a data set');
  });

  it('ends with 100 when the last system is below a bound, and still reports', async () => {
    const flags: [string, unknown][] = [
      ['qrels', at('qrels.txt')],
      ['run', at('first.trec')],
      ['metrics', 'RR'],
    ];
    const failed = await run([...flags, ['failUnder', 'nDCG@5=0.9']]);
    expect(failed.exitStatus).toBe(100);
    expect(failed.json.metrics).toEqual(['RR', 'nDCG@5']);
    expect(failed.json.gates).toEqual([expect.objectContaining({ metric: 'nDCG@5', minimum: 0.9, passed: false })]);
    expect(failed.text).toMatch(/FAILED: nDCG@5 of first/);
    // Once: in the text for people, beside the JSON for others.
    expect(failed.lines.filter((line) => line.includes('FAILED'))).toHaveLength(1);
    const seen = await run([...flags, ['failUnder', 'nDCG@5=0.9']], {}, true);
    expect(seen.lines.filter((line) => line.includes('FAILED'))).toHaveLength(0);
    expect((await run([...flags, ['failUnder', 'RR=0.5']])).exitStatus).toBe(0);
  });

  it('says when a run answers nothing, when nothing is given, when texts are missing', async () => {
    await writeFile(at('foreign.trec'), 'x9 Q0 a 1 1.0 t\n');
    const { lines } = await run([
      ['qrels', at('qrels.txt')],
      ['run', at('foreign.trec')],
    ]);
    expect(lines.join('\n')).toMatch(/foreign\.trec answers none of the evaluated queries/);
    await expect(run([['qrels', at('qrels.txt')]])).rejects.toThrow('nothing to evaluate');
    await expect(run([['retriever', bm25]])).rejects.toThrow('no judgements');
    await expect(
      run([
        ['qrels', at('qrels.txt')],
        ['retriever', bm25],
      ]),
    ).rejects.toThrow('no query texts');
  });
});

describe('docopt eval on a data set', () => {
  it('searches all queries, in the order the systems were typed', async () => {
    await writeFile(at('empty.trec'), '');
    const { json } = await run([
      ['run', at('empty.trec')],
      ['retriever', plain],
      ['data', at('data')],
      ['split', 'all'],
      ['metrics', 'R@5 NumRet'],
    ]);
    expect(json.systems.map(({ name }) => name)).toEqual(['empty', 'bm25']);
    expect(json.queries).toBe(10);
    // Every word stands in its own document and in two others.
    expect(json.systems.map(({ mean }) => mean)).toEqual([
      { 'R@5': 0, NumRet: 0 },
      { 'R@5': 1, NumRet: 30 },
    ]);
  });

  it('an index answers as the retriever it was built with; without a system the latest index is taken', async () => {
    const corpus = await loadCorpus(at('data'));
    const artefact = await createArtefact(at('plain-index'), 'index');
    const retriever = bm25Schema.parse(plain);
    await buildIndex({
      corpus,
      documentText: 'title+text',
      retriever: createRetriever(retriever),
      artefact,
      log: silentLog,
    });
    await artefact.finish({ info: { retriever, documentText: 'title+text', vectors: 'none', documents: corpus.size } });
    await rememberLatest(folder, 'index', at('plain-index'));

    const flags: [string, unknown][] = [
      ['data', at('data')],
      ['split', 'all'],
      ['metrics', 'RR nDCG@5 NumRet'],
    ];
    const { json } = await run([...flags, ['index', at('plain-index')], ['retriever', plain]]);
    expect(json.systems.map(({ name }) => name)).toEqual(['plain-index', 'bm25']);
    expect(json.systems[0].perQuery).toEqual(json.systems[1].perQuery);
    const bare = await run(flags);
    expect(bare.json.systems).toEqual([json.systems[0]]);
    expect(bare.lines.join('\n')).toMatch(/taking the latest index: .*plain-index/);
    await rm(at('.docopt'), { recursive: true });
  });

  it('--ignore-self drops the query among the documents without losing a rank', async () => {
    const flags: [string, unknown][] = [
      ['data', at('data')],
      ['retriever', plain],
      ['split', 'all'],
      ['metrics', 'NumRet'],
      ['metrics', 'Success@1'],
      ['depth', 2],
    ];
    expect((await run(flags)).json.systems[0].mean).toEqual({ NumRet: 20, 'Success@1': 0 });
    const { json } = await run([...flags, ['ignoreSelf', true], ['saveRuns', at('self')]]);
    expect(json.systems[0].mean.NumRet).toBe(20);
    const saved = await readFile(at('self/bm25.trec'), 'utf8');
    expect(saved).not.toMatch(/^(w\d) Q0 \1 /m);
    expect(saved.trim().split('\n')).toHaveLength(20);
  });

  it('the parts of a split are disjoint and together all queries', async () => {
    const ids = async (split: string) => {
      const { json } = await run([
        ['data', at('data')],
        ['retriever', bm25],
        ['metrics', 'AP'],
        ['split', split],
        ['train', 0.5],
        ['dev', 0.4],
      ]);
      expect(json.split).toBe(split);
      return Object.keys(json.systems[0].perQuery.AP);
    };
    const parts = [await ids('train'), await ids('dev'), await ids('test')].flat();
    expect([...parts].sort()).toEqual(Array.from({ length: 10 }, (_, i) => `w${i}`));
  });

  it('--qrels replaces the judgements of the data set', async () => {
    await writeFile(at('other.txt'), 'w1 0 w1 1\nw2 0 nowhere 1\nw77 0 w1 1\n');
    const { json, lines } = await run([
      ['data', at('data')],
      ['qrels', at('other.txt')],
      ['retriever', bm25],
      ['metrics', 'Success@1'],
    ]);
    expect(json.systems[0].perQuery['Success@1']).toEqual({ w1: 1, w2: 0, w77: 0 });
    expect(lines.join('\n')).toMatch(/1 judged queries have no text in the data and count 0/);
  });

  it('a cutoff deeper than the depth deepens the search, unless the depth was asked for', async () => {
    const flags: [string, unknown][] = [
      ['data', at('data')],
      ['retriever', bm25],
      ['split', 'all'],
      ['metrics', 'R@2000'],
    ];
    expect((await run(flags)).lines.join('\n')).not.toMatch(/warn/);
    expect((await run([...flags, ['depth', 1]])).lines.join('\n')).toMatch(/--depth 1 is less than the cutoff 2000/);
  });

  it('equal names are told apart', async () => {
    const { json } = await run([
      ['data', at('data')],
      ['retriever', bm25],
      ['retriever', plain],
      ['run', at('first.trec')],
      ['run', at('saved/first.trec')],
      ['split', 'all'],
      ['metrics', 'AP'],
    ]);
    expect(json.systems.map(({ name }) => name)).toEqual([
      'bm25',
      'bm25:analyzer=standard',
      at('first.trec'),
      at('saved/first.trec'),
    ]);
    expect(json.systems.map(({ description }) => description)).toEqual([
      'bm25:k1=0.9,b=0.4,analyzer=english,statistics=recompute',
      'bm25:k1=0.9,b=0.4,analyzer=standard,statistics=recompute',
      at('first.trec'),
      at('saved/first.trec'),
    ]);
  });

  it('where each split has its own qrels file, a query without relevant documents counts too', async () => {
    await mkdir(at('parts/qrels'), { recursive: true });
    for (const name of ['corpus.jsonl', 'queries.jsonl']) {
      await writeFile(at(`parts/${name}`), await readFile(at(`data/${name}`)));
    }
    await writeFile(at('parts/qrels/train.tsv'), 'query-id\tcorpus-id\tscore\nw0\td0\t1\n');
    await writeFile(at('parts/qrels/test.tsv'), 'query-id\tcorpus-id\tscore\nw1\td1\t1\nw2\td2\t0\n');
    const { json } = await run([
      ['data', at('parts')],
      ['retriever', bm25],
      ['metrics', 'R@5'],
    ]);
    expect(json.systems[0].perQuery['R@5']).toEqual({ w1: 1, w2: 0 });
  });
});
