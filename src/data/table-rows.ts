import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { dataError } from './problem.ts';
import type { JsonObject } from './row.ts';
import { tooLong } from './text-lines.ts';

export interface TableRow {
  readonly row: JsonObject;
  /** The line that the row ends on, 1-based. */
  readonly line: number;
}

/**
 * Rows of a CSV or TSV stream by the column names of its first line, whatever they are; quotes as in RFC 4180, newlines
 * inside them too. Every column must exist in every row. DATA with the line otherwise.
 */
export async function* tableRows(
  text: AsyncIterable<string>,
  file: string,
  delimiter: ',' | '\t',
  longest: number,
): AsyncGenerator<TableRow> {
  let columns: string[] | undefined;
  let line = 0;
  const parser = parse({
    delimiter,
    relax_column_count: true,
    relax_quotes: delimiter === '\t',
    skip_empty_lines: true,
    max_record_size: longest,
    record_delimiter: ['\r\n', '\n'],
    info: true,
  });
  const source = Readable.from(text);
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      line = info.lines;
      if (columns === undefined) {
        columns = record.map((name) => name.trim());
        checkNames(columns, file);
      } else if (record.length !== columns.length) {
        throw dataError(
          file,
          `line ${line}: ${record.length} columns where the header has ${columns.length}`,
          'Quote fields that contain the separator or a newline.',
        );
      } else {
        yield { row: Object.fromEntries(columns.map((name, i) => [name, record[i]])), line };
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_MAX_RECORD_SIZE') throw tooLong(file, line + 1, longest);
    const open = error.code === 'CSV_QUOTE_NOT_CLOSED';
    const message = open ? 'a quote opened in this row is never closed' : error.message;
    const hint = 'Fields with quotes must be quoted as a whole, inner quotes doubled.';
    throw dataError(file, `line ${line + 1}: ${message}`, hint, error);
  } finally {
    source.destroy();
    parser.destroy();
  }
}

function checkNames(columns: readonly string[], file: string): void {
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined) throw dataError(file, `two columns are named '${twice}'`, 'Rename one of them.');
}
