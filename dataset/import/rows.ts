import { dataError } from '../../src/data/problem.ts';
import type { JsonObject } from '../../src/data/row.ts';
import type { CorpusColumns } from './columns.ts';
import type { SourceDocument } from './source-document.ts';

export interface RowPlace {
  readonly file: string;
  readonly line: number;
}

/** Columns as they are usually named, in any case. */
const USUAL = { id: ['_id', 'id'], title: ['title'], text: ['text'] } as const;

/** A row of a table or of JSONL as a document. DATA naming file and line when a column is missing or holds no text. */
export function documentOfRow(row: JsonObject, asked: CorpusColumns, place: RowPlace): SourceDocument {
  const id = asked.id ?? usual(row, 'id');
  const title = asked.title ?? optional(usual(row, 'title'));
  const text = asked.text ?? optional(usual(row, 'text'));
  if (text.length === 0) throw missing('text', 'text', row, place);
  for (const name of [...text, ...title, ...(asked.id === undefined ? [] : [asked.id]), ...(asked.metadata ?? [])])
    if (!Object.hasOwn(row, name)) throw missing(name, undefined, row, place);
  const used = new Set([...(id === undefined ? [] : [id]), ...title, ...text]);
  return {
    id: id === undefined ? undefined : textOf(row, id, place),
    title: joined(row, title, ' ', place),
    text: joined(row, text, '\n\n', place),
    metadata: metadataOf(
      row,
      asked.metadata ?? Object.keys(row).filter((name) => !used.has(name)),
      asked.metadata === undefined,
    ),
    file: place.file,
    line: place.line,
    structure: 'plain',
  };
}

/** The columns that a file must be read for; all when the user named no metadata. */
export function neededColumns(all: readonly string[], asked: CorpusColumns): readonly string[] {
  if (asked.metadata === undefined) return all;
  const of = (key: keyof typeof USUAL): readonly string[] =>
    all.filter((name) => (USUAL[key] as readonly string[]).includes(name.toLowerCase())).slice(0, 1);
  const id = asked.id === undefined ? of('id') : [asked.id];
  return [...new Set([...id, ...(asked.title ?? of('title')), ...(asked.text ?? of('text')), ...asked.metadata])];
}

/** A cell as text: numbers and truth values as they are written, null as nothing. */
export function textOf(row: JsonObject, name: string, { file, line }: RowPlace): string {
  const value = row[name];
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const what = Array.isArray(value) ? 'a list' : 'an object';
  throw dataError(file, `line ${line}: '${name}' holds ${what}; expected text`, 'Choose other columns by --columns.');
}

function usual(row: JsonObject, key: keyof typeof USUAL): string | undefined {
  for (const name of USUAL[key]) {
    if (Object.hasOwn(row, name)) return name;
    const found = Object.keys(row).find((column) => column.toLowerCase() === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

const optional = (name: string | undefined): readonly string[] => (name === undefined ? [] : [name]);

function joined(row: JsonObject, names: readonly string[], separator: string, place: RowPlace): string {
  return names
    .map((name) => textOf(row, name, place))
    .filter((part) => part !== '')
    .join(separator);
}

/** An object under `metadata` is the metadata itself; BEIR rows have it so. */
function metadataOf(row: JsonObject, names: readonly string[], spread: boolean): JsonObject | undefined {
  const out: Record<string, unknown> = {};
  for (const name of names) {
    const value = row[name];
    if (name === 'metadata' && typeof value === 'object' && value !== null && !Array.isArray(value))
      Object.assign(out, value);
    else if (!(spread && name === 'metadata' && value === null)) out[name] = value;
  }
  return Object.keys(out).length === 0 ? undefined : out;
}

function missing(name: string, meant: string | undefined, row: JsonObject, { file, line }: RowPlace): Error {
  const keys = Object.keys(row).slice(0, 12).join(', ') || 'none';
  const hint =
    meant === undefined
      ? 'Check the names in --columns and --id-from.'
      : `Say which column it is: --columns ${meant}=NAME`;
  return dataError(file, `line ${line}: no column '${name}' (its columns: ${keys})`, hint);
}
