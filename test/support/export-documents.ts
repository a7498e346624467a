/** Documents that try to leave whatever they are written into, and an export of them. */
import type { Export, ExportedDocument } from '../../index/export/types.ts';

export const HOSTILE: readonly ExportedDocument[] = [
  {
    id: 'plain',
    title: 'A title',
    text: 'the original',
    searchText: 'the rewrite',
    metadata: { n: 1, tags: ['a', 'b'] },
  },
  { id: `o'br"ien`, title: `it's`, text: `'; DROP TABLE "documents"; --`, searchText: `\\'; DROP TABLE documents; --` },
  { id: 'back\\slash', title: '', text: 'C:\\new\\table', searchText: `\\`, metadata: { 'a\\b': '\\u0000', q: `'"` } },
  { id: 'dollar', title: '$$', text: '$$ $tag$ $1', searchText: `$$; COMMIT; --`, metadata: {} },
  {
    id: 'lines',
    title: 'a,b',
    text: 'first\r\nsecond\n\n"third"\ttab',
    searchText: '\\.\n:name :"name"',
    metadata: { deep: [{ a: null }] },
  },
  {
    id: 'nul',
    title: 'a\0b',
    text: '\0',
    searchText: 'half \ud83d pair',
    metadata: { 'k\0': 'v\0\ud83d', ok: '\\\\u0000' },
  },
  { id: '日本語', title: '日本', text: '=1+1 \u2028 \u202e 😀', searchText: '😀', metadata: { '😀': '日本' } },
];

export const FIELDS = { searchText: 'search_text', text: 'text', vector: 'embedding' };

export function exportOf(documents: readonly ExportedDocument[], more: Partial<Export> = {}): Export {
  return {
    upserts: documents.length,
    deletes: [],
    isChange: false,
    fields: FIELDS,
    name: 'documents',
    async *documents() {
      yield* documents;
    },
    ...more,
  };
}

/** The documents with vectors of three numbers; the second has no direction. */
export function withVectors(documents: readonly ExportedDocument[]): ExportedDocument[] {
  return documents.map((document, i) => ({
    ...document,
    ...(i === 1 ? {} : { vector: Float32Array.of(Math.cos(i), Math.sin(i) * 0.6, Math.sin(i) * 0.8) }),
  }));
}

export async function joined(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

export async function joinedBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
