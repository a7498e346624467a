import { describe, expect, it } from 'vitest';
import { createPool, fittedOnPool, poolFromDocuments, poolFromIndex } from '../../select/pool.ts';
import { parsePool } from '../../select/pool-file.ts';
import { fitLsa } from '../../src/models/embedders/mod.ts';
import { servedIndex } from '../support/served-index.ts';

const matrix = (rows: number, columns: number, ...data: number[]) => ({ rows, columns, data: Float64Array.from(data) });

describe('createPool', () => {
  it('scales rows to length 1, keeps zeros, and leaves the caller its numbers', () => {
    const embeddings = matrix(3, 2, 3, 4, 0, 0, 1, 0);
    const pool = createPool({ query: {}, ids: ['a', 'b', 'c'], embeddings, queryEmbedding: Float64Array.of(0, 2) });
    expect(pool.embeddings.data).toEqual(Float64Array.of(0.6, 0.8, 0, 0, 1, 0));
    expect(pool.queryEmbedding).toEqual(Float64Array.of(0, 1));
    expect(embeddings.data[0]).toBe(3);
  });

  it('copies nothing when the rows are unit already', () => {
    const embeddings = matrix(2, 2, 0.6, 0.8, 0, 0);
    expect(createPool({ query: {}, ids: ['a', 'b'], embeddings }).embeddings.data).toBe(embeddings.data);
  });

  it('refuses what is not finite, repeated or of another size', () => {
    const make = (changes: object) =>
      createPool({ query: {}, ids: ['a', 'b'], embeddings: matrix(2, 2, 1, 0, 0, 1), ...changes });
    expect(() => make({ embeddings: matrix(2, 2, 1, 0, Number.NaN, 1) })).toThrow("The embedding of document 'b'");
    expect(() => make({ queryEmbedding: Float64Array.of(1, Number.POSITIVE_INFINITY) })).toThrow(
      'The embedding of the query',
    );
    expect(() => make({ ids: ['a', 'a'] })).toThrow("The document 'a' is in the pool twice.");
    expect(() => make({ ids: ['a'] })).toThrow('There are 1 documents and 2 embeddings.');
    expect(() => make({ queryEmbedding: Float64Array.of(1) })).toThrow("The query's embedding has 1 numbers");
  });
});

describe('poolFromIndex', () => {
  it('is the first stage with vectors', async () => {
    const source = await servedIndex();
    const pool = await poolFromIndex(source, { text: 'turtle light' }, 12);
    const [ranking] = await source.index.search([{ id: 'q', text: 'turtle light' }], 12);
    expect(pool.ids).toEqual(ranking.ids);
    expect(pool.firstStageScores).toEqual(ranking.scores);
    expect(pool.embeddings.rows).toBe(12);
    expect(pool.queryEmbedding).toHaveLength(pool.embeddings.columns);
  });

  it('has the ranks of words and of vectors where the first stage is lexical', async () => {
    const pool = await poolFromIndex(await servedIndex(), { text: 'turtle light' }, 12);
    expect([...pool.lexicalRanks!]).toEqual([...Array(12).keys()]);
    const { columns, data } = pool.embeddings;
    const cosines = pool.ids.map((_, d) =>
      Array.from(pool.queryEmbedding!).reduce((sum, x, i) => sum + x * data[d * columns + i], 0),
    );
    const byCosine = [...Array(12).keys()].sort((a, b) => cosines[b] - cosines[a] || a - b);
    expect([...pool.denseRanks!]).toEqual(byCosine.map((_, d) => byCosine.indexOf(d)));
    expect(pool.terms!.rows).toBe(13);
  });

  it('has the BM25 ranks of the index beside a dense first stage; without one, none', async () => {
    const base = await servedIndex();
    const dense = { ...base, lexical: { ...base.lexical!, index: base.index } };
    const pool = await poolFromIndex(dense, { text: 'turtle light' }, 12);
    const { data } = await base.index.similarities([{ id: 'q', text: 'turtle light' }], [...pool.ids]);
    const byWords = [...Array(12).keys()].sort((a, b) => data[b] - data[a] || a - b);
    expect([...pool.lexicalRanks!]).toEqual(byWords.map((_, d) => byWords.indexOf(d)));
    expect(pool.denseRanks).toBeUndefined();
    const bare = await poolFromIndex({ ...base, lexical: undefined }, { text: 'turtle light' }, 12);
    expect([bare.lexicalRanks, bare.terms]).toEqual([undefined, undefined]);
  });

  it('may be empty', async () => {
    const pool = await poolFromIndex(await servedIndex(), { text: 'zebra' }, 12);
    expect(pool.ids).toEqual([]);
  });

  it('says what to do about an index without vectors', async () => {
    const { index } = await servedIndex();
    await expect(poolFromIndex({ index }, { text: 'x' }, 5)).rejects.toMatchObject({ code: 'ARTEFACT' });
  });
});

describe('ranks of a pool', () => {
  it.each([[[0, 0]], [[0, 2]], [[0]], [[-1, 0]]])('refuses %j', (ranks) => {
    const input = { query: {}, ids: ['a', 'b'], embeddings: matrix(2, 2, 1, 0, 0, 1) };
    expect(() => createPool({ ...input, lexicalRanks: Int32Array.from(ranks) })).toThrow(
      /lexical ranks are not 0 to 1/,
    );
  });
});

describe('poolFromDocuments', () => {
  it('ranks by words where the query and every document have a text, and not elsewhere', async () => {
    const documents = [
      { id: 'a', text: 'sky', embedding: [1, 0] },
      { id: 'b', text: 'the night moths', embedding: [0, 1] },
    ];
    const { pool } = await take({ query: { text: 'moth', embedding: [1, 1] }, documents });
    expect([...pool.lexicalRanks!]).toEqual([1, 0]);
    expect((await take({ query: { embedding: [1, 1] }, documents })).pool.lexicalRanks).toBeUndefined();
    const blank = [documents[0], { ...documents[1], text: ' ' }];
    expect((await take({ query: 'moth', documents: blank })).pool.lexicalRanks).toBeUndefined();
  });

  const fit = fittedOnPool((texts) => fitLsa(texts, { dimensions: 4 }));
  const take = (value: unknown) => poolFromDocuments(parsePool(value, 'p'), fit);

  it('warns when the query has no embedding beside documents that have', async () => {
    const { pool, warnings } = await take({ query: 'x', documents: [{ id: 'a', embedding: [1, 0] }] });
    expect(pool.queryEmbedding).toBeUndefined();
    expect(warnings[0]).toMatch(/without its free observation/);
  });

  it('fits an embedder on title and text when there are no embeddings', async () => {
    const { pool, embeddings } = await take({
      query: 'red apple',
      documents: [
        { id: 'a', title: 'red', text: 'apple tree' },
        { id: 'b', text: 'green pear tree' },
        { id: 'c', text: 'red pear garden' },
      ],
    });
    expect(embeddings).toMatch(/fitted on the pool/);
    expect(pool.embeddings.rows).toBe(3);
    expect(pool.queryEmbedding).toHaveLength(pool.embeddings.columns);
  });

  it('refuses what it cannot place', async () => {
    await expect(take({ query: { embedding: [1] }, documents: [{ id: 'a', text: 'x' }] })).rejects.toThrow(
      /query has no text/,
    );
    await expect(take({ query: 'x', documents: [{ id: 'a' }] })).rejects.toThrow(
      "The document 'a' has neither text nor embedding.",
    );
  });

  it('takes an empty pool', async () => {
    const { pool } = await take({ query: 'x', documents: [] });
    expect(pool.ids).toEqual([]);
  });
});
