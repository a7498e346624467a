import { createReadStream } from 'node:fs';
import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBm25Retriever } from '../../../index/retrievers/bm25.ts';
import { createRebuildRetriever } from '../../../index/retrievers/rebuild.ts';
import { createWinkRetriever } from '../../../index/retrievers/wink.ts';
import { arrayCorpus } from '../../../src/data/mod.ts';
import { DocOptError } from '../../../src/errors.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import type { ArtefactReader, ArtefactWriter, RetrievalIndex } from '../../../src/ports.ts';
import { createArtefact } from '../../../src/store/artefact.ts';
import type { Corpus, Manifest } from '../../../src/types.ts';
import { randomCorpus, randomQueries, randomText } from '../../support/random-corpus.ts';

const OPTIONS = { k1: 0.9, b: 0.4, analyzer: 'standard', statistics: 'recompute' } as const;
const retriever = createBm25Retriever(OPTIONS);
const corpusOf = (texts: readonly string[]): Corpus =>
  arrayCorpus(texts.map((text, i) => ({ id: `d${i}`, title: '', text })));
const ask = async (index: RetrievalIndex, text: string, k = 10) => (await index.search([{ id: 'q', text }], k))[0];

describe('bm25', () => {
  test('a case by hand', async () => {
    // N = 3, lengths 2, 1, 3, average 2; df(cat) = 2, df(mat) = 1.
    const index = await retriever.build(corpusOf(['cat dog', 'cat', 'mat mat dog']));
    const cat = Math.log(1 + 1.5 / 2.5);
    const mat = Math.log(1 + 2.5 / 1.5);
    const { ids, scores } = await ask(index, 'cat mat mat unknown');
    expect(ids).toEqual(['d2', 'd1', 'd0']);
    expect(scores[0]).toBeCloseTo((2 * mat * 2) / (2 + 0.9 * (0.6 + (0.4 * 3) / 2)), 14);
    expect(scores[1]).toBeCloseTo(cat / (1 + 0.9 * (0.6 + (0.4 * 1) / 2)), 14);
    expect(scores[2]).toBeCloseTo(cat / (1 + 0.9 * (0.6 + (0.4 * 2) / 2)), 14);
  });

  test('agrees with wink to 1e-6', async () => {
    for (let seed = 0; seed < 10; seed++) {
      const rng = createRng(seed);
      const corpus = randomCorpus(rng, { size: 3 + rng.int(60), words: 30, longest: 20 });
      const settings = { ...OPTIONS, k1: [0.9, 1.2, 2][seed % 3], b: [0.4, 0.75, 1, 0][seed % 4] };
      const ours = await createBm25Retriever(settings).build(corpus);
      const theirs = await createWinkRetriever(settings).build(corpus);
      const queries = randomQueries(rng, 10, 30, 6);
      const mine = await ours.similarities(queries, corpus.ids);
      const other = await theirs.similarities(queries, corpus.ids);
      for (let i = 0; i < mine.data.length; i++) expect(Math.abs(mine.data[i] - other.data[i])).toBeLessThan(1e-6);
      // The same documents are found; their order may differ only where wink's rounding makes or breaks a tie.
      const deep = await ours.search(queries, corpus.size);
      (await theirs.search(queries, corpus.size)).forEach(({ ids }, q) => {
        expect([...ids].sort()).toEqual([...deep[q].ids].sort());
      });
    }
  });

  test('frozen statistics move the replaced document only', async () => {
    const texts = ['cat dog', 'cat', 'mat mat dog', 'dog dog bird'];
    const index = await createBm25Retriever({ ...OPTIONS, statistics: 'frozen' }).build(corpusOf(texts));
    const query = { id: 'q', text: 'cat dog zebra' };
    const before = await ask(index, query.text);
    const [[after]] = await index.searchReplacing([{ id: 'd1', text: 'zebra dog cat' }], [[query]], 10);
    for (const id of ['d0', 'd2', 'd3']) {
      expect(after.scores[after.ids.indexOf(id)]).toBe(before.scores[before.ids.indexOf(id)]);
    }
    const norm = 0.9 * (0.6 + (0.4 * 3) / (9 / 4));
    const idf = (df: number) => Math.log(1 + (4 - df + 0.5) / (df + 0.5));
    expect(after.scores[after.ids.indexOf('d1')]).toBeCloseTo((idf(2) + idf(3) + idf(0)) / (1 + norm), 14);
    const [[exact]] = await (await retriever.build(corpusOf(texts))).searchReplacing(
      [{ id: 'd1', text: 'zebra dog cat' }],
      [[query]],
      10,
    );
    expect(exact.scores).not.toEqual(after.scores);
  });

  test('a term may occur more than 65,535 times', async () => {
    const index = await retriever.build(corpusOf(['cat '.repeat(70_000), 'cat dog', 'dog']));
    const { ids, scores } = await ask(index, 'cat');
    expect(ids).toEqual(['d0', 'd1']);
    const length = 70_000 / (70_003 / 3);
    expect(scores[0]).toBeCloseTo((Math.log(1 + 1.5 / 2.5) * 70_000) / (70_000 + 0.9 * (0.6 + 0.4 * length)), 12);
  });

  test('replaces exactly under every analyzer', async () => {
    const texts = [
      'def parseHTTPResponse(user_id): return userIds[0]',
      "the parser's responses are parsed",
      'getUserIDs and parse_http',
      '',
      'running runs run',
    ];
    for (const analyzer of ['standard', 'english', 'code'] as const) {
      const driver = createBm25Retriever({ ...OPTIONS, analyzer });
      const corpus = corpusOf(texts);
      const queries = ['parse the http response', 'user ids', 'runner running'].map((text) => ({ id: text, text }));
      const swaps = texts.map((text, i) => ({ id: `d${i}`, text: `${text} parseUser ran's` }));
      const lists = swaps.map(() => queries);
      const answers = await (await driver.build(corpus)).searchReplacing(swaps, lists, 3);
      expect(answers).toEqual(
        await (await createRebuildRetriever(driver).build(corpus)).searchReplacing(swaps, lists, 3),
      );
    }
  });

  test('a repeated id is named', async () => {
    const twice: Corpus = { ...corpusOf(['a', 'b']), ids: ['same', 'same'] };
    await expect(retriever.build(twice)).rejects.toThrow(/'same' occurs twice/);
  });
});

