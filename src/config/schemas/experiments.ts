/** Options of `docopt experiments` and `docopt cache`. */
import { z } from 'zod';
import { option, path } from '../options.ts';

const experiment = () =>
  option(path.optional(), { path: true, help: 'the training', value: 'EXPERIMENT', positional: true });

export const experimentsListSchema = z.strictObject({
  folder: option(path.optional(), {
    path: true,
    help: 'a folder of trainings (default: those under .docopt/, and the latest)',
    value: 'DIR',
    positional: true,
  }),
});

export const experimentsShowSchema = z.strictObject({ experiment: experiment() });

export const experimentsCompareSchema = z.strictObject({
  experiment: option(path.optional(), { path: true, help: 'one training, the baseline', value: 'A', positional: true }),
  with: option(path.optional(), { path: true, help: 'another one', value: 'B', positional: true }),
});

export const experimentsRemoveSchema = z.strictObject({
  experiment: experiment(),
  yes: option(z.boolean().default(false), { help: 'remove it; without this it is only said what would go' }),
});

export const cacheStatsSchema = z.strictObject({});

export const cacheClearSchema = z.strictObject({
  vectors: option(z.boolean().default(false), { help: 'also the vectors that local models computed' }),
  yes: option(z.boolean().default(false), { help: 'clear it; without this it is only said what would go' }),
});
