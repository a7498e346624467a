/** `docopt dataset from-code`: documented functions become a retrieval data set. */
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { datasetFromCodeSchema } from '../../src/config/schemas/mod.ts';
import { writeBeir } from '../../src/data/mod.ts';
import { openSourceFolder } from '../../src/data/source-folder.ts';
import { DocOptError } from '../../src/errors.ts';
import { type CodeDataset, fromCode, SOURCE_EXTENSIONS } from '../from-code/from-code.ts';
import { codeReportText } from '../from-code/report.ts';
import { refuseOutput } from './refuse-output.ts';

export const datasetFromCodeCommand = defineCommand({
  name: 'dataset from-code',
  summary: 'Makes a data set of the documented functions of a code base: for those who have code and no judgements.',
  details: `Each documented function (JavaScript, TypeScript, Python) gives a document, its code without comments, and a query, the first sentence
of its comment. Copies of a function (builds, bundles) count once. Folders of dependencies, vendored code, hidden folders and symbolic
links are left out; minified and unreadable files are named. A sentence that a document contains becomes no query.`,
  schema: datasetFromCodeSchema,
  examples: [
    ['docopt dataset from-code src --out data/my-code', 'your own code'],
    ['docopt dataset from-code node_modules/lodash-es --out data/lodash', 'an installed package'],
    ['docopt dataset from-code . --languages python --min-words 4 --out data/py', 'one language, longer queries'],
  ],
  run,
});

async function run(options: z.infer<typeof datasetFromCodeSchema>, context: CommandContext): Promise<CommandResult> {
  const { dir, out, languages, minWords, maxFileBytes, force } = options;
  await refuseOutput(out, force);
  const folder = await openSourceFolder(dir, { extensions: SOURCE_EXTENSIONS, maxFileBytes });
  const progress = context.log.progress('reading', folder.files.length);
  const dataset = await fromCode(folder, {
    languages,
    fewestWords: minWords,
    onFile: (path) => {
      if (context.signal.aborted) throw new DocOptError('INTERRUPTED', 'interrupted; nothing was written');
      progress.tick(1, path);
    },
  });
  progress.end();
  const skipped = [...folder.skipped, ...dataset.report.files.skipped];
  for (const { path, reason } of skipped) context.log.debug(`left out: ${path} (${reason})`);
  for (const { path, message } of dataset.report.files.unparsable)
    context.log.debug(`not parsed: ${path} (${message})`);
  refuseEmpty(dir, dataset, skipped.length);
  await writeBeir(out, dataset, { replace: force });

  const { report } = dataset;
  if (report.queries.written < FEW_QUERIES) {
    context.log.warn(
      `only ${report.queries.written} queries: with fewer than about ${FEW_QUERIES}, training and measures say little. ` +
        'More code, or more comments, help.',
    );
  }
  return {
    json: { data: out, source: dir, ...report, files: { ...report.files, skipped } },
    text: codeReportText(report, skipped, out),
  };
}

const FEW_QUERIES = 100;

function refuseEmpty(dir: string, { report }: CodeDataset, leftOut: number): void {
  if (report.queries.written > 0) return;
  const { read, unparsable } = report.files;
  const files = read.javascript + read.typescript + read.python;
  const others = leftOut + unparsable.length;
  const left = others === 0 ? '' : ` (${others} more were left out; run with --verbose to see them)`;
  throw new DocOptError(
    'DATA',
    files === 0
      ? `${dir}: no source file to read${left}; expected ${SOURCE_EXTENSIONS.join(', ')}`
      : `${dir}: no function with a comment that describes it in ${files} files, ${report.functions.found} functions${left}`,
    {
      hint:
        files === 0
          ? 'Give the folder that holds the code; dependencies are read only when DIR is inside their folder.'
          : 'Queries are made of the first sentence of doc comments and docstrings; this code has none that serve.',
    },
  );
}
