import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type OnnxEmbedderOptions, openOnnxEmbedder } from '../../../../src/models/embedders/onnx.ts';
import type { Log } from '../../../../src/ports.ts';
import { memoryCache } from '../../../../src/store/response-cache.ts';
import { type TinyModel, tinyFolder } from '../../../support/tiny-onnx.ts';

const WORDS = ['cats', 'chase', 'mice', 'eat', 'cheese', 'query', 'passage', ':'];
const STATES: TinyModel = { words: WORDS, width: 5, output: 'states' };
const pooledBy = (mode: string) => ({ '1_Pooling/config.json': { [`pooling_mode_${mode}`]: true } });

const unit = (vector: readonly number[]): number[] => {
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
};
const meanOf = (rows: readonly (readonly number[])[]): number[] =>
  rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
const near = (actual: ArrayLike<number>, expected: readonly number[]): void => {
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, j) => {
    expect(Math.abs(actual[j] - value)).toBeLessThan(1e-6);
  });
};

const opened = async (
  folder: string,
  options: Partial<OnnxEmbedderOptions> = {},
): Promise<Awaited<ReturnType<typeof openOnnxEmbedder>> & { warnings: string[] }> => {
  const warnings: string[] = [];
  const log = { warn: (message: string) => warnings.push(message), debug() {} } as unknown as Log;
  return Object.assign(await openOnnxEmbedder({ path: folder, ...options }, { log }), { warnings });
};

