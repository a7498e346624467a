/** What `docopt eval` evaluates on: judgements, the queries of the split, and the corpus for systems that search. */
import type { CommandContext } from '../../src/config/command.ts';
import type { evalSchema } from '../../src/config/schemas/mod.ts';
import {
  loadDataset,
  loadQrels,
  loadQueries,
  loadTopics,
  type Problem,
  readQueryIds,
  resolveSplits,
  type Topics,
} from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import type { Corpus, Qrels, Query } from '../../src/types.ts';

export type EvalOptions = typeof evalSchema._zod.output;

/** The judgements and what they are about. */
export interface Judged {
  readonly qrels: Qrels;
  readonly split: string;
  /** undefined = every judged query. */
  readonly queryIds?: readonly string[];
  /** Texts, for systems that must search; empty when only runs are evaluated. */
  readonly queries: readonly Query[];
  readonly corpus?: Corpus;
}

/** The first system that must search, so that texts are needed. */
export interface Searching {
  readonly kind: string;
  readonly name: string;
}

/**
 * Judgements, queries and what must be searched, from --data, --qrels and --split. `experiment`: the training behind an
 * index; a split that it had to keep in its own folder (read-only data) is the one to follow.
 */
export async function loadJudged(
  options: EvalOptions,
  context: CommandContext,
  searching: Searching | undefined,
  experiment?: string,
): Promise<Judged> {
  const onWarning = warner(context);
  if (options.data === undefined && options.qrels === undefined) {
    throw new DocOptError('USAGE', 'no judgements: --data or --qrels is missing', {
      hint: 'Give the data set (--data DATA), or a qrels file for runs (--qrels FILE).',
    });
  }
  if (options.data === undefined) {
    if (searching !== undefined) {
      throw new DocOptError('USAGE', `--qrels alone holds no query texts for ${searching.kind} '${searching.name}'`, {
        hint: 'Add --data DATA, or evaluate runs: --run FILE.',
      });
    }
    const qrels = await loadQrels(options.qrels!, { onWarning });
    const ids = [...qrels.keys()].map((id) => ({ id, text: '' }));
    return { qrels, queries: [], ...(await splitOfFile(options, context, ids)) };
  }
  if (searching === undefined && options.qrels !== undefined) {
    const queries = await loadQueries(options.data, { onWarning });
    return {
      qrels: await loadQrels(options.qrels, { onWarning }),
      queries,
      ...(await splitOfFile(options, context, queries)),
    };
  }
  const dataset: Topics & { corpus?: Corpus } =
    searching === undefined
      ? await loadTopics(options.data, { onWarning })
      : await loadDataset(options.data, { documentText: options.documentText, onWarning });
  const { queries, corpus } = dataset;
  if (options.qrels !== undefined) {
    const qrels = await loadQrels(options.qrels, { onWarning });
    return { qrels, queries, corpus, ...(await splitOfFile(options, context, queries)) };
  }
  return { qrels: dataset.qrels, queries, corpus, ...(await splitOfDataset(dataset, options, context, experiment)) };
}

/** A qrels file is one set of queries: all of them, or those that a file names. */
async function splitOfFile(options: EvalOptions, context: CommandContext, queries: readonly Query[]) {
  if (options.split === 'all' || (options.split === 'test' && !context.given.has('split'))) return { split: 'all' };
  if (['test', 'train', 'dev'].includes(options.split)) {
    throw new DocOptError('USAGE', `--split ${options.split} needs a data set; a qrels file has no splits`, {
      hint: 'Use --split all, or a file of query ids.',
    });
  }
  return { split: options.split, queryIds: await readQueryIds(options.split, queries) };
}

async function splitOfDataset(dataset: Topics, options: EvalOptions, { log }: CommandContext, experiment?: string) {
  const { split } = options;
  if (split === 'all') return { split };
  if (split !== 'test' && split !== 'train' && split !== 'dev') {
    return { split, queryIds: await readQueryIds(split, dataset.queries) };
  }
  const { train, dev, by, splitSeed: seed } = options;
  const splits = await resolveSplits(dataset, { train, dev, by, seed }, experiment);
  // What the warnings say of training does not matter here.
  for (const warning of splits.warnings) if (!warning.startsWith('no dev')) log.warn(warning);
  log.info(`split ${split}: ${splits[split].length} queries of ${splits.source}`);
  // Where the judgements come in one file per split, a query counts because it is in the file, relevant documents or not.
  const file = split === 'train' ? undefined : dataset.qrelsBySplit[split];
  return { split, queryIds: splits.kind === 'qrels' && file !== undefined ? [...file.keys()] : splits[split] };
}

/** Warnings of the readers, as log lines. */
export function warner({ log }: CommandContext): (problem: Problem) => void {
  return ({ file, line, message }) => log.warn(`${file}${line === null ? '' : `:${line}`}: ${message}`);
}
