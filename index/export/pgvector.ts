/**
 * SQL for PostgreSQL: extension, table, upserts, deletions, in one transaction. Documents are untrusted, so every value is a
 * literal that ends where it should whatever the server's and psql's settings are: E'' strings with quotes and backslashes
 * doubled. Texts of PostgreSQL hold no NUL, and its JSON neither NUL nor half of a surrogate pair: each becomes U+FFFD.
 */
import type { Export, ExportedDocument } from './types.ts';
import { vectorText } from './values.ts';

/** Of one statement. */
const MOST_ROWS = 100;
const MOST_CHARACTERS = 1_000_000;

export async function* pgvectorStatements(what: Export): AsyncGenerator<string> {
  const { fields, dimensions, deletes, documents } = what;
  const table = tableName(what.name);
  const columns = ['id', 'title', fields.text, fields.searchText, 'metadata'];
  if (dimensions !== undefined) columns.push(fields.vector);
  const quoted = columns.map(identifier);
  const types = [
    'text PRIMARY KEY',
    'text NOT NULL',
    'text NOT NULL',
    'text NOT NULL',
    'jsonb',
    `vector(${dimensions})`,
  ];

  yield "SET client_encoding = 'UTF8';\nBEGIN;\n";
  if (dimensions !== undefined) yield 'CREATE EXTENSION IF NOT EXISTS vector;\n';
  yield `CREATE TABLE IF NOT EXISTS ${table} (${quoted.map((column, i) => `${column} ${types[i]}`).join(', ')});\n`;
  const into = `INSERT INTO ${table} (${quoted.join(', ')}) VALUES\n`;
  const update = quoted.slice(1).map((column) => `${column} = EXCLUDED.${column}`);
  const insert = (rows: readonly string[]): string =>
    `${into}${rows.join(',\n')}\nON CONFLICT ("id") DO UPDATE SET ${update.join(', ')};\n`;

  let rows: string[] = [];
  let characters = 0;
  for await (const document of documents()) {
    const row = rowOf(document, dimensions !== undefined);
    if (rows.length === MOST_ROWS || (rows.length > 0 && characters + row.length > MOST_CHARACTERS)) {
      yield insert(rows);
      [rows, characters] = [[], 0];
    }
    rows.push(row);
    characters += row.length;
  }
  if (rows.length > 0) yield insert(rows);
  for (let start = 0; start < deletes.length; start += MOST_ROWS) {
    const ids = deletes.slice(start, start + MOST_ROWS).map(literal);
    yield `DELETE FROM ${table} WHERE "id" IN (${ids.join(', ')});\n`;
  }
  yield 'COMMIT;\n';
}

function rowOf({ id, title, text, searchText, metadata, vector }: ExportedDocument, vectors: boolean): string {
  const values = [literal(id), literal(title), literal(text), literal(searchText)];
  values.push(metadata === undefined ? 'NULL' : `${literal(wellFormedJson(JSON.stringify(metadata)))}::jsonb`);
  if (vectors) values.push(vector === undefined ? 'NULL' : literal(vectorText(vector)));
  return `(${values.join(', ')})`;
}

/** A string constant that no content can leave, with standard_conforming_strings on or off. */
export function literal(text: string): string {
  const carried = text.replace(/\0|\p{Cs}/gu, '\ufffd');
  return `E'${carried.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** JSON without the escapes that jsonb refuses; an escaped backslash before them is no part of them. */
export function wellFormedJson(json: string): string {
  return json.replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (found) => (found === '\\\\' ? found : '\ufffd'));
}

/** `documents` or `schema.documents`. */
export function tableName(name: string): string {
  return name.split('.').map(identifier).join('.');
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
