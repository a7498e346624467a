import { z } from 'zod';
import { force, option, path } from '../options.ts';

const count = z.int().min(1);

export const datasetImportSchema = z.strictObject({
  corpus: option(path, { path: true, help: 'the documents: a file, a folder, or - for standard input', value: 'PATH' }),
  format: option(z.enum(['markdown', 'html', 'text', 'csv', 'tsv', 'jsonl', 'parquet', 'beir']).optional(), {
    help: 'default: told by the names of the files',
    value: 'FORMAT',
  }),
  glob: option(z.string().min(1).optional(), { help: "which files of a folder: '**/*.md'", value: 'GLOB' }),
  encoding: option(z.string().min(1).default('utf-8'), {
    help: 'how the files are written: shift_jis, windows-1252, ...',
    value: 'NAME',
  }),
  idFrom: option(z.string().min(1).optional(), {
    help: 'where ids come from: path, hash, frontmatter:KEY, column:NAME',
    value: 'WHERE',
  }),
  columns: option(z.array(z.string().min(1)).optional(), {
    help: 'id=..,title=..,text=..,metadata=..; and for --judgments query=..,id=..,clicks=..,label=..',
    value: 'LIST',
    repeat: true,
  }),
  queries: option(path.optional(), {
    path: true,
    help: 'queries, a .jsonl, .csv or .tsv file with id and text',
    value: 'FILE',
  }),
  judgments: option(path.optional(), {
    path: true,
    help: 'qrels, or a table of labels or clicks',
    value: 'FILE',
  }),
  minClicks: option(count.optional(), { help: 'fewest clicks of a pair that count as a judgement', value: 'N' }),
  grades: option(z.array(count).min(1).optional(), {
    help: 'clicks from which a pair has grade 1, 2, ...',
    value: '3,10,30',
  }),
  chunk: option(z.string().default('none'), {
    help: 'cut documents: none, headings, tokens:400/50, sentences:5',
    value: 'HOW',
  }),
  maxDocumentBytes: option(count.default(64 << 20), { help: 'larger documents are refused', value: 'N' }),
  name: option(z.string().min(1).optional(), { help: 'of the data set, for dataset.json', value: 'NAME' }),
  license: option(z.string().min(1).optional(), { help: 'its licence, for dataset.json', value: 'LICENCE' }),
  source: option(z.string().min(1).optional(), { help: 'where it is from, for dataset.json', value: 'URL' }),
  language: option(z.array(z.string().min(1)).optional(), {
    help: 'its languages, for dataset.json: de,ja',
    value: 'LIST',
  }),
  citation: option(z.string().min(1).optional(), { help: 'how to cite it, for dataset.json', value: 'TEXT' }),
  out: option(path, { path: true, help: 'the data set to write', value: 'DATA' }),
  force: force(),
});
