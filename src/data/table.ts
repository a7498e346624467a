import { pipeline } from 'node:stream/promises';
import { CsvError, type InfoRecord, parse } from 'csv-parse';
import { byteChunks } from './bytes.ts';
import { utf8Chunks } from './encoding.ts';
import { scanTextLines } from './lines.ts';
import { dataError, type Report } from './problem.ts';
import type { JsonObject } from './row.ts';

/** A row by column name and the line it starts on. */
export type VisitTableRow = (row: JsonObject, line: number) => void;

/**
 * Rows of a CSV or TSV file with a header that names `id` (or `_id`), `text` and perhaps `title`; quotes as in RFC 4180.
 * A TSV file without a header is read as MS MARCO has them: id, tab, text, and quotes mean nothing.
 */
export async function scanTable(
  file: string,
  format: 'csv' | 'tsv',
  report: Report,
  visit: VisitTableRow,
): Promise<void> {
  const header = await firstLine(file);
  if (header === undefined) return;
  const delimiter = format === 'csv' ? ',' : '\t';
  const names = header.split(delimiter).map((name) => canonical(name.replace(/^"(.*)"$/, '$1')));
  if (names.includes('id') || names.includes('_id')) return scanWithHeader(file, delimiter, report, visit);
  if (format === 'tsv' && names.length === 2) return scanPairs(file, report, visit);
  const message = `no column 'id' or '_id' in the header (${names.join(', ').slice(0, 120)})`;
  throw dataError(file, message, `Name the columns in the first line: id, title, text.`);
}

async function scanWithHeader(file: string, delimiter: string, report: Report, visit: VisitTableRow): Promise<void> {
  let columns: string[] | undefined;
  let returns = 0;
  let nextLine = 1;
  const onRecord = (record: string[], info: InfoRecord): null => {
    // The parser counts a \r inside a field as a line of its own, and tells the line a row ends on.
    for (const field of record) returns += count(field, '\r');
    const lastLine = info.lines - returns;
    const line = lastLine - record.reduce((sum, field) => sum + count(field, '\n'), 0);
    nextLine = lastLine + 1;
    if (columns === undefined) {
      columns = record.map(canonical);
      checkColumns(columns, file, line);
    } else if (record.length !== columns.length) {
      const message = `${record.length} columns where the header has ${columns.length}`;
      const hint = 'Quote fields that contain the separator or a newline.';
      report({ severity: 'error', file, line, id: null, message, hint });
    } else {
      visit(Object.fromEntries(columns.map((name, i) => [name, record[i]])), line);
    }
    return null;
  };
  const parser = parse({
    delimiter,
    on_record: onRecord,
    relax_column_count: true,
    relax_quotes: delimiter === '\t',
    skip_empty_lines: true,
    bom: true,
    record_delimiter: ['\r\n', '\n'],
  });
  try {
    await pipeline(utf8Chunks(byteChunks(file), file), parser.resume());
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const message =
      error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'a quote opened in this row is never closed' : error.message;
    const hint = 'Fields with quotes must be quoted as a whole, inner quotes doubled. Reading stopped here.';
    report({ severity: 'error', file, line: nextLine, id: null, message, hint });
  }
}

async function scanPairs(file: string, report: Report, visit: VisitTableRow): Promise<void> {
  await scanTextLines(file, report, (text, line) => {
    const tab = text.indexOf('\t');
    if (tab < 0 || text.indexOf('\t', tab + 1) >= 0) {
      const found = text.split('\t').length;
      report({
        severity: 'error',
        file,
        line,
        id: null,
        message: `${found} columns; expected id and text`,
        hint: 'Separate them by one tab, or name more columns in a header.',
      });
    } else visit({ id: text.slice(0, tab), text: text.slice(tab + 1) }, line);
  });
}

function checkColumns(columns: readonly string[], file: string, line: number): void {
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined)
    throw dataError(file, `line ${line}: two columns are named '${twice}'`, 'Rename one of them.');
  if (!columns.includes('text')) {
    throw dataError(
      file,
      `line ${line}: no column 'text' (columns: ${columns.join(', ')})`,
      'Name the columns in the first line: id, title, text.',
    );
  }
}

/** Our own column names in any case; others as they are. */
function canonical(name: string): string {
  const lower = name.trim().toLowerCase();
  return lower === 'id' || lower === '_id' || lower === 'title' || lower === 'text' ? lower : name.trim();
}

function count(field: string, character: string): number {
  let found = 0;
  for (let at = field.indexOf(character); at >= 0; at = field.indexOf(character, at + 1)) found++;
  return found;
}

/** The first line that is not blank; undefined when there is none. */
export async function firstLine(file: string): Promise<string | undefined> {
  let text = '';
  for await (const chunk of byteChunks(file)) {
    text += chunk.toString('utf8');
    const lines = text.replace(/^\uFEFF/, '').split('\n');
    const end = lines.findIndex((line, i) => line.trim() !== '' && i < lines.length - 1);
    if (end >= 0) return lines[end].replace(/\r$/, '');
  }
  const only = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .find((line) => line.trim() !== '');
  return only?.replace(/\r$/, '');
}
