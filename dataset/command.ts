/** `docopt validate` and `docopt dataset ...`: options in, tables and JSON out. */
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../src/config/command.ts';
import { datasetSplitSchema, validateSchema } from '../src/config/schemas/mod.ts';
import { DocOptError } from '../src/errors.ts';
import { splitDataset, validateDataset } from './mod.ts';
import { validationTable } from './validation-table.ts';

export { datasetFromCodeCommand } from './commands/from-code.ts';
export { datasetImportCommand } from './commands/import.ts';

export const validateCommand = defineCommand({
  name: 'validate',
  summary: 'Lists every problem of a data set, with file and line. Exit 1 when there is an error.',
  details: `DATA is a BEIR folder (corpus.jsonl, queries.jsonl, qrels/*.tsv), a .jsonl, .csv or .tsv file, a folder of text files, a rewritten
corpus, or a TREC qrels or run file; each file may be packed (.gz). Errors stop every other command; warnings do not.`,
  schema: validateSchema,
  examples: [
    ['docopt validate data/scifact', 'a whole data set'],
    ['docopt validate notes/', 'a folder of text files as a corpus'],
    ['docopt validate data/scifact --json', 'one JSON document: {ok, problems, counts}'],
  ],
  async run(options): Promise<CommandResult> {
    const data = required(options.data, 'docopt validate DATA');
    const validation = await validateDataset(data, options);
    return { json: validation, text: validationTable(data, validation), exitStatus: validation.ok ? 0 : 1 };
  },
});

export const datasetSplitCommand = defineCommand({
  name: 'dataset split',
  summary: 'Divides the judged queries into train, dev and test, and saves the division as files.',
  details: `Queries with the same text stay together; --dev is a share of the train side. Later runs take the files, so that all of them use one
division. Existing qrels/{train,dev,test}.tsv win over a seeded split; a lone qrels file is not a split.`,
  schema: datasetSplitSchema,
  examples: [
    ['docopt dataset split data/scifact', 'a fifth of the queries to train, a quarter of those to dev'],
    ['docopt dataset split data/scifact --by document', 'queries that share a relevant document stay together'],
    ['docopt dataset split data/scifact --train 0.5 --dev 0 --seed 7 --out my-split', 'other shares, other folder'],
  ],
  run: runSplit,
});

async function runSplit(options: z.infer<typeof datasetSplitSchema>, { log }: CommandContext): Promise<CommandResult> {
  const { train, dev, seed, by, out, force } = options;
  const data = required(options.data, 'docopt dataset split DATA');
  const split = await splitDataset(data, { train, dev, seed, by, out, force });
  for (const warning of split.warnings) log.warn(warning);
  const counts = { train: split.train.length, dev: split.dev.length, test: split.test.length };
  const where = split.folder === undefined ? 'nothing written: the qrels files are the split' : `wrote ${split.folder}`;
  return {
    json: { ...split, folder: split.folder ?? null, counts },
    text: `train ${counts.train}  dev ${counts.dev}  test ${counts.test}  (${split.source})\n${where}`,
  };
}

function required(data: string | undefined, example: string): string {
  if (data !== undefined) return data;
  throw new DocOptError('USAGE', 'which data set? DATA is missing', { hint: `Example: ${example}` });
}
