import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDenseRetriever } from '../../../index/retrievers/dense.ts';
import { createRebuildRetriever } from '../../../index/retrievers/rebuild.ts';
import { arrayCorpus, corpusWithTexts } from '../../../src/data/mod.ts';
import { compareRanked } from '../../../src/kernels/compare.ts';
import { createRng, deriveSeed } from '../../../src/kernels/rng.ts';
import { createEmbedder, type EmbedderFit } from '../../../src/models/embedders/mod.ts';
import type { Embedder } from '../../../src/ports.ts';
import { createArtefact, openArtefact } from '../../../src/store/artefact.ts';
import type { Corpus, Query } from '../../../src/types.ts';
import { randomCorpus, randomQueries, randomText } from '../../support/random-corpus.ts';

/** Every text its own direction; coarse values, so that exact ties are common. */
function coarseEmbedder(
  dimensions: number,
): Embedder & { readonly calls: { texts: readonly string[]; role: string }[] } {
  const calls: { texts: readonly string[]; role: string }[] = [];
  return {
    id: `coarse-${dimensions}`,
    dimensions,
    calls,
    async embed(texts, role) {
      calls.push({ texts, role });
      const data = new Float32Array(texts.length * dimensions);
      texts.forEach((text, row) => {
        const rng = createRng(deriveSeed(1, text));
        const values = Array.from({ length: dimensions }, () => rng.int(3) - 1);
        const norm = Math.hypot(...values) || 1;
        data.set(
          values.map((value) => value / norm),
          row * dimensions,
        );
      });
      return { rows: texts.length, columns: dimensions, data };
    },
  };
}

const query = (text: string): Query => ({ id: text, text });
const corpusOf = (texts: readonly string[]): Corpus =>
  arrayCorpus(texts.map((text, i) => ({ id: `d${i}`, title: '', text })));

