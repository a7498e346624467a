/** Options of `docopt report` and `docopt experiments`. */
import { z } from 'zod';
import { data, force, network, option, path } from '../options.ts';

export const reportSchema = z.strictObject({
  experiment: option(path.optional(), {
    path: true,
    help: 'the training (default: the latest)',
    value: 'EXPERIMENT',
    positional: true,
  }),
  format: option(z.enum(['html', 'markdown', 'latex']).default('html'), {
    help: 'a page, or its tables',
    value: 'html|markdown|latex',
  }),
  out: option(path.optional(), {
    help: 'file; - is standard output (default: report.html, .md or .tex in the EXPERIMENT)',
    value: 'FILE|-',
  }),
  data: data(),
  documents: option(z.int().min(0).max(500).default(12), {
    help: 'documents shown on either side, won and lost',
    value: 'N',
  }),
  map: option(z.enum(['auto', 'lsa', 'none']).default('auto'), {
    help: "vectors of the map: the experiment's own when they are computed here, else lsa",
    value: 'auto|lsa|none',
  }),
  mapPoints: option(z.int().min(10).max(5000).default(300), { help: 'documents on the map', value: 'N' }),
  force: force(),
  ...network(),
});