describe('a damaged index', () => {
  let folder: string;
  let index: RetrievalIndex;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docopt-bm25-'));
    const rng = createRng(3);
    index = await retriever.build(corpusOf(Array.from({ length: 40 }, () => randomText(rng, 30, 12))));
    const draft = await createArtefact(join(folder, 'good'), 'index');
    await index.save(draft);
    await draft.finish({});
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A reader that believes the files, as if nothing had compared their sizes with the manifest. */
  const trusting = (at: string): ArtefactReader => ({
    manifest: {} as Manifest,
    folder: at,
    has: () => true,
    path: (name) => join(at, name),
    bytes: () => 0,
    read: async (name) => new Uint8Array(await readFile(join(at, name))),
    stream: (name) => createReadStream(join(at, name)),
    readText: (name) => readFile(join(at, name), 'utf8'),
    readJson: async (name) => JSON.parse(await readFile(join(at, name), 'utf8')),
  });

  const damages: [name: string, file: string, damage: (path: string) => Promise<void>][] = [
    ['counts cut short', 'bm25.counts.bin', (path) => truncate(path, 10)],
    ['documents cut short', 'bm25.documents.bin', (path) => truncate(path, 7)],
    ['lengths cut to nothing', 'bm25.lengths.bin', (path) => truncate(path, 0)],
    ['ids cut short', 'bm25.ids.json', (path) => truncate(path, 20)],
    ['terms of another index', 'bm25.terms.json', (path) => writeFile(path, '["a"]')],
    ['a term that is no string', 'bm25.ids.json', (path) => edit(path, (text) => text.replace('"d0"', '7'))],
    ['a NaN among the settings', 'bm25.json', (path) => edit(path, (text) => text.replace('0.9', 'null'))],
    ['a header that is no JSON', 'bm25.json', (path) => writeFile(path, '{"format": 1,')],
    ['a newer format', 'bm25.json', (path) => edit(path, (text) => text.replace('"format": 1', '"format": 2'))],
    ['an unknown analyzer', 'bm25.json', (path) => edit(path, (text) => text.replace('standard', 'klingon'))],
    ['a document out of range', 'bm25.documents.bin', (path) => poke(path, 0, 4000)],
    ['offsets that jump', 'bm25.offsets.bin', (path) => poke(path, 4, -5)],
    ['a length that does not add up', 'bm25.lengths.bin', (path) => poke(path, 8, 3_000)],
  ];
  for (const [name, file, damage] of damages) {
    test(`${name} is refused with the file's name and the way out`, async () => {
      const copy = join(folder, name.replaceAll(' ', '-'));
      await cp(join(folder, 'good'), copy, { recursive: true });
      await damage(join(copy, file));
      const error = await retriever.open(trusting(copy)).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(DocOptError);
      expect(error).toMatchObject({ code: 'ARTEFACT', message: expect.stringContaining(file) });
      expect((error as DocOptError).hint).toContain('docopt index');
    });
  }

  test('an index is written the same whatever it was opened from', async () => {
    const written = async (source: RetrievalIndex) => {
      const files = new Map<string, string>();
      const writer: ArtefactWriter = {
        path: (name) => name,
        write: async (name, content) => void files.set(name, Buffer.from(content).toString('base64')),
        writeStream: async () => {},
      };
      await source.save(writer);
      return files;
    };
    expect(await written(await retriever.open(trusting(join(folder, 'good'))))).toEqual(await written(index));
  });
});

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const before = await readFile(path, 'utf8');
  const after = change(before);
  expect(after).not.toBe(before);
  await writeFile(path, after);
}

async function poke(path: string, offset: number, value: number): Promise<void> {
  const bytes = await readFile(path);
  bytes.writeInt32LE(value, offset);
  await writeFile(path, bytes);
}
