/** Options of `docopt export`. */
import { z } from 'zod';
import { force, network, option, path } from '../options.ts';

export const EXPORT_FORMATS = [
  'beir',
  'jsonl',
  'csv',
  'parquet',
  'opensearch-bulk',
  'elasticsearch-bulk',
  'qdrant',
  'pgvector',
  'npy',
] as const;

export const exportSchema = z.strictObject({
  corpus: option(path.optional(), {
    path: true,
    help: 'the rewritten corpus (default: the latest)',
    value: 'CORPUS',
  }),
  to: option(z.enum(EXPORT_FORMATS), { help: 'the format', value: EXPORT_FORMATS.join('|') }),
  out: option(path.optional(), {
    help: 'file, for beir and npy a folder; - is standard output (default, where the format is text)',
    value: 'FILE|-',
  }),
  name: option(z.string().min(1).default('documents'), {
    help: 'index, collection or table of the engine',
    value: 'NAME',
  }),
  textField: option(z.string().default('search_text'), {
    help: 'field of the rewrite: search this one',
    value: 'NAME',
  }),
  originalField: option(z.string().default('text'), { help: 'field of the original: show this one', value: 'NAME' }),
  vectorField: option(z.string().default('embedding'), { help: 'field of the vectors', value: 'NAME' }),
  vectors: option(path.optional(), {
    path: true,
    help: 'an index of this very corpus whose document vectors go along',
    value: 'INDEX',
  }),
  changedSince: option(path.optional(), {
    path: true,
    help: 'an earlier corpus: only what is new or other, and deletions of what is gone',
    value: 'CORPUS',
  }),
  partMb: option(z.number().gt(0).optional(), {
    help: 'bulk formats: several files of at most this many megabytes, FILE.0001 and on',
    value: 'MB',
  }),
  force: force(),
  ...network(),
});
