/** The SQL in a real PostgreSQL (WebAssembly) with the real pgvector extension. */
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { literal, pgvectorStatements } from '../../../index/export/pgvector.ts';
import type { Export } from '../../../index/export/types.ts';
import { exportOf, HOSTILE, joined, withVectors } from '../../support/export-documents.ts';

const documents = withVectors(HOSTILE);
let db: PGlite;

beforeAll(async () => {
  db = await PGlite.create({ extensions: { vector } });
});
afterAll(() => db?.close());

const load = async (what: Export): Promise<void> => void (await db.exec(await joined(pgvectorStatements(what))));
const all = async () =>
  (await db.query<Record<string, unknown>>('SELECT * FROM documents ORDER BY id COLLATE "C"')).rows;
/** What PostgreSQL cannot hold is U+FFFD. */
const held = (text: string): string => text.replace(/\0|\p{Cs}/gu, '\ufffd');

describe('docopt export --to pgvector', () => {
  it.each(['on', 'off'])('documents come back as they were, standard_conforming_strings %s', async (setting) => {
    await db.exec(`DROP TABLE IF EXISTS documents; SET standard_conforming_strings = ${setting}`);
    await load(exportOf(documents, { dimensions: 3 }));
    const rows = await all();
    const expected = [...documents].sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
    expect(rows.map(({ id, title, text, search_text }) => [id, title, text, search_text])).toEqual(
      expected.map(({ id, title, text, searchText }) => [id, ...[title, text, searchText].map(held)]),
    );
    expect(rows.map(({ metadata }) => metadata ?? undefined)).toEqual(
      expected.map(({ id, metadata }) => (id === 'nul' ? { 'k\ufffd': 'v\ufffd\ufffd', ok: '\\\\u0000' } : metadata)),
    );
    expect(rows.map(({ embedding }) => embedding && Float32Array.from(JSON.parse(embedding as string)))).toEqual(
      expected.map(({ vector: own }) => own ?? null),
    );
  });

  it('the nearest by cosine is the document itself', async () => {
    for (const { id, vector: own } of documents) {
      if (own === undefined) continue;
      const { rows } = await db.query<{ id: string }>('SELECT id FROM documents ORDER BY embedding <=> $1 LIMIT 1', [
        `[${Array.from(own).join(',')}]`,
      ]);
      expect(rows[0].id).toBe(id);
    }
  });

  it('changes update, add and delete, in one transaction', async () => {
    const next = [
      { ...documents[0], searchText: 'another rewrite' },
      { ...documents[0], id: 'new' },
    ];
    await load(exportOf(next, { dimensions: 3, isChange: true, deletes: [`o'br"ien`, 'dollar'] }));
    const rows = await all();
    expect(rows.map(({ id }) => id)).toEqual(['back\\slash', 'lines', 'new', 'nul', 'plain', '日本語']);
    expect(rows.find(({ id }) => id === 'plain')).toMatchObject({
      text: 'the original',
      search_text: 'another rewrite',
    });
    // A vector of another width is refused, and nothing of the export stays.
    const wrong = [
      { ...documents[0], searchText: 'never' },
      { ...documents[0], id: 'w', vector: Float32Array.of(1, 0) },
    ];
    await expect(load(exportOf(wrong, { dimensions: 2 }))).rejects.toThrow(/expected 3 dimensions/);
    await db.exec('ROLLBACK');
    expect(await all()).toEqual(rows);
  });

  it('more rows than one statement takes, without vectors, in a schema', async () => {
    await db.exec('CREATE SCHEMA own');
    const many = Array.from({ length: 250 }, (_, i) => ({ ...documents[i % documents.length], id: `d${i}` }));
    await load(exportOf(many, { name: 'own.docs' }));
    await load(exportOf([], { name: 'own.docs', isChange: true, deletes: many.slice(0, 240).map(({ id }) => id) }));
    const { rows } = await db.query('SELECT count(*)::int AS n FROM own.docs');
    expect(rows).toEqual([{ n: 10 }]);
    const { rows: columns } = await db.query(
      "SELECT column_name FROM information_schema.columns WHERE table_schema = 'own'",
    );
    expect(columns).toHaveLength(5);
  });

  it('a literal of any characters is that text', async () => {
    const awkward = ['\\', "''", "\\'", "E'", '\\x41', '\\101', 'a\nb', '\b\f\t', '$$', '--', '/*', '\u{10ffff}', '%'];
    for (const a of awkward) {
      for (const b of awkward) {
        const { rows } = await db.query<{ x: string }>(`SELECT ${literal(a + b)} AS x`);
        expect(rows[0].x).toBe(a + b);
      }
    }
  });
});
