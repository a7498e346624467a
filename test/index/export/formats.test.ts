/** Every format read back by somebody else's reader: what was written is what comes out, and content stays content. */
import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { bulkActions } from '../../../index/export/bulk.ts';
import { csvRows } from '../../../index/export/csv.ts';
import { jsonlRows } from '../../../index/export/jsonl.ts';
import { npyChunks, npyHeader } from '../../../index/export/npy.ts';
import { parquetChunks } from '../../../index/export/parquet.ts';
import { pointId, qdrantRequests } from '../../../index/export/qdrant.ts';
import { uuid5 } from '../../../index/export/uuid.ts';
import { floatText } from '../../../index/export/values.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { exportOf, HOSTILE, joined, joinedBytes, withVectors } from '../../support/export-documents.ts';

const documents = withVectors(HOSTILE);
const whole = exportOf(documents, { dimensions: 3 });
const changes = { ...whole, isChange: true, deletes: ['gone', `o'ld`] };
/** UTF-8 has no half pairs; everything else survives. */
const carried = (text: string): string => Buffer.from(text).toString();
const jsonLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('export formats', () => {
  it('jsonl gives every field back, vectors to the bit', async () => {
    const rows = jsonLines(await joined(jsonlRows(whole)));
    expect(rows).toHaveLength(documents.length);
    rows.forEach((row, i) => {
      const { id, title, text, searchText, metadata, vector } = documents[i];
      expect({ ...row, embedding: row.embedding && Float32Array.from(row.embedding) }).toEqual({
        id,
        title,
        text,
        search_text: searchText,
        ...(metadata === undefined ? {} : { metadata }),
        embedding: vector,
      });
    });
    expect(jsonLines(await joined(jsonlRows(changes))).slice(-3)).toEqual([
      expect.objectContaining({ op: 'upsert', id: '日本語' }),
      { op: 'delete', id: 'gone' },
      { op: 'delete', id: `o'ld` },
    ]);
  });

  it('csv is read back by a CSV parser, quotes, commas and line breaks included', async () => {
    const rows: Record<string, string>[] = parse(await joined(csvRows(whole)), { columns: true });
    rows.forEach((row, i) => {
      const { id, title, text, searchText, metadata, vector } = documents[i];
      expect([row.id, row.title, row.text, row.search_text]).toEqual([id, ...[title, text, searchText].map(carried)]);
      expect(row.metadata === '' ? undefined : JSON.parse(row.metadata)).toEqual(metadata);
      expect(row.embedding === '' ? undefined : Float32Array.from(JSON.parse(row.embedding))).toEqual(vector);
    });
    const changed: string[][] = parse(await joined(csvRows(changes)));
    expect(new Set(changed.map((row) => row.length))).toEqual(new Set([7]));
    expect(changed.at(-1)).toEqual(['delete', `o'ld`, '', '', '', '', '']);
  });

  it('parquet is read back by a Parquet reader, across row groups', async () => {
    const many = Array.from({ length: 12_000 }, (_, i) => ({ ...documents[i % documents.length], id: `d${i}` }));
    const file = await joinedBytes(parquetChunks(exportOf(many, { dimensions: 3, isChange: true, deletes: ['gone'] })));
    const rows = await parquetReadObjects({
      file: file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer,
    });
    expect(rows).toHaveLength(12_001);
    rows.slice(0, -1).forEach((row, i) => {
      const { id, title, text, searchText, metadata, vector } = many[i];
      if (i > 20 && i < 11_990) return;
      expect([row.op, row.id, row.title, row.text, row.search_text]).toEqual([
        'upsert',
        id,
        ...[title, text, searchText].map(carried),
      ]);
      expect(row.metadata ?? undefined).toEqual(metadata);
      expect(row.embedding ? Float32Array.from(row.embedding) : undefined).toEqual(vector);
    });
    expect(rows.at(-1)).toMatchObject({ op: 'delete', id: 'gone' });
    expect(
      await parquetReadObjects({ file: new Uint8Array(await joinedBytes(parquetChunks(exportOf([])))).buffer }),
    ).toEqual([]);
  });

  it('bulk: an action and its document on two lines, deletions alone, one chunk an action', async () => {
    const chunks: string[] = [];
    for await (const chunk of bulkActions(changes)) chunks.push(chunk);
    expect(chunks).toHaveLength(documents.length + 2);
    documents.forEach(({ id, title, text, searchText }, i) => {
      const [action, source] = jsonLines(chunks[i]);
      expect(action).toEqual({ index: { _index: 'documents', _id: id } });
      expect(source).toMatchObject({ title, text, search_text: searchText });
      expect('embedding' in source).toBe(i !== 1);
    });
    expect(jsonLines(chunks.at(-1)!)).toEqual([{ delete: { _index: 'documents', _id: `o'ld` } }]);
    const long = exportOf([{ ...documents[0], id: 'é'.repeat(257) }]);
    await expect(joined(bulkActions(long))).rejects.toThrow(/the id has 514 bytes/);
  });

  it('qdrant: one request a line, small enough, ids as UUIDs with the id in the payload', async () => {
    const many = Array.from({ length: 1201 }, (_, i) => ({ ...documents[i % documents.length], id: `d${i}` }));
    const requests = jsonLines(
      await joined(qdrantRequests(exportOf(many, { dimensions: 3, isChange: true, deletes: ['gone'] }))),
    );
    expect(requests).toHaveLength(4);
    const points = requests.slice(0, 3).flatMap(({ operations }) => operations[0].upsert.points);
    expect(points.map(({ payload }) => payload.id)).toEqual(many.map(({ id }) => id));
    expect(points[0]).toMatchObject({
      id: pointId('d0'),
      payload: { title: 'A title', text: 'the original', search_text: 'the rewrite' },
    });
    expect(points[1].vector).toEqual({});
    expect(Float32Array.from(points[2].vector)).toEqual(documents[2].vector);
    expect(requests[3]).toEqual({ operations: [{ delete: { points: [pointId('gone')] } }] });
    const huge = Array.from({ length: 5 }, (_, i) => ({ ...documents[0], id: `h${i}`, text: 'x'.repeat(3_000_000) }));
    expect((await joined(qdrantRequests(exportOf(huge)))).trimEnd().split('\n')).toHaveLength(3);
  });

  it('UUIDv5 is that of the standard', () => {
    expect(uuid5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    );
    expect(uuid5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'python.org')).toBe('886313e1-3b8a-5372-9b90-0c9aee199e5d');
  });

  it('npy: the header as NumPy lays it down, then the rows; zeros where there is no direction', async () => {
    const ids: string[] = [];
    const file = await joinedBytes(npyChunks(whole, (id) => ids.push(id)));
    expect(ids).toEqual(documents.map(({ id }) => id));
    expect(file.subarray(0, 8)).toEqual(Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]));
    const start = 10 + file.readUInt16LE(8);
    expect(start % 64).toBe(0);
    expect(file.toString('latin1', 10, start)).toMatch(
      /^\{'descr': '<f4', 'fortran_order': False, 'shape': \(7, 3\), \} *\n$/,
    );
    expect(file.length).toBe(start + 7 * 3 * 4);
    documents.forEach(({ vector = new Float32Array(3) }, row) => {
      expect(Float32Array.from({ length: 3 }, (_, j) => file.readFloatLE(start + 4 * (3 * row + j)))).toEqual(vector);
    });
    for (const columns of [1, 384, 10 ** 9, 10 ** 30]) expect(npyHeader(columns, columns).length % 64).toBe(0);
  });

  it('nine digits give every float32 back', () => {
    const rng = createRng(1);
    const bits = new Uint32Array(1);
    const float = new Float32Array(bits.buffer);
    for (let i = 0; i < 3_000; i++) {
      bits[0] = rng.int(2 ** 32);
      if (Number.isFinite(float[0])) expect(Math.fround(Number(floatText(float[0])))).toBe(float[0]);
    }
  });
});
