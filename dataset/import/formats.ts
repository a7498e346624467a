import { DocOptError } from '../../src/errors.ts';

export const FORMATS = ['markdown', 'html', 'text', 'csv', 'tsv', 'jsonl', 'parquet', 'beir'] as const;
export type Format = (typeof FORMATS)[number];

/** Formats of which one file holds many documents, one a row. */
export type RowFormat = 'csv' | 'tsv' | 'jsonl' | 'parquet';
/** Formats of which every file is one document. */
export type FileFormat = 'markdown' | 'html' | 'text';

const ENDINGS: Readonly<Record<Exclude<Format, 'beir'>, readonly string[]>> = {
  markdown: ['md', 'mdx', 'markdown'],
  html: ['html', 'htm', 'xhtml'],
  text: ['txt', 'text', 'rst', 'adoc', 'asciidoc', 'org', 'tex'],
  csv: ['csv'],
  tsv: ['tsv'],
  jsonl: ['jsonl', 'ndjson'],
  parquet: ['parquet'],
};

export const isRowFormat = (format: Format): format is RowFormat =>
  format === 'csv' || format === 'tsv' || format === 'jsonl' || format === 'parquet';

/** The format that a file's ending says (a `.gz` behind it is looked through); undefined for any other. */
export function formatOf(path: string): Exclude<Format, 'beir'> | undefined {
  const ending = path.toLowerCase().replace(/\.gz$/, '').split('.').at(-1)!;
  for (const [format, endings] of Object.entries(ENDINGS))
    if (endings.includes(ending)) return format as Exclude<Format, 'beir'>;
  return undefined;
}

/** USAGE error: the file's name does not say what it is. */
export function unknownFormat(path: string): DocOptError {
  return new DocOptError('USAGE', `${path}: its name does not say which format it has`, {
    hint: `Say it: --format ${FORMATS.join('|')}`,
  });
}
