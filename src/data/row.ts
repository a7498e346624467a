import type { Document, Query } from '../types.ts';
import type { Report } from './problem.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A corpus row as read: the original, and the text to index when the row is already a rewrite. */
export interface DocumentRow {
  readonly document: Document;
  /** Present on rows of a rewritten corpus: indexed as it stands, never joined with a title. */
  readonly rewrite?: string;
}

/** Where a row stands, for messages. */
export interface Place {
  readonly file: string;
  readonly line: number | null;
}

/** One JSON object from one line; undefined after reporting. */
export function parseJsonObject(
  text: string,
  place: Place,
  terminated: boolean,
  report: Report,
): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    fault(report, place, null, jsonFault(text, error as Error, terminated), 'Expected one JSON object a line (JSONL).');
    return undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  const found = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
  fault(report, place, null, `expected a JSON object, found ${found}`, 'Expected one JSON object a line (JSONL).');
  return undefined;
}

/**
 * A corpus row {_id, title, text, metadata, ...}. `id` stands in for a missing `_id`, and integer ids become strings.
 * Nothing is lost: keys that BEIR does not know join the metadata (a key of the row's own `metadata` wins).
 * Rows of a rewritten corpus carry their original under `docopt` and give it back here.
 */
export function parseDocumentRow(row: JsonObject, place: Place, report: Report): DocumentRow | undefined {
  const id = readId(row, place, report);
  if (id === undefined) return undefined;
  const text = readString(row, 'text', id, place, report, true);
  const title = readString(row, 'title', id, place, report, false);
  if (text === undefined || title === undefined) return undefined;
  const metadata = readMetadata(row);
  const original = originalOf(row.docopt);
  if (original === undefined) return { document: makeDocument(id, title, text, metadata) };
  return { document: makeDocument(id, original.title, original.text, metadata), rewrite: text };
}

/** A queries row {_id, text}; other keys are not ours and are left out. */
export function parseQueryRow(row: JsonObject, place: Place, report: Report): Query | undefined {
  const id = readId(row, place, report);
  if (id === undefined) return undefined;
  const text = readString(row, 'text', id, place, report, true);
  return text === undefined ? undefined : { id, text };
}

/** The row that parseDocumentRow reads back as the same document. */
export function formatDocumentRow(document: Document): string {
  const { id, title, text, metadata } = document;
  return JSON.stringify(metadata === undefined ? { _id: id, title, text } : { _id: id, title, text, metadata });
}

function makeDocument(id: string, title: string, text: string, metadata: JsonObject | undefined): Document {
  return metadata === undefined ? { id, title, text } : { id, title, text, metadata };
}

function readId(row: JsonObject, place: Place, report: Report): string | undefined {
  const value = row._id ?? row.id;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  const keys = Object.keys(row).slice(0, 8).join(', ');
  const message =
    value === undefined || value === null
      ? `the row has no _id (its keys: ${keys || 'none'})`
      : typeof value === 'number'
        ? `the _id ${value} is a number that text files would not give back exactly`
        : `the _id must be a string, found ${kindOf(value)}`;
  fault(report, place, null, message, 'Give every row an "_id" string.');
  return undefined;
}

function readString(
  row: JsonObject,
  key: string,
  id: string,
  place: Place,
  report: Report,
  required: boolean,
): string | undefined {
  const value = row[key];
  if (typeof value === 'string') return value;
  // null is how data frames write an empty cell.
  if (value === null || (value === undefined && !required)) return '';
  const keys = Object.keys(row).slice(0, 8).join(', ');
  const message =
    value === undefined
      ? `row '${id}' has no "${key}" (its keys: ${keys})`
      : `"${key}" of '${id}' must be a string, found ${kindOf(value)}`;
  fault(report, place, id, message, `Expected {"_id": "...", "title": "...", "text": "..."}.`);
  return undefined;
}

function readMetadata(row: JsonObject): JsonObject | undefined {
  const own = row.metadata;
  const extras: [string, unknown][] = [];
  for (const key of Object.keys(row)) {
    if (key === 'title' || key === 'text' || key === '_id') continue;
    if (key === 'id' && row._id == null) continue;
    if (key === 'docopt' && originalOf(row.docopt) !== undefined) continue;
    if (key === 'metadata' && (own == null || isObject(own))) continue;
    extras.push([key, row[key]]);
  }
  if (isObject(own)) return extras.length === 0 ? own : Object.fromEntries([...extras, ...Object.entries(own)]);
  return extras.length === 0 ? undefined : Object.fromEntries(extras);
}

function originalOf(docopt: unknown): { title: string; text: string } | undefined {
  if (!isObject(docopt) || typeof docopt.sourceHash !== 'string') return undefined;
  const { title, text } = docopt;
  return typeof title === 'string' && typeof text === 'string' ? { title, text } : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  return Array.isArray(value)
    ? 'an array'
    : value === null
      ? 'null'
      : typeof value === 'object'
        ? 'an object'
        : `a ${typeof value}`;
}

function jsonFault(text: string, error: Error, terminated: boolean): string {
  const nul = text.indexOf('\u0000');
  if (nul >= 0) return `invalid JSON: NUL byte at character ${nul}`;
  if (!terminated) return `the last row is cut off (${error.message})`;
  return `invalid JSON: ${error.message}`;
}

function fault(report: Report, place: Place, id: string | null, message: string, hint: string): void {
  report({ severity: 'error', file: place.file, line: place.line, id, message, hint });
}
