import { DocOptError } from '../../src/errors.ts';
import type { Export } from './types.ts';
import { jsonWithVector } from './values.ts';

/** Both engines refuse longer ids. */
const LONGEST_ID = 512;

/**
 * The body of `POST /_bulk`, for OpenSearch and Elasticsearch alike: `index` (adds or replaces) with its document on the next
 * line, `delete` alone. One chunk is one action, whole. DATA for an id that the engines would refuse.
 */
export async function* bulkActions({ fields, name, deletes, documents }: Export): AsyncGenerator<string> {
  const action = (kind: 'index' | 'delete', id: string): string => {
    if (Buffer.byteLength(id) > LONGEST_ID) {
      throw new DocOptError('DATA', `document '${id.slice(0, 60)}...': the id has ${Buffer.byteLength(id)} bytes`, {
        hint: `OpenSearch and Elasticsearch take ids of at most ${LONGEST_ID} bytes; give it a shorter one.`,
      });
    }
    return JSON.stringify({ [kind]: { _index: name, _id: id } });
  };
  for await (const { id, title, text, searchText, metadata, vector } of documents()) {
    const source = {
      title,
      [fields.text]: text,
      [fields.searchText]: searchText,
      ...(metadata === undefined ? {} : { metadata }),
    };
    yield `${action('index', id)}\n${jsonWithVector(source, fields.vector, vector)}\n`;
  }
  for (const id of deletes) yield `${action('delete', id)}\n`;
}
