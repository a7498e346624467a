/** Options of `docopt reproduce`. */
import { z } from 'zod';
import { dryRun, network, option, path, policy, retrievers } from '../options.ts';
import { trainSchema } from './train.ts';

export const reproduceSchema = z.strictObject({
  name: option(z.string().min(1).optional(), {
    help: 'which table; without one, those that there are',
    value: 'NAME',
    positional: true,
  }),
  data: option(z.union([z.array(path), path]).optional(), {
    path: true,
    help: 'a judged collection; repeatable',
    value: 'DATA',
    repeat: true,
  }),
  out: option(path.optional(), {
    path: true,
    help: 'cells, table and manifest; the same command again goes on there',
    value: 'DIR',
  }),
  policy: policy(),
  retriever: retrievers(),
  preset: trainSchema.shape.preset,
  steps: trainSchema.shape.steps,
  seed: trainSchema.shape.seed,
  seeds: trainSchema.shape.seeds,
  dryRun: dryRun(),
  ...network(),
});
