import type { ColumnSource, SchemaElement } from 'hyparquet-writer';
import type { Export, ExportedDocument, ExportFields } from './types.ts';

/** Documents held at a time, and written as one row group. */
const GROUP_ROWS = 5_000;

/** Rows as gathered for a row group, by column. */
type Columns = Map<string, unknown[]>;

/**
 * Apache Parquet, Snappy: [op], id, title, texts as strings, metadata as JSON, the vector as a list of floats. Row groups are
 * handed on as they fill up.
 */
export async function* parquetChunks(what: Export): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const { isChange, fields, deletes, dimensions, documents } = what;
  const schema = schemaOf(fields, isChange, dimensions !== undefined);
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'docopt-ir' });
  /** `offset` goes on counting; the buffer starts again. */
  const taken = (): Uint8Array => {
    const chunk = bytes.getBytes().slice();
    bytes.index = 0;
    return chunk;
  };

  const names = schema.filter(({ name }) => name !== 'root' && name !== 'list' && name !== 'element');
  let columns: Columns = new Map(names.map(({ name }) => [name, []]));
  let rows = 0;
  const group = async (): Promise<Uint8Array> => {
    const columnData = [...columns].map(([name, data]): ColumnSource => ({ name, data }));
    await writer.write({ columnData, rowGroupSize: rows });
    columns = new Map(names.map(({ name }) => [name, []]));
    rows = 0;
    return taken();
  };
  const add = (row: Readonly<Record<string, unknown>>): void => {
    for (const [name, cells] of columns) cells.push(row[name] ?? null);
    rows++;
  };

  for await (const document of documents()) {
    add(rowOf(document, fields));
    if (rows === GROUP_ROWS) yield await group();
  }
  for (const id of deletes) {
    add({ op: 'delete', id });
    if (rows === GROUP_ROWS) yield await group();
  }
  if (rows > 0) yield await group();
  await writer.finish();
  yield taken();
}

function rowOf({ id, title, text, searchText, metadata, vector }: ExportedDocument, fields: ExportFields) {
  return {
    op: 'upsert',
    id,
    title,
    [fields.text]: text,
    [fields.searchText]: searchText,
    metadata,
    [fields.vector]: vector === undefined ? undefined : Array.from(vector),
  };
}

function schemaOf(fields: ExportFields, isChange: boolean, vectors: boolean): SchemaElement[] {
  const text = (name: string, optional: boolean): SchemaElement => ({
    name,
    type: 'BYTE_ARRAY',
    converted_type: 'UTF8',
    repetition_type: optional ? 'OPTIONAL' : 'REQUIRED',
  });
  const columns: SchemaElement[] = [
    ...(isChange ? [text('op', false)] : []),
    text('id', false),
    // A deletion has no more than its id.
    ...['title', fields.text, fields.searchText].map((name) => text(name, isChange)),
    { name: 'metadata', type: 'BYTE_ARRAY', converted_type: 'JSON', repetition_type: 'OPTIONAL' },
  ];
  const list: SchemaElement[] = [
    { name: fields.vector, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', type: 'FLOAT', repetition_type: 'REQUIRED' },
  ];
  const root = { name: 'root', num_children: columns.length + (vectors ? 1 : 0) };
  return [root, ...columns, ...(vectors ? list : [])];
}
