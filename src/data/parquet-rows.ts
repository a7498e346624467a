import { dataError } from './problem.ts';
import type { JsonObject } from './row.ts';

/**
 * Rows of a Parquet file, one row group in memory at a time, any of the usual compressions. `wanted` chooses the columns once
 * their names are known (default: all). DATA when the file is no Parquet file, or a chosen column is missing or nested.
 */
export async function* parquetRows(
  file: string,
  wanted: (columns: readonly string[]) => readonly string[] = (columns) => columns,
): AsyncGenerator<{ readonly row: JsonObject; readonly line: number }> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const buffer = await asyncBufferFromFile(file);
  const metadata = await parquetMetadataAsync(buffer).catch((cause) => {
    throw dataError(file, `is no readable Parquet file (${(cause as Error).message})`, 'Check the file.', cause);
  });
  const tree = parquetSchema(metadata).children;
  const names = tree.map(({ element }) => element.name);
  const columns = wanted(names);
  for (const name of columns) {
    const node = tree[names.indexOf(name)];
    if (node === undefined) {
      throw dataError(file, `there is no column '${name}'`, `Its columns: ${names.join(', ')}.`);
    }
    if (node.children.length > 0 || node.element.repetition_type === 'REPEATED') {
      throw dataError(
        file,
        `the column '${name}' is nested (a list, map or struct)`,
        'Name the flat columns that you want, --columns id=..,text=..,metadata=A,B, or flatten the file first.',
      );
    }
  }
  let start = 0;
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows);
    let rows: Record<string, unknown>[];
    try {
      rows = await parquetReadObjects({
        file: buffer,
        metadata,
        compressors,
        columns: [...columns],
        rowStart: start,
        rowEnd: end,
        rowFormat: 'object',
      });
    } catch (cause) {
      throw dataError(
        file,
        `rows ${start + 1} to ${end} cannot be read (${(cause as Error).message})`,
        'Check the file.',
        cause,
      );
    }
    for (let i = 0; i < rows.length; i++) yield { row: plainRow(rows[i], file, start + i + 1), line: start + i + 1 };
    start = end;
  }
}

/** Values that JSON has: 64-bit integers as numbers where they are exact, else as text; times as ISO text. */
function plainRow(row: Record<string, unknown>, file: string, number: number): JsonObject {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'bigint') {
      const near = Number(value);
      out[name] = Number.isSafeInteger(near) ? near : String(value);
    } else if (value instanceof Date) out[name] = value.toISOString();
    else if (value instanceof Uint8Array)
      throw dataError(file, `row ${number}: the column '${name}' holds bytes, not text`, 'Leave it out by --columns.');
    else out[name] = value ?? null;
  }
  return out;
}
