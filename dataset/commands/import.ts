/** `docopt dataset import`: one's own documents, queries and clicks become a data set. */
import { basename, join, resolve } from 'node:path';
import type { z } from 'zod';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { datasetImportSchema } from '../../src/config/schemas/dataset-import.ts';
import { statOrUndefined } from '../../src/data/bytes.ts';
import { CARD_FILE, type DatasetCard, readGiven } from '../../src/data/dataset-card.ts';
import { encodingName } from '../../src/data/encoding.ts';
import { inputName, STDIN } from '../../src/data/input.ts';
import { DocOptError } from '../../src/errors.ts';
import { parseChunkSpec } from '../import/chunk-spec.ts';
import { clickRule } from '../import/clicks.ts';
import { parseColumns } from '../import/columns.ts';
import { parseIdFrom } from '../import/document-ids.ts';
import { importDataset } from '../import/import-dataset.ts';
import { importReportText } from '../import/report-text.ts';
import { refuseOutput } from './refuse-output.ts';

type Options = z.infer<typeof datasetImportSchema>;

export const datasetImportCommand = defineCommand({
  name: 'dataset import',
  summary:
    'Makes a data set of documents in Markdown, HTML, text, CSV, TSV, JSONL, Parquet or BEIR, of queries and of clicks.',
  details: `CORPUS is a file, a folder, or - for rows from standard input. --columns says which column is what: a list with query, clicks or
label is of the judgements, any other of the corpus. Clicks become grades by --min-clicks or --grades; judgements of unknown
documents or queries are counted and listed. docs/import.md has worked examples.`,
  schema: datasetImportSchema,
  examples: [
    [
      'docopt dataset import --corpus notes/ --chunk headings --out data/notes',
      'a folder of Markdown, cut at its headings',
    ],
    [
      'docopt dataset import --corpus shop.csv --columns id=sku,title=name,text=description --judgments clicks.csv --columns query=q,id=sku,clicks=n --out data/shop',
      'a catalogue and its click log',
    ],
    [
      'psql -c "\\copy (select id, title, body from pages) to stdout csv header" | docopt dataset import --corpus - --format csv --columns id=id,title=title,text=body --out data/pages',
      'a table of a database, through a pipe',
    ],
  ],
  defaults: { minClicks: '3', name: "the folder's name", license: 'unknown' },
  run,
});

async function run(options: Options, context: CommandContext): Promise<CommandResult> {
  const { corpus, out, format, glob, maxDocumentBytes, force } = options;
  const encoding = encodingName(options.encoding);
  const columns = parseColumns(options.columns ?? []);
  const judged = Object.keys(columns.judgements).length > 0;
  if (judged && options.judgments === undefined)
    throw new DocOptError('USAGE', '--columns names columns of judgements, and there is no --judgments FILE', {
      hint: 'Give the file, or take query, clicks and label out of --columns.',
    });
  const rule = clickRule(options.minClicks, options.grades);
  const chunk = parseChunkSpec(options.chunk);
  const idFrom = options.idFrom === undefined ? undefined : parseIdFrom(options.idFrom);
  if (idFrom?.by === 'column' && columns.corpus.id !== undefined && columns.corpus.id !== idFrom.name)
    throw new DocOptError('USAGE', `--id-from column:${idFrom.name} and --columns id=${columns.corpus.id} disagree`, {
      hint: 'Leave one of them out.',
    });
  await refuseOutput(out, force);

  const progress = context.log.progress('reading', 0);
  const report = await importDataset({
    corpus: {
      path: corpus,
      format,
      glob,
      encoding,
      maxDocumentBytes,
      columns: idFrom?.by === 'column' ? { ...columns.corpus, id: idFrom.name } : columns.corpus,
    },
    idFrom,
    chunk,
    queries: options.queries,
    judgements: options.judgments === undefined ? undefined : { file: options.judgments, columns: columns.judgements },
    rule,
    card: await cardOf(options),
    cardName: basename(resolve(out)),
    out,
    replace: force,
    countTokens: chunk.by === 'tokens' ? await tokenCounter() : (text) => text.length,
    onOpen: ({ formats, skipped }) => {
      const found = Object.entries(formats).map(
        ([name, files]) => `${name} (${files} ${files === 1 ? 'file' : 'files'})`,
      );
      const how = format === undefined ? 'guessed from the names; --format says it' : 'as told';
      context.log.info(`${inputName(corpus)}: ${found.join(', ')}, ${how}`);
      for (const { path, reason } of skipped) context.log.warn(`left out: ${path} (${reason})`);
    },
    onDocument: (id) => {
      if (context.signal.aborted) throw new DocOptError('INTERRUPTED', 'interrupted; nothing was written');
      progress.tick(1, id);
    },
  });
  progress.end();
  if (report.dataset.license === 'unknown')
    context.log.info(`licence unknown: say it with --license, or write it into ${join(out, CARD_FILE)}`);
  return { json: { data: out, ...report }, text: importReportText(report, out) };
}

/** Flags first, then the card that stands beside the source. */
async function cardOf({ corpus, name, license, source, language, citation }: Options): Promise<Partial<DatasetCard>> {
  const beside = corpus === STDIN ? undefined : await statOrUndefined(corpus);
  const found = beside?.isDirectory() ? await readGiven(join(corpus, CARD_FILE)) : undefined;
  return {
    name: name ?? found?.name,
    license: license ?? found?.license,
    source: source ?? found?.source,
    languages: language ?? found?.languages,
    citation: citation ?? found?.citation,
  };
}

/** Most words come again; what they count is remembered. */
async function tokenCounter(): Promise<(text: string) => number> {
  const { countTokens } = await import('gpt-tokenizer');
  const known = new Map<string, number>();
  return (text) => {
    let count = known.get(text);
    if (count === undefined) {
      count = countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
      if (known.size >= 1 << 18) known.clear();
      if (text.length <= 64) known.set(text, count);
    }
    return count;
  };
}
