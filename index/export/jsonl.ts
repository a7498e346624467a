import type { Export } from './types.ts';
import { jsonWithVector } from './values.ts';

/** One JSON object a line. An export of changes says `op` first: upsert, or delete with the id alone. */
export async function* jsonlRows({ isChange, fields, deletes, documents }: Export): AsyncGenerator<string> {
  for await (const { id, title, text, searchText, metadata, vector } of documents()) {
    const row = {
      ...(isChange ? { op: 'upsert' } : {}),
      id,
      title,
      [fields.text]: text,
      [fields.searchText]: searchText,
      ...(metadata === undefined ? {} : { metadata }),
    };
    yield `${jsonWithVector(row, fields.vector, vector)}\n`;
  }
  for (const id of deletes) yield `${JSON.stringify({ op: 'delete', id })}\n`;
}
