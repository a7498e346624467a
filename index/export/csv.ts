import type { Export } from './types.ts';
import { vectorText } from './values.ts';

/**
 * RFC 4180 with a header and line feeds: quotes around every cell that needs them, quotes inside doubled, line breaks kept.
 * Metadata is JSON. Cells are as they are, so a spreadsheet runs those that begin like a formula: docs/export.md.
 */
export async function* csvRows({ isChange, fields, deletes, dimensions, documents }: Export): AsyncGenerator<string> {
  const operation = (name: string): string[] => (isChange ? [name] : []);
  const vectors = dimensions !== undefined;
  const header = ['id', 'title', fields.text, fields.searchText, 'metadata', ...(vectors ? [fields.vector] : [])];
  yield csvLine([...operation('op'), ...header]);
  for await (const { id, title, text, searchText, metadata, vector } of documents()) {
    const cells = [id, title, text, searchText, metadata === undefined ? '' : JSON.stringify(metadata)];
    if (vectors) cells.push(vector === undefined ? '' : vectorText(vector));
    yield csvLine([...operation('upsert'), ...cells]);
  }
  for (const id of deletes) yield csvLine(['delete', id, ...header.slice(1).map(() => '')]);
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\n`;
}

function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