describe('onnx embedder', () => {
  it('pools as the folder says: mean, first or last of the tokens, special ones included, padding not', async () => {
    const texts = ['cats chase mice', 'cheese'];
    for (const [mode, pool] of [
      ['mean_tokens', meanOf],
      ['cls_token', (rows: readonly (readonly number[])[]) => rows[0]],
      ['lasttoken', (rows: readonly (readonly number[])[]) => rows[rows.length - 1]],
    ] as const) {
      const { folder, row } = tinyFolder(STATES, pooledBy(mode));
      const embedder = await opened(folder);
      expect(embedder.dimensions).toBe(5);
      const { rows, columns, data } = await embedder.embed(texts, 'document');
      expect([rows, columns]).toEqual([2, 5]);
      texts.forEach((text, i) => {
        const states = ['[CLS]', ...text.split(' '), '[SEP]'].map(row);
        near(data.subarray(i * 5, i * 5 + 5), unit([...pool(states)]));
      });
      expect((await embedder.embed([], 'query')).rows).toBe(0);
      await embedder.close();
    }
  });

  it('lets options win over the folder, and needs one of the two', async () => {
    const { folder, row } = tinyFolder(STATES, pooledBy('mean_tokens'));
    const embedder = await opened(folder, { pooling: 'cls' });
    near((await embedder.embed(['mice'], 'document')).data, unit(row('[CLS]').slice()));
    await embedder.close();
    const silent = tinyFolder(STATES).folder;
    await expect(opened(silent)).rejects.toMatchObject({ code: 'CONFIG', hint: expect.stringContaining('pooling') });
    const unknown = tinyFolder(STATES, pooledBy('max_tokens')).folder;
    await expect(opened(unknown)).rejects.toThrow(/pooling_mode_max_tokens/);
    const layered = tinyFolder(STATES, {
      'modules.json': [{ path: '2_Dense', type: 'sentence_transformers.models.Dense' }],
    });
    await expect(opened(layered.folder)).rejects.toThrow(/2_Dense/);
  });

  it('puts the prompt of the role before a text', async () => {
    const prompts = { query: 'query : ', passage: 'passage : ' };
    const { folder, row } = tinyFolder(STATES, {
      ...pooledBy('mean_tokens'),
      'config_sentence_transformers.json': { prompts },
    });
    const embedder = await opened(folder, { documentPrompt: 'eat ' });
    const states = (text: string): number[][] => ['[CLS]', ...text.split(' '), '[SEP]'].map((word) => [...row(word)]);
    near((await embedder.embed(['mice'], 'query')).data, unit(meanOf(states('query : mice'))));
    near((await embedder.embed(['mice'], 'document')).data, unit(meanOf(states('eat mice'))));
    await embedder.close();
  });

  it('cuts what is too long, counts it and says so once; what the tokenizer file says of lengths is not followed', async () => {
    const { folder, row } = tinyFolder(STATES, pooledBy('mean_tokens'));
    const embedder = await opened(folder, { maxTokens: 7 });
    const long = 'cats chase mice eat cheese cats chase mice';
    const states = ['[CLS]', 'cats', 'chase', 'mice', 'eat', 'cheese', '[SEP]'].map(row);
    near((await embedder.embed([long], 'document')).data, unit(meanOf(states)));
    await embedder.embed([long, 'mice', long], 'document');
    expect(embedder.counts).toEqual({ texts: 4, cut: 3 });
    expect(embedder.warnings.length).toBe(1);
    const whole = await embedder.embed(['cats chase mice eat cheese'], 'document');
    near(whole.data, unit(meanOf(states)));
    expect(embedder.counts.cut).toBe(3);
    // A book is cut before it is tokenized, at the same token.
    near((await embedder.embed([`${long} `.repeat(50_000)], 'document')).data, unit(meanOf(states)));
    await embedder.close();
    const short = tinyFolder(STATES, {
      ...pooledBy('mean_tokens'),
      'config.json': { max_position_embeddings: 6 },
    }).folder;
    await expect(opened(short, { maxTokens: 7 })).rejects.toThrow(/6 positions/);
  });

  it('answers the same alone and in company', async () => {
    const texts = ['cats', 'cats chase mice', 'zeppelin', 'mice eat cheese cats chase mice', 'eat'];
    for (const dynamic of [false, true]) {
      const { folder } = tinyFolder({ ...STATES, dynamic }, pooledBy('mean_tokens'));
      const embedder = await opened(folder);
      const together = (await embedder.embed(texts, 'document')).data;
      for (let i = 0; i < texts.length; i++) {
        const alone = (await embedder.embed([texts[i]], 'document')).data;
        expect([...alone]).toEqual([...together.subarray(i * 5, i * 5 + 5)]);
      }
      expect(embedder.warnings).toEqual([]);
      await embedder.close();
    }
  });

  it('warns of batches whose company counts', async () => {
    const { folder } = tinyFolder({ ...STATES, dynamic: true }, pooledBy('mean_tokens'));
    const embedder = await opened(folder, { batchSize: 8 });
    expect(embedder.warnings.join()).toMatch(/batchSize at 1/);
    const alone = (await embedder.embed(['mice'], 'document')).data;
    const company = (await embedder.embed(['mice', 'cats chase cheese'], 'document')).data;
    expect([...company.subarray(0, 5)]).not.toEqual([...alone]);
    await embedder.close();
  });

  it('reads half precision', async () => {
    const full = tinyFolder(STATES, pooledBy('mean_tokens'));
    const half = tinyFolder({ ...STATES, half: true }, pooledBy('mean_tokens'));
    const [a, b] = await Promise.all([opened(full.folder), opened(half.folder)]);
    const expected = (await a.embed(['cats chase mice'], 'document')).data;
    const actual = (await b.embed(['cats chase mice'], 'document')).data;
    for (let j = 0; j < 5; j++) expect(Math.abs(actual[j] - expected[j])).toBeLessThan(2e-3);
    expect(a.id).not.toBe(b.id);
    await a.close();
    await b.close();
  });

  it('is named after what decides its vectors', async () => {
    const { folder } = tinyFolder(STATES, pooledBy('mean_tokens'));
    const ids = new Set<string>();
    for (const options of [{}, { pooling: 'cls' }, { maxTokens: 9 }, { queryPrompt: 'cats ' }] as const) {
      const embedder = await opened(folder, options);
      ids.add(embedder.id);
      await embedder.close();
    }
    const again = await opened(folder, { threads: 1 });
    expect(ids.size).toBe(4);
    expect(ids.has(again.id)).toBe(true);
    await again.close();
  });

  it('says what is wrong with a folder', async () => {
    const { folder } = tinyFolder(STATES, pooledBy('mean_tokens'));
    const cases: readonly (readonly [options: OnnxEmbedderOptions, said: RegExp])[] = [
      [{ path: join(folder, 'absent') }, /there is no model folder/],
      [{ path: folder, file: 'onnx/other.onnx' }, /holds no onnx\/other\.onnx; its \.onnx files: model\.onnx/],
      [{ path: folder, precision: 'fp16' }, /holds no model_fp16\.onnx/],
      [{ path: tinyFolder(STATES, { 'model.onnx': undefined }).folder }, /its \.onnx files: none/],
      [{ path: tinyFolder(STATES, { 'tokenizer.json': undefined }).folder }, /holds no tokenizer\.json/],
      [{ path: tinyFolder(STATES, { 'tokenizer.json': '{"model": ' }).folder }, /is no JSON/],
      [
        { path: tinyFolder(STATES, { 'tokenizer.json': 'version https://git-lfs.github.com/spec/v1\noid x' }).folder },
        /Git LFS pointer/,
      ],
      [{ path: tinyFolder(STATES, { 'model.onnx': 'version https://git-lfs' }).folder }, /no model that ONNX Runtime/],
      [{ path: tinyFolder({ ...STATES, output: 'logits' }).folder, pooling: 'cls' }, /no token states/],
    ];
    for (const [options, said] of cases) {
      const failing = openOnnxEmbedder(options);
      await expect(failing).rejects.toThrow(said);
      await expect(failing).rejects.toMatchObject({ name: 'DocOptError' });
    }
  });

  it('finds the file that is asked for', async () => {
    const { folder } = tinyFolder(STATES, pooledBy('mean_tokens'));
    const half = tinyFolder({ ...STATES, half: true }).folder;
    const { readFileSync, mkdirSync } = await import('node:fs');
    mkdirSync(join(folder, 'onnx'));
    writeFileSync(join(folder, 'onnx', 'model_fp16.onnx'), readFileSync(join(half, 'model.onnx')));
    const full = await opened(folder);
    const byPrecision = await opened(folder, { precision: 'fp16' });
    const byFile = await opened(folder, { file: 'onnx/model_fp16.onnx' });
    const byPath = await opened(join(folder, 'onnx', 'model_fp16.onnx'));
    expect(byFile.id).toBe(byPrecision.id);
    expect(byPath.id).toBe(byPrecision.id);
    expect(full.id).not.toBe(byPrecision.id);
    for (const each of [full, byPrecision, byFile, byPath]) await each.close();
    rmSync(join(folder, 'model.onnx'));
    const only = await opened(folder);
    expect(only.id).toBe(byPrecision.id);
    await only.close();
  });

  it('computes a text once for all runs that share a store, and never takes another model for its own', async () => {
    const { folder } = tinyFolder(STATES, pooledBy('mean_tokens'));
    const store = memoryCache();
    const vectors = async () => store;
    const plain = await openOnnxEmbedder({ path: folder });
    const expected = await plain.embed(['cats', 'mice', 'cheese'], 'document');
    const first = await openOnnxEmbedder({ path: folder }, { vectors });
    expect(await first.embed(['cats', 'mice'], 'document')).toEqual(await plain.embed(['cats', 'mice'], 'document'));
    const second = await openOnnxEmbedder({ path: folder }, { vectors });
    expect(await second.embed(['cats', 'mice', 'cheese'], 'document')).toEqual(expected);
    expect(second.counts.texts).toBe(1);
    const other = await openOnnxEmbedder({ path: folder, pooling: 'cls' }, { vectors });
    expect((await other.embed(['cats'], 'document')).data).not.toEqual((await first.embed(['cats'], 'document')).data);
    expect(other.counts.texts).toBe(1);
    for (const embedder of [plain, first, second, other]) await embedder.close();
  });

  it('keeps what an interrupted call had computed', async () => {
    const { folder } = tinyFolder(STATES, pooledBy('mean_tokens'));
    const store = memoryCache();
    const texts = Array.from({ length: 100 }, (_, i) => Array.from({ length: i + 1 }, () => 'mice').join(' '));
    const interrupt = new AbortController();
    let done = 0;
    const tick = (count: number): void => {
      done += count;
      if (done === 70) interrupt.abort(new Error('stopped'));
    };
    const log = { warn() {}, debug() {}, progress: () => ({ tick, end() {} }) } as unknown as Log;
    const options = { path: folder, batchSize: 1 };
    const services = { log, signal: interrupt.signal, vectors: async () => store };
    const stopped = await openOnnxEmbedder(options, services);
    await expect(stopped.embed(texts, 'document')).rejects.toThrow('stopped');
    const resumed = await openOnnxEmbedder(options, { vectors: async () => store });
    const plain = await openOnnxEmbedder(options);
    expect(await resumed.embed(texts, 'document')).toEqual(await plain.embed(texts, 'document'));
    expect(resumed.counts.texts).toBe(30);
    for (const embedder of [stopped, resumed, plain]) await embedder.close();
  });
});
