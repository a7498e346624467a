import type { Query } from '../types.ts';
import { IdIndex } from './id.ts';
import { scanTextLines } from './lines.ts';
import { locateQueries, type Source } from './locate.ts';
import { type Report, strictReport } from './problem.ts';
import { parseJsonObject, parseQueryRow } from './row.ts';
import { scanTable } from './table.ts';

/** The queries of a BEIR folder or of a .jsonl/.csv/.tsv file (also .gz), in file order. Throws DATA with file and line. */
export async function loadQueries(path: string, options: { onWarning?: Report } = {}): Promise<Query[]> {
  const source = await locateQueries(path);
  const queries: Query[] = [];
  await scanQueries(source, strictReport(options.onWarning), (query) => queries.push(query));
  return queries;
}

/** Visits every good query with a new id; the rest is reported. */
export async function scanQueries(
  source: Source,
  report: Report,
  visit: (query: Query, line: number) => void,
): Promise<IdIndex> {
  const index = new IdIndex('query');
  const file = source.path;
  const accept = (query: Query | undefined, line: number): void => {
    if (query !== undefined && index.add(query.id, file, line, report) >= 0) visit(query, line);
  };
  if (source.format === 'jsonl') {
    await scanTextLines(file, report, (text, line, terminated) => {
      const place = { file, line };
      const object = parseJsonObject(text, place, terminated, report);
      if (object !== undefined) accept(parseQueryRow(object, place, report), line);
    });
  } else if (source.format !== 'folder') {
    await scanTable(file, source.format, report, (row, line) =>
      accept(parseQueryRow(row, { file, line }, report), line),
    );
  }
  return index;
}
