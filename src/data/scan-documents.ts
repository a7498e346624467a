import { IdIndex } from './id.ts';
import { decodeLine, scanLines } from './lines.ts';
import type { Source } from './locate.ts';
import type { Report } from './problem.ts';
import { type DocumentRow, parseDocumentRow, parseJsonObject } from './row.ts';
import { scanTable } from './table.ts';
import { scanTextFolder } from './text-folder.ts';

/** A good row with a new id. */
export interface ScannedDocument extends DocumentRow {
  readonly file: string;
  readonly line: number | null;
  /** JSONL only: where the row's bytes are in the (unpacked) file. `bytes` is valid only during the call. */
  readonly bytes?: Buffer;
  readonly offset?: number;
}

/** Visits every document of a source once; what is wrong is reported, and the row left out when `report` returns. */
export async function scanDocuments(
  source: Source,
  report: Report,
  visit: (document: ScannedDocument) => void,
): Promise<IdIndex> {
  const index = new IdIndex('document');
  const accept = (
    row: DocumentRow | undefined,
    file: string,
    line: number | null,
    bytes?: Buffer,
    offset?: number,
  ): void => {
    if (row === undefined || index.add(row.document.id, file, line, report) < 0) return;
    visit({ document: row.document, rewrite: row.rewrite, file, line, bytes, offset });
  };
  const file = source.path;
  switch (source.format) {
    case 'jsonl':
      await scanLines(file, (bytes, line, offset, terminated) => {
        const text = decodeLine(bytes, file, line, offset, report);
        if (text === undefined) return;
        const place = { file, line };
        const object = parseJsonObject(text, place, terminated, report);
        if (object !== undefined) accept(parseDocumentRow(object, place, report), file, line, bytes, offset);
      });
      break;
    case 'csv':
    case 'tsv':
      await scanTable(file, source.format, report, (row, line) => {
        accept(parseDocumentRow(row, { file, line }, report), file, line);
      });
      break;
    case 'folder':
      await scanTextFolder(file, report, (document, path) => accept({ document }, path, null));
      break;
    default:
      source.format satisfies never;
  }
  return index;
}