describe('dense retrieval', () => {
  it('equals a plain scan, for widths around the tile sizes and any number of queries', async () => {
    for (const width of [1, 2, 5, 16]) {
      for (const size of [1, 3, 4, 5, 67, 131]) {
        const rng = createRng(width * 1000 + size);
        const corpus = randomCorpus(rng, { size, words: 30, longest: 6 });
        const embedder = coarseEmbedder(width);
        const index = await createDenseRetriever({ embedder }).build(corpus);
        const queries = randomQueries(rng, 1 + rng.int(20), 30, 4);
        const rankings = await index.search(queries, 10);
        for (let q = 0; q < queries.length; q++) {
          const expected = await plainScan(embedder, corpus, queries[q], 10);
          expect(rankings[q].ids).toEqual(expected.map(({ id }) => id));
          expect([...rankings[q].scores]).toEqual(expected.map(({ score }) => score));
        }
      }
    }
  });

  it('replaces as a rebuild would, bit for bit, under ties, blanks, copies and opposite vectors', async () => {
    for (let seed = 0; seed < 25; seed++) {
      const rng = createRng(seed);
      const corpus = randomCorpus(rng, { size: 1 + rng.int(30), words: 12, longest: 4, empty: 0.2, copies: 0.3 });
      const retriever = createDenseRetriever({ embedder: coarseEmbedder(1 + rng.int(4)), cachedQueries: 3 });
      const index = await retriever.build(corpus);
      const oracle = await createRebuildRetriever(retriever).build(corpus);
      const replacements = Array.from({ length: 8 }, () => ({
        id: corpus.ids[rng.int(corpus.size)],
        text: rng.next() < 0.3 ? corpus.indexText(rng.int(corpus.size)) : randomText(rng, 12, 4),
      }));
      const queries = replacements.map(() => randomQueries(rng, rng.int(5), 12, 4));
      for (const k of [0, 1, 5, 40]) {
        expect(await index.searchReplacing(replacements, queries, k)).toEqual(
          await oracle.searchReplacing(replacements, queries, k),
        );
      }
    }
  });

  it('does not depend on batch sizes', async () => {
    const rng = createRng(5);
    const corpus = randomCorpus(rng, { size: 90, words: 30, longest: 6 });
    const queries = randomQueries(rng, 10, 30, 4);
    const answers = await Promise.all(
      [1, 7, 256].map(async (batchSize) => {
        const index = await createDenseRetriever({ embedder: coarseEmbedder(8), batchSize }).build(corpus);
        return index.search(queries, 20);
      }),
    );
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('embeds all replacements in one call, known queries never again, blank and unchanged texts never', async () => {
    const embedder = coarseEmbedder(6);
    const index = await createDenseRetriever({ embedder, batchSize: 2 }).build(
      corpusOf(['one', 'two', '  ', 'two', 'three']),
    );
    expect(embedder.calls.map(({ texts }) => texts)).toEqual([['one', 'two'], ['two'], ['three']]);
    embedder.calls.length = 0;
    const queries = [query('x'), query('y'), query('')];
    await index.searchReplacing(
      [
        { id: 'd0', text: 'new' },
        { id: 'd1', text: 'new' },
        { id: 'd3', text: 'two' },
        { id: 'd4', text: ' \n' },
      ],
      [queries, [query('y')], queries, queries],
      3,
    );
    expect(embedder.calls).toEqual([
      { texts: ['new'], role: 'document' },
      { texts: ['x', 'y'], role: 'query' },
    ]);
    await index.search(queries, 3);
    await index.embedQueries!(queries);
    expect(embedder.calls.length).toBe(2);
  });

  it('leaves out texts without direction, wherever their score would have been', async () => {
    // On one axis every vector is 1, -1 or 0.
    const index = await createDenseRetriever({ embedder: coarseEmbedder(1) }).build(
      corpusOf(['', ...Array.from({ length: 12 }, (_, i) => `word${i}`)]),
    );
    const [{ ids, scores }] = await index.search([query('word1')], 100);
    expect(ids).not.toContain('d0');
    expect(new Set(scores)).toEqual(new Set([1, -1]));
    expect([...(await index.similarities([query('word1')], ['d0'])).data]).toEqual([0]);
  });

  it('hands out vectors of documents and queries, and similarities that are their products', async () => {
    const corpus = corpusOf(['one', 'two', '', 'four']);
    const embedder = coarseEmbedder(5);
    const index = await createDenseRetriever({ embedder }).build(corpus);
    const documents = await index.embeddings!(['d3', 'd0', 'd2']);
    expect([documents.rows, documents.columns]).toEqual([3, 5]);
    const one = (await embedder.embed(['one'], 'document')).data;
    expect([...documents.data.slice(5, 10)]).toEqual([...one]);
    expect([...documents.data.slice(10)]).toEqual([0, 0, 0, 0, 0]);
    const asked = await index.embedQueries!([query('x'), query('')]);
    expect([...asked.data.slice(5)]).toEqual([0, 0, 0, 0, 0]);
    const { data } = await index.similarities([query('x')], ['d3', 'd0']);
    let product = 0;
    for (let j = 0; j < 5; j++) product += documents.data[j] * asked.data[j];
    expect(data[0]).toBe(product);
    await expect(index.embeddings!(['nobody'])).rejects.toThrow(/'nobody'/);
  });

  it('says what is wrong with an embedder', async () => {
    const answering = (data: number[], rows = 1, columns = 2): Embedder => ({
      id: 'broken',
      dimensions: 2,
      embed: async () => ({ rows, columns, data: Float32Array.from(data) }),
    });
    for (const [embedder, message] of [
      [answering([Number.NaN, 1]), /broken answered non-finite values for "cat"/],
      [answering([3, 4]), /broken answered a vector of length 5\.000 for "cat" where a unit vector/],
      [answering([1, 0, 0], 1, 3), /broken answered 1 x 3 where 1 x 2 was expected/],
      [answering([], 0), /broken answered 0 x 2 where 1 x 2/],
    ] as const) {
      await expect(createDenseRetriever({ embedder }).build(corpusOf(['cat']))).rejects.toThrow(message);
    }
  });
});

describe('a fitted embedder', () => {
  const counted = (): { source: EmbedderFit; fits: () => number } => {
    const inner = createEmbedder({ driver: 'lsa', dimensions: 8, seed: 1 }) as EmbedderFit;
    let count = 0;
    const fit: EmbedderFit['fit'] = (texts) => {
      count++;
      return inner.fit(texts);
    };
    return { source: { ...inner, fit }, fits: () => count };
  };

  it('is fitted once on the originals, and kept over rewrites of the same corpus', async () => {
    const { source, fits } = counted();
    const retriever = createDenseRetriever({ embedder: source });
    const corpus = corpusOf(['cats chase mice', 'dogs chase cats', 'stones lie still']);
    const first = await retriever.build(corpus);
    const rewritten = corpusWithTexts(corpus, ['stones lie still', 'dogs', 'cats and new words']);
    const second = await retriever.build(rewritten);
    expect(fits()).toBe(1);
    expect(await second.embedQueries!([query('cats')])).toEqual(await first.embedQueries!([query('cats')]));
    expect((await second.search([query('cats')], 3))[0].ids[0]).toBe('d2');
    // Built from the rewrite alone it is the same: what is fitted are the originals.
    expect(await (await createDenseRetriever({ embedder: source }).build(rewritten)).embeddings!(['d0'])).toEqual(
      await second.embeddings!(['d0']),
    );
    await retriever.build(corpusOf(['another', 'corpus']));
    expect(fits()).toBe(3);
  });
});

describe('a dense index on disk', () => {
  let folder: string;
  const embedder = coarseEmbedder(4);
  const retriever = createDenseRetriever({ embedder });
  beforeAll(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'docopt-dense-')), 'index');
    const draft = await createArtefact(folder, 'index');
    await (await retriever.build(corpusOf(['one', 'two', 'three']))).save(draft);
    await draft.finish({});
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is refused when damaged, or with another embedder', async () => {
    const reader = await openArtefact(folder, 'index');
    await expect(retriever.open(reader)).resolves.toMatchObject({ size: 3 });
    await expect(createDenseRetriever({ embedder: coarseEmbedder(5) }).open(reader)).rejects.toThrow(
      /was built with embedder coarse-4 of 4 dimensions; this one is coarse-5 of 5/,
    );
    for (const [name, change, message] of [
      ['dense.f32', (bytes: Buffer) => bytes.subarray(0, 47), /dense\.f32.*holds 47 bytes where 48 were expected/],
      ['dense.f32', (bytes: Buffer) => Buffer.concat([bytes, bytes]), /holds 96 bytes where 48/],
      ['dense.f32', nanAt(3), /value 3 is NaN where a finite number was expected/],
      ['dense.ids.json', () => Buffer.from('["a","b"]'), /dense\.ids\.json.*no list of 3 ids/],
      ['dense.ids.json', () => Buffer.from('["a","b"'), /dense\.ids\.json.*not complete JSON/],
      ['dense.json', () => Buffer.from('{"format": 7}'), /dense\.json.*format 7 is not 1/],
    ] as const) {
      const path = join(folder, name);
      const good = await readFile(path);
      await writeFile(path, change(good));
      await expect(retriever.open(reader)).rejects.toThrow(message);
      await writeFile(path, good);
    }
  });
});

function nanAt(value: number): (bytes: Buffer) => Buffer {
  return (bytes) => {
    const copy = Buffer.from(bytes);
    copy.writeFloatLE(Number.NaN, value * 4);
    return copy;
  };
}

/** Every document scored one by one, sorted as strings and numbers. */
async function plainScan(
  embedder: Embedder,
  corpus: Corpus,
  { text }: Query,
  k: number,
): Promise<{ id: string; score: number }[]> {
  if (text === '') return [];
  const asked = (await embedder.embed([text], 'query')).data;
  if (asked.every((value) => value === 0)) return [];
  const scored: { id: string; score: number }[] = [];
  for (let i = 0; i < corpus.size; i++) {
    if (corpus.indexText(i) === '') continue;
    const own = (await embedder.embed([corpus.indexText(i)], 'document')).data;
    if (own.every((value) => value === 0)) continue;
    let score = 0;
    for (let j = 0; j < own.length; j++) score += own[j] * asked[j];
    scored.push({ id: corpus.ids[i], score });
  }
  return scored.sort((a, b) => compareRanked(a.score, a.id, b.score, b.id)).slice(0, k);
}
