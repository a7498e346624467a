import { describe, expect, it } from 'vitest';
import { openOnnxTokenEmbedder } from '../../../../src/models/token-embedders/mod.ts';
import { type TinyModel, tinyFolder } from '../../../support/tiny-onnx.ts';

const MODEL: TinyModel = { words: ['cats', 'chase', 'mice'], width: 4, output: 'states' };
const METADATA = { query_token_id: '[unused0]', doc_token_id: '[unused1]', query_maxlen: 8, doc_maxlen: 6 };

const near = (actual: ArrayLike<number>, rows: readonly (readonly number[])[]): void => {
  const expected = rows.flatMap((row) => row.map((value) => value / Math.hypot(...row)));
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, j) => {
    expect(Math.abs(actual[j] - value)).toBeLessThan(1e-6);
  });
};

/** A safetensors file of one matrix. */
function safetensors(name: string, shape: readonly number[], data: Float32Array): Uint8Array {
  const header = Buffer.from(JSON.stringify({ [name]: { dtype: 'F32', shape, data_offsets: [0, data.byteLength] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.from(data.buffer)]);
}

describe('onnx token embedder', () => {
  it('marks texts, drops punctuation of documents, and keeps the special tokens', async () => {
    const { folder, row } = tinyFolder(MODEL, { 'artifact.metadata': METADATA });
    const embedder = await openOnnxTokenEmbedder({ path: folder, expandQuery: false });
    const [query] = await embedder.embedTokens(['cats, mice.'], 'query');
    near(query.data, ['[CLS]', '[unused0]', 'cats', ',', 'mice', '.', '[SEP]'].map(row));
    const [document, blank, cut] = await embedder.embedTokens(
      ['cats, mice.', ' ', 'mice cats chase mice cats'],
      'document',
    );
    // Cut at 6 tokens with punctuation counted, then punctuation is dropped.
    near(document.data, ['[CLS]', '[unused1]', 'cats', 'mice', '[SEP]'].map(row));
    expect(blank).toEqual({ rows: 0, columns: 4, data: new Float32Array(0) });
    near(cut.data, ['[CLS]', '[unused1]', 'mice', 'cats', 'chase', '[SEP]'].map(row));
    expect(embedder.counts).toEqual({ texts: 3, cut: 2 });
    expect([...embedder.tokenCounts!(['cats, mice.', ' ', 'mice cats chase mice cats'], 'document')]).toEqual([
      5, 0, 6,
    ]);
    await embedder.close();
  });

  it('fills queries up with mask tokens, which the others look at only when told to', async () => {
    const { folder, row } = tinyFolder(MODEL, { 'artifact.metadata': { ...METADATA, attend_to_mask_tokens: true } });
    const embedder = await openOnnxTokenEmbedder({ path: folder });
    const [query] = await embedder.embedTokens(['cats'], 'query');
    near(query.data, ['[CLS]', '[unused0]', 'cats', '[SEP]', '[MASK]', '[MASK]', '[MASK]', '[MASK]'].map(row));
    await embedder.close();
    // The tiny graph answers zeros where nothing is attended to, which is no direction.
    const unattended = await openOnnxTokenEmbedder({ path: folder, attendToExpansion: false });
    await expect(unattended.embedTokens(['cats'], 'query')).rejects.toThrow(/no direction/);
    await unattended.close();
  });

  it('projects by a matrix beside the graph', async () => {
    const projection = Float32Array.of(1, 0, 0, 0, 0, 0.5, 0, 2);
    const { folder, row } = tinyFolder(MODEL, {
      'artifact.metadata': METADATA,
      '1_Dense/model.safetensors': safetensors('linear.weight', [2, 4], projection),
    });
    const embedder = await openOnnxTokenEmbedder({ path: folder });
    expect(embedder.dimensions).toBe(2);
    const [document] = await embedder.embedTokens(['cats'], 'document');
    near(
      document.data,
      ['[CLS]', '[unused1]', 'cats', '[SEP]'].map((token) => {
        const [a, b, , d] = row(token);
        return [a, 0.5 * b + 2 * d];
      }),
    );
    await embedder.close();
    await expect(openOnnxTokenEmbedder({ path: folder, projection: 'absent.safetensors' })).rejects.toThrow(
      /holds no absent/,
    );
    const wrong = tinyFolder(MODEL, {
      'artifact.metadata': METADATA,
      'p.safetensors': safetensors('linear.weight', [2, 3], projection.subarray(0, 6).slice()),
    });
    await expect(openOnnxTokenEmbedder({ path: wrong.folder, projection: 'p.safetensors' })).rejects.toThrow(/takes 3/);
  });

  it('reads the conventions of PyLate, and asks for markers that nobody states', async () => {
    const { folder, row } = tinyFolder(MODEL, {
      'config_sentence_transformers.json': {
        query_prefix: '[unused0] ',
        document_prefix: '[unused1] ',
        query_length: 5,
        document_length: 7,
        do_query_expansion: false,
      },
    });
    const embedder = await openOnnxTokenEmbedder({ path: folder });
    const [query] = await embedder.embedTokens(['mice mice mice'], 'query');
    near(query.data, ['[CLS]', '[unused0]', 'mice', 'mice', '[SEP]'].map(row));
    await embedder.close();
    const silent = tinyFolder(MODEL).folder;
    await expect(openOnnxTokenEmbedder({ path: silent })).rejects.toMatchObject({ code: 'CONFIG' });
    const unknown = { path: silent, queryMarker: '[Q]', documentMarker: '[D]' };
    await expect(openOnnxTokenEmbedder(unknown)).rejects.toThrow(/'\[Q\]' is no token/);
  });
});
