/** The formats by name: those that are one stream of text, and those that are bytes or a folder. */
import { DocOptError } from '../../src/errors.ts';
import { bulkActions } from './bulk.ts';
import { csvRows } from './csv.ts';
import { jsonlRows } from './jsonl.ts';
import { pgvectorStatements } from './pgvector.ts';
import { qdrantRequests } from './qdrant.ts';
import type { Export } from './types.ts';

export type TextFormat = 'jsonl' | 'csv' | 'opensearch-bulk' | 'elasticsearch-bulk' | 'qdrant' | 'pgvector';
export type ExportFormat = TextFormat | 'parquet' | 'beir' | 'npy';

const STREAMS: Readonly<Record<TextFormat, (what: Export) => AsyncGenerator<string>>> = {
  jsonl: jsonlRows,
  csv: csvRows,
  'opensearch-bulk': bulkActions,
  'elasticsearch-bulk': bulkActions,
  qdrant: qdrantRequests,
  pgvector: pgvectorStatements,
};

export function isTextFormat(format: ExportFormat): format is TextFormat {
  return Object.hasOwn(STREAMS, format);
}

/** Whether a format is a folder of files rather than one file. */
export function isFolderFormat(format: ExportFormat): format is 'beir' | 'npy' {
  return format === 'beir' || format === 'npy';
}

/** Whether a format is nothing without vectors. */
export function needsVectors(format: ExportFormat): boolean {
  return format === 'qdrant' || format === 'npy';
}

/** Chunks of whole records: rows, actions, requests, statements. */
export function textChunks(format: TextFormat, what: Export): AsyncGenerator<string> {
  return STREAMS[format](what);
}

/** Throws USAGE for a name that the engine would refuse, or read otherwise. */
export function checkName(format: ExportFormat, name: string): void {
  const expected = !(format in NAMES) ? undefined : NAMES[format as keyof typeof NAMES];
  if (expected === undefined || expected.pattern.test(name)) return;
  throw new DocOptError('USAGE', `--name '${name}' is no name for --to ${format}`, { hint: expected.hint });
}

const INDEX = {
  pattern: /^[a-z0-9][a-z0-9._-]{0,254}$/,
  hint: 'Index names are lower case letters, digits, dots, underscores and hyphens.',
};
const NAMES = {
  'opensearch-bulk': INDEX,
  'elasticsearch-bulk': INDEX,
  pgvector: {
    pattern: /^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/,
    hint: 'Expected TABLE or SCHEMA.TABLE: letters, digits and underscores, at most 63 each.',
  },
};
