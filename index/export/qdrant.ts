import type { Export, ExportedDocument, ExportFields } from './types.ts';
import { DOCUMENT_NAMESPACE, uuid5 } from './uuid.ts';
import { vectorText } from './values.ts';

/** Of one request: well under the 32 MB that a server takes by default. */
const MOST_CHARACTERS = 8_000_000;
const MOST_POINTS = 500;

/**
 * One request body a line, each for `POST /collections/NAME/points/batch`: upserts, then deletions. Qdrant's ids are numbers
 * or UUIDs, so a point has the UUIDv5 of the document's id, and the id itself as `id` in its payload.
 */
export async function* qdrantRequests({ fields, deletes, documents }: Export): AsyncGenerator<string> {
  let points: string[] = [];
  let characters = 0;
  for await (const document of documents()) {
    const point = pointOf(document, fields);
    if (points.length === MOST_POINTS || (points.length > 0 && characters + point.length > MOST_CHARACTERS)) {
      yield upsert(points);
      [points, characters] = [[], 0];
    }
    points.push(point);
    characters += point.length;
  }
  if (points.length > 0) yield upsert(points);
  for (let start = 0; start < deletes.length; start += MOST_POINTS) {
    const ids = deletes.slice(start, start + MOST_POINTS).map(pointId);
    yield `${JSON.stringify({ operations: [{ delete: { points: ids } }] })}\n`;
  }
}

export function pointId(id: string): string {
  return uuid5(DOCUMENT_NAMESPACE, id);
}

function pointOf({ id, title, text, searchText, metadata, vector }: ExportedDocument, fields: ExportFields): string {
  const payload = {
    id,
    title,
    [fields.text]: text,
    [fields.searchText]: searchText,
    ...(metadata === undefined ? {} : { metadata }),
  };
  // A point without a vector is kept and never found by one.
  return `{"id":"${pointId(id)}","vector":${vector === undefined ? '{}' : vectorText(vector)},"payload":${JSON.stringify(payload)}}`;
}

function upsert(points: readonly string[]): string {
  return `{"operations":[{"upsert":{"points":[${points.join(',')}]}}]}\n`;
}
