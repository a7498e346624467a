/** Options of `docopt model`: language models as files. */
import { z } from 'zod';
import { network, option, path } from '../options.ts';

export const modelShowSchema = z.strictObject({
  model: option(path.optional(), {
    help: 'a GGUF file, a Hugging Face folder, a name on the hub, or an EXPERIMENT (default: the latest)',
    value: 'MODEL',
    positional: true,
  }),
  ...network(),
});

export const modelExportSchema = z.strictObject({
  experiment: option(path.optional(), {
    path: true,
    help: 'the training (default: the latest)',
    value: 'EXPERIMENT',
    positional: true,
  }),
  adapter: option(path.optional(), { path: true, help: 'write the adapter as PEFT has it', value: 'DIR' }),
  merged: option(path.optional(), {
    path: true,
    help: 'write the whole model, adapter added, as a Hugging Face folder',
    value: 'DIR',
  }),
  ...network(),
});
