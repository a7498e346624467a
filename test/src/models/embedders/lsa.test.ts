import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eigenSymmetric } from '../../../../src/kernels/eigen.ts';
import { dot } from '../../../../src/kernels/vector.ts';
import { fitLsa, openLsa } from '../../../../src/models/embedders/mod.ts';
import type { Embedder } from '../../../../src/ports.ts';
import { createArtefact, openArtefact } from '../../../../src/store/artefact.ts';
import { topicCollection } from '../../../support/topic-collection.ts';

const TEXTS = [
  'cats chase mice',
  'cats and mice and cheese',
  'dogs chase cats',
  'stones lie still',
  'stones do not move',
];
const embed = async (embedder: Embedder, texts: readonly string[]): Promise<Float32Array> =>
  Float32Array.from((await embedder.embed(texts, 'document')).data);

describe('lsa', () => {
  it('at full rank keeps the cosines of TF-IDF', async () => {
    const lsa = fitLsa(TEXTS, { analyzer: 'standard' });
    expect(lsa.dimensions).toBe(5);
    const vectors = await embed(lsa, TEXTS);
    const exact = tfIdf(TEXTS);
    for (let i = 0; i < 5; i++) {
      for (let j = 0; j < 5; j++) {
        const cosine = exact[i].reduce((sum, value, t) => sum + value * exact[j][t], 0);
        expect(dot(vectors, i * 5, vectors, j * 5, 5)).toBeCloseTo(cosine, 6);
      }
    }
  });

  it('at lower rank equals projection on the exact leading singular vectors', async () => {
    const { documents } = topicCollection(12, 4);
    const texts = documents.map(({ text }) => text);
    const exact = tfIdf(texts);
    const width = exact[0].length;
    const square = new Float64Array(width * width);
    for (const row of exact)
      for (let i = 0; i < width; i++) for (let j = 0; j < width; j++) square[i * width + j] += row[i] * row[j];
    const { values, vectors: axes } = eigenSymmetric(square, width);
    const rank = 12;
    expect(values[rank - 1]).toBeGreaterThan(values[rank] * 1.01);
    const project = (row: readonly number[]): number[] => {
      const out = Array.from({ length: rank }, (_, k) =>
        row.reduce((sum, value, t) => sum + value * axes[k * width + t], 0),
      );
      const norm = Math.sqrt(out.reduce((sum, value) => sum + value * value, 0));
      return out.map((value) => value / norm);
    };
    const expected = exact.map(project);
    const found = await embed(fitLsa(texts, { analyzer: 'standard', dimensions: rank }), texts);
    for (let i = 0; i < texts.length; i += 7) {
      for (let j = 0; j < texts.length; j += 5) {
        const cosine = expected[i].reduce((sum, value, k) => sum + value * expected[j][k], 0);
        expect(Math.abs(dot(found, i * rank, found, j * rank, rank) - cosine)).toBeLessThan(0.02);
      }
    }
  });

  it('gives unit rows, and zeros where no term is known', async () => {
    const lsa = fitLsa(TEXTS);
    const vectors = await embed(lsa, [...TEXTS, '', 'zeppelin', 'cats zeppelin', '!?']);
    const norm = (row: number) => dot(vectors, row * lsa.dimensions, vectors, row * lsa.dimensions, lsa.dimensions);
    for (const row of [0, 1, 2, 3, 4, 7]) expect(norm(row)).toBeCloseTo(1, 6);
    for (const row of [5, 6, 8]) expect(norm(row)).toBe(0);
  });

  it('is deterministic, and blind to batches and to the order of words', async () => {
    const { documents } = topicCollection(20, 2);
    const texts = documents.map(({ text }) => text);
    const together = await embed(fitLsa(texts, { dimensions: 16, seed: 3 }), texts);
    const again = fitLsa(texts, { dimensions: 16, seed: 3 });
    for (let i = 0; i < texts.length; i++) {
      const alone = await embed(again, [texts[i].split(' ').reverse().join(' ')]);
      expect(alone).toEqual(together.slice(i * 16, (i + 1) * 16));
    }
    expect(await embed(fitLsa(texts, { dimensions: 16, seed: 4 }), texts)).not.toEqual(together);
  });

  it('has fewer dimensions on a small collection', async () => {
    for (const [texts, dimensions] of [
      [[], 0],
      [[''], 0],
      [['cats'], 1],
      [['cats', 'cats'], 1],
      [['cats chase', 'dogs bark'], 2],
      [TEXTS, 5],
    ] as const) {
      const lsa = fitLsa(texts);
      expect(lsa.dimensions).toBe(dimensions);
      const { rows, columns } = await lsa.embed(['cats', ''], 'query');
      expect([rows, columns]).toEqual([2, dimensions]);
    }
    expect(fitLsa(TEXTS, { dimensions: 3 }).dimensions).toBe(3);
  });

  it('keeps the most frequent terms and a sample of documents when bounded', async () => {
    const bounded = fitLsa(TEXTS, { maxTerms: 2, analyzer: 'standard' });
    const known = await embed(bounded, ['cats', 'mice', 'cheese', 'still']);
    expect(bounded.dimensions).toBe(2);
    // cats in three documents, mice and chase and stones in two: the earliest of those stays.
    expect(
      [known.slice(0, 2), known.slice(2, 4), known.slice(4, 6), known.slice(6)].map((row) => row.some((x) => x !== 0)),
    ).toEqual([true, false, false, false]);
    expect(fitLsa(TEXTS, { maxDocuments: 3 }).id).toMatch(/documents=3\)/);
    expect(fitLsa(TEXTS, { maxDocuments: 3 }).dimensions).toBeLessThanOrEqual(3);
  });

  describe('on disk', () => {
    let folder: string;
    const lsa = fitLsa(TEXTS);
    beforeAll(async () => {
      folder = join(await mkdtemp(join(tmpdir(), 'docopt-lsa-')), 'model');
      const draft = await createArtefact(folder, 'index');
      await lsa.save!(draft);
      await draft.finish({});
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('answers the same bits after opening', async () => {
      const opened = await openLsa(await openArtefact(folder, 'index'));
      expect([opened.id, opened.dimensions]).toEqual([lsa.id, lsa.dimensions]);
      expect(await embed(opened, [...TEXTS, 'new mice'])).toEqual(await embed(lsa, [...TEXTS, 'new mice']));
    });

    it('refuses damaged files, naming what is wrong', async () => {
      const reader = await openArtefact(folder, 'index');
      const json = await readFile(join(folder, 'lsa.json'), 'utf8');
      const binary = await readFile(join(folder, 'lsa.f32'));
      const nan = Buffer.from(binary);
      nan.writeFloatLE(Number.NaN, 8);
      for (const [name, content, message] of [
        ['lsa.f32', binary.subarray(0, 40), /lsa\.f32.*holds 40 bytes where \d+ were expected/],
        ['lsa.f32', nan, /lsa\.f32.*value 2 is NaN/],
        ['lsa.json', json.slice(0, 30), /lsa\.json.*not complete JSON/],
        ['lsa.json', json.replace('"format":1', '"format":9'), /format 9 is not 1/],
        ['lsa.json', json.replace('"dimensions":5', '"dimensions":-5'), /'dimensions' is -5/],
        ['lsa.json', json.replace('"dimensions":5', '"dimensions":4'), /lsa\.f32.*bytes where/],
        ['lsa.json', json.replace('english', 'klingon'), /analyzer 'klingon'/],
        ['lsa.json', 'null', /format undefined/],
      ] as const) {
        await writeFile(join(folder, name), content);
        await expect(openLsa(reader)).rejects.toThrow(message);
        await writeFile(join(folder, 'lsa.json'), json);
        await writeFile(join(folder, 'lsa.f32'), binary);
      }
      await expect(openLsa(reader)).resolves.toBeDefined();
    });
  });
});

/** The plain way: dense rows of (1 + ln tf) idf, unit length; lower-cased words. */
function tfIdf(texts: readonly string[]): number[][] {
  const words = texts.map((text) => text.split(' '));
  const vocabulary = [...new Set(words.flat())];
  const idf = vocabulary.map((word) => {
    const df = words.filter((list) => list.includes(word)).length;
    return Math.log((1 + texts.length) / (1 + df)) + 1;
  });
  return words.map((list) => {
    const row = vocabulary.map((word, t) => {
      const tf = list.filter((other) => other === word).length;
      return tf === 0 ? 0 : (1 + Math.log(tf)) * idf[t];
    });
    const norm = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
    return row.map((value) => value / norm);
  });
}
