/** The systems of `docopt eval`: what was asked for, in which order, and how each gets its rankings. */
import { basename } from 'node:path';
import type { CommandContext } from '../../src/config/command.ts';
import { describeSpec, distinctNames } from '../../src/config/spec-names.ts';
import type { RetrieverSpec } from '../../src/config/specs.ts';
import { loadRun } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import type { RetrievalIndex } from '../../src/ports.ts';
import { latest } from '../../src/store/workspace.ts';
import type { Corpus, Query, Ranking, Run } from '../../src/types.ts';
import { createRetriever, openIndex } from '../mod.ts';
import { type EvalOptions, type Judged, warner } from './eval-judgements.ts';

/** Where a system's rankings come from. */
export type Source =
  | { readonly kind: 'retriever'; readonly name: string; readonly spec: RetrieverSpec }
  | { readonly kind: 'index'; readonly name: string; readonly path: string }
  | { readonly kind: 'run'; readonly name: string; readonly path: string };

/** The systems in the order they were typed; from a configuration: retrievers, indexes, runs. */
export function listSources(options: EvalOptions, { typed, log, projectFolder }: CommandContext): Source[] {
  const given: Source[] = [];
  const waiting = {
    retriever: named(options.retriever ?? []),
    index: (options.index ?? []).map((path) => ({ kind: 'index' as const, path, name: basename(path) })),
    run: (options.run ?? []).map((path) => ({ kind: 'run' as const, path, name: runName(path) })),
  };
  // A retriever of the configuration is what to evaluate where nothing else was asked for; it must not join what was.
  const asked = (name: string): boolean => typed.some((flag) => flag.name === name);
  if (!asked('retriever') && (asked('index') || asked('run'))) waiting.retriever.length = 0;
  for (const { name } of typed) {
    if (name !== 'retriever' && name !== 'index' && name !== 'run') continue;
    const next = waiting[name].shift();
    if (next !== undefined) given.push(next);
  }
  given.push(...waiting.retriever, ...waiting.index, ...waiting.run);
  if (given.length === 0) {
    const index = latest(projectFolder, 'index');
    if (index === undefined) {
      throw new DocOptError('USAGE', 'nothing to evaluate', {
        hint: 'Give at least one --retriever R, --index INDEX or --run FILE.',
      });
    }
    log.info(`taking the latest index: ${index}`);
    given.push({ kind: 'index', path: index, name: basename(index) });
  }
  return withUniqueNames(given);
}

function named(specs: readonly RetrieverSpec[]): Source[] {
  const names = distinctNames('retriever', specs);
  return specs.map((spec, i) => ({ kind: 'retriever', spec, name: names[i] }));
}

/** What the short name of a system leaves out. */
export function descriptionOf(source: Source): string {
  return source.kind === 'retriever' ? describeSpec('retriever', source.spec) : source.path;
}

/** bm25.trec.gz -> bm25 */
function runName(path: string): string {
  return basename(path).replace(/(\.(trec|run|txt|res|gz))+$/i, '') || basename(path);
}

/** Files of one name become the paths they stand for; what is still equal gets a number. */
function withUniqueNames(sources: readonly Source[]): Source[] {
  const count = (name: string) => sources.filter((source) => source.name === name).length;
  const named = sources.map((source) =>
    count(source.name) > 1 ? { ...source, name: source.kind === 'retriever' ? source.name : source.path } : source,
  );
  const seen = new Map<string, number>();
  return named.map((source) => {
    const nth = (seen.get(source.name) ?? 0) + 1;
    seen.set(source.name, nth);
    return nth === 1 ? source : { ...source, name: `${source.name} #${nth}` };
  });
}

/** Queries per search call: enough to amortise it, few enough to stop soon. */
const BATCH = 64;

/** The rankings of one system for the queries that are evaluated, to `depth`. */
export async function runOf(source: Source, judged: Judged, depth: number, context: CommandContext): Promise<Run> {
  if (source.kind === 'run') {
    const run = await loadRun(source.path, { onWarning: warner(context) });
    const isAnswered = (judged.queryIds ?? [...judged.qrels.keys()]).some((id) => run.has(id));
    if (!isAnswered) context.log.warn(`${source.path} answers none of the evaluated queries; check their ids`);
    return run;
  }
  const wanted = judged.queryIds === undefined ? undefined : new Set(judged.queryIds);
  const queries = evaluatedQueries(judged);
  warnOfMissingTexts(judged, wanted, queries.length, context);
  if (source.kind === 'retriever') context.log.info(`${source.name} is ${descriptionOf(source)}`);
  const index = await indexOf(source, judged.corpus!, context);
  const run = new Map<string, Ranking>();
  const progress = context.log.progress(`searching with ${source.name}`, queries.length);
  try {
    for (let start = 0; start < queries.length; start += BATCH) {
      context.signal.throwIfAborted();
      const batch = queries.slice(start, start + BATCH);
      const rankings = await index.search(batch, depth);
      for (const [i, { id }] of batch.entries()) run.set(id, rankings[i]);
      progress.tick(batch.length);
    }
  } finally {
    progress.end();
  }
  return run;
}

/** Judged queries of the split that have a text. */
export function evaluatedQueries({ queries, qrels, queryIds }: Judged): Query[] {
  const wanted = queryIds === undefined ? undefined : new Set(queryIds);
  return queries.filter(({ id }) => qrels.has(id) && (wanted === undefined || wanted.has(id)));
}

function warnOfMissingTexts(
  judged: Judged,
  wanted: ReadonlySet<string> | undefined,
  found: number,
  { log }: CommandContext,
) {
  const expected = wanted === undefined ? judged.qrels.size : [...wanted].filter((id) => judged.qrels.has(id)).length;
  if (found < expected) log.warn(`${expected - found} judged queries have no text in the data and count 0`);
}

async function indexOf(
  source: Exclude<Source, { kind: 'run' }>,
  corpus: Corpus,
  context: CommandContext,
): Promise<RetrievalIndex> {
  return source.kind === 'index'
    ? (await openIndex(source.path, context)).index
    : createRetriever(source.spec, context).build(corpus);
}
