/** `docopt eval`: retrievers, indexes and runs side by side on the judged queries of a data set or a qrels file. */
import { basename, join } from 'node:path';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { evalSchema } from '../../src/config/schemas/mod.ts';
import { describeSpec, type RetrieverSpec, retrieverSchema } from '../../src/config/specs.ts';
import {
  type Dataset,
  loadDataset,
  loadQrels,
  loadQueries,
  loadRun,
  type Problem,
  readQueryIds,
  resolveSplits,
  writeRun,
} from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { type Measure, parseMeasures } from '../../src/metrics/mod.ts';
import type { RetrievalIndex } from '../../src/ports.ts';
import { openArtefact } from '../../src/store/artefact.ts';
import { subReader } from '../../src/store/sub-artefact.ts';
import { latest } from '../../src/store/workspace.ts';
import type { Corpus, Qrels, Query, Ranking, Run } from '../../src/types.ts';
import { evaluateSystems, inEvaluationOrder, type System, truncateRun, withoutSelf } from '../evaluate.ts';
import { evaluationTable } from '../evaluation-table.ts';
import { checkGates, type GateResult, parseGates } from '../gates.ts';
import { createRetriever } from '../mod.ts';

type Options = typeof evalSchema._zod.output;

export const evalCommand = defineCommand({
  name: 'eval',
  summary: 'several systems side by side, with significance',
  details: `Every --retriever, --index and --run is one system; the first one given is the baseline of the comparisons.
Queries without an answer count 0. Means are over the judged queries of the split; --split all takes every query of the
judgements, as trec_eval -c does. docs/metrics.md has every convention.`,
  schema: evalSchema,
  examples: [
    ['docopt eval --data DATA --retriever bm25 --split all', 'one retriever on all judged queries'],
    [
      'docopt eval --data DATA --index before --index after --metrics "nDCG@5 R@100"',
      'two indexes on the test queries',
    ],
    [
      'docopt eval --qrels qrels.txt --run a.trec --run b.trec --ties trec',
      'two runs, ordered as trec_eval orders them',
    ],
    ['docopt eval --data DATA --index INDEX --fail-under nDCG@5=0.6', 'exit 100 when it is worse than that'],
  ],
  run: runEval,
});

async function runEval(options: Options, context: CommandContext): Promise<CommandResult> {
  const gates = parseGates(options.failUnder ?? []);
  const measures = unique([...parseMeasures(options.metrics), ...gates.map(({ measure }) => measure)]);
  const sources = listSources(options, context);
  const judged = await loadJudged(options, context, sources);
  const depth = depthFor(measures, options, context);

  const systems: System[] = [];
  for (const source of sources) {
    const found = await runOf(source, judged, options.ignoreSelf ? depth + 1 : depth, context);
    systems.push({ name: source.name, run: truncateRun(options.ignoreSelf ? withoutSelf(found) : found, depth) });
  }
  const report = evaluateSystems(systems, judged.qrels, {
    measures,
    split: judged.split,
    queries: judged.queryIds,
    minRelevant: options.minRelevant,
    ties: options.ties,
    test: options.test,
    resamples: options.resamples,
    level: options.level,
    seed: options.seed,
  });
  if (options.saveRuns !== undefined) await saveRuns(options.saveRuns, systems, options, context);

  const results = checkGates(report, gates);
  const failed = results.filter(({ passed }) => !passed);
  return {
    json: gates.length === 0 ? report : { ...report, gates: results },
    text: evaluationTable(report) + gateLines(results),
    exitStatus: failed.length === 0 ? 0 : new DocOptError('GATE', 'below the bound').exitStatus,
  };
}

/** Where a system's rankings come from. */
type Source = { readonly name: string } & (
  | { readonly kind: 'retriever'; readonly spec: RetrieverSpec }
  | { readonly kind: 'index' | 'run'; readonly path: string }
);

/** The systems in the order they were typed; from a configuration: retrievers, indexes, runs. */
function listSources(options: Options, { typed, log, projectFolder }: CommandContext): Source[] {
  const given: Source[] = [];
  const waiting = {
    retriever: (options.retriever ?? []).map((spec) => ({
      kind: 'retriever' as const,
      spec,
      name: describeSpec(spec),
    })),
    index: (options.index ?? []).map((path) => ({ kind: 'index' as const, path, name: basename(path) })),
    run: (options.run ?? []).map((path) => ({ kind: 'run' as const, path, name: runName(path) })),
  };
  for (const { name, value } of typed) {
    if (name !== 'retriever' && name !== 'index' && name !== 'run') continue;
    const next = waiting[name].shift();
    if (next !== undefined) given.push(name === 'retriever' ? { ...next, name: String(value) } : next);
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

/** bm25.trec.gz -> bm25 */
function runName(path: string): string {
  return basename(path).replace(/(\.(trec|run|txt|res|gz))+$/i, '') || basename(path);
}

/** Equal names become the paths they stand for; what is still equal gets a number. */
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

/** The judgements and what they are about. */
interface Judged {
  readonly qrels: Qrels;
  readonly split: string;
  /** undefined = every judged query. */
  readonly queryIds?: readonly string[];
  /** Texts, for systems that must search; empty when only runs are evaluated. */
  readonly queries: readonly Query[];
  readonly corpus?: Corpus;
}

async function loadJudged(options: Options, context: CommandContext, sources: readonly Source[]): Promise<Judged> {
  const onWarning = warner(context);
  if (options.data === undefined && options.qrels === undefined) {
    throw new DocOptError('USAGE', 'no judgements: --data or --qrels is missing', {
      hint: 'Give the data set (--data DATA), or a qrels file for runs (--qrels FILE).',
    });
  }
  const searching = sources.find(({ kind }) => kind !== 'run');
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
  const dataset = await loadDataset(options.data, { documentText: options.documentText, onWarning });
  const { queries, corpus } = dataset;
  if (options.qrels !== undefined) {
    const qrels = await loadQrels(options.qrels, { onWarning });
    return { qrels, queries, corpus, ...(await splitOfFile(options, context, queries)) };
  }
  return { qrels: dataset.qrels, queries, corpus, ...(await splitOfDataset(dataset, options, context)) };
}

/** A qrels file is one set of queries: all of them, or those that a file names. */
async function splitOfFile(options: Options, context: CommandContext, queries: readonly Query[]) {
  if (options.split === 'all' || (options.split === 'test' && !context.given.has('split'))) return { split: 'all' };
  if (['test', 'train', 'dev'].includes(options.split)) {
    throw new DocOptError('USAGE', `--split ${options.split} needs a data set; a qrels file has no splits`, {
      hint: 'Use --split all, or a file of query ids.',
    });
  }
  return { split: options.split, queryIds: await readQueryIds(options.split, queries) };
}

async function splitOfDataset(dataset: Dataset, options: Options, { log }: CommandContext) {
  const { split } = options;
  if (split === 'all') return { split };
  if (split !== 'test' && split !== 'train' && split !== 'dev') {
    return { split, queryIds: await readQueryIds(split, dataset.queries) };
  }
  const { train, dev, by, splitSeed: seed } = options;
  const splits = await resolveSplits(dataset, { train, dev, by, seed });
  for (const warning of splits.warnings) log.warn(warning);
  log.info(`split ${split}: ${splits[split].length} queries of ${splits.source}`);
  // Where the judgements come in one file per split, a query counts because it is in the file, relevant documents or not.
  const file = split === 'train' ? undefined : dataset.qrelsBySplit[split];
  return { split, queryIds: splits.kind === 'qrels' && file !== undefined ? [...file.keys()] : splits[split] };
}

/** Deep enough for the deepest cutoff, unless the depth was asked for. */
function depthFor(measures: readonly Measure[], { depth }: Options, { given, log }: CommandContext): number {
  const deepest = Math.max(0, ...measures.map(({ cutoff }) => cutoff ?? 0));
  if (deepest <= depth) return depth;
  if (!given.has('depth')) return deepest;
  log.warn(`--depth ${depth} is less than the cutoff ${deepest} of a measure; ranks below ${depth} count as empty`);
  return depth;
}

/** Queries per search call: enough to amortise it, few enough to stop soon. */
const BATCH = 64;

async function runOf(source: Source, judged: Judged, depth: number, context: CommandContext): Promise<Run> {
  if (source.kind === 'run') return loadRun(source.path, { onWarning: warner(context) });
  const wanted = judged.queryIds === undefined ? undefined : new Set(judged.queryIds);
  const judgedQuery = ({ id }: Query) => judged.qrels.has(id) && (wanted === undefined || wanted.has(id));
  const queries = judged.queries.filter(judgedQuery);
  warnOfMissingTexts(judged, wanted, queries.length, context);
  const index = source.kind === 'index' ? await openIndex(source.path) : await buildIndex(source.spec, judged.corpus!);
  const run = new Map<string, Ranking>();
  const progress = context.log.progress(`searching with ${source.name}`, queries.length);
  for (let start = 0; start < queries.length; start += BATCH) {
    context.signal.throwIfAborted();
    const batch = queries.slice(start, start + BATCH);
    const rankings = await index.search(batch, depth);
    batch.forEach(({ id }, i) => {
      run.set(id, rankings[i]);
    });
    progress.tick(batch.length);
  }
  progress.end();
  return run;
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

async function buildIndex(spec: RetrieverSpec, corpus: Corpus): Promise<RetrievalIndex> {
  return createRetriever(spec).build(corpus);
}

async function openIndex(folder: string): Promise<RetrievalIndex> {
  const artefact = await openArtefact(folder, 'index');
  const spec = retrieverSchema.parse(artefact.manifest.info.retriever);
  return createRetriever(spec).open(subReader(artefact, 'retriever'));
}

async function saveRuns(folder: string, systems: readonly System[], { ties }: Options, { log }: CommandContext) {
  for (const { name, run } of systems) {
    const safe = name.replace(/[^\w.=+-]+/g, '_').replace(/^[._]+/, '') || 'run';
    const path = join(folder, `${safe}.trec`);
    await writeRun(path, inEvaluationOrder(run, ties), safe);
    log.info(`wrote ${path}`);
  }
}

function gateLines(results: readonly GateResult[]): string {
  const line = ({ system, metric, minimum, value, passed }: GateResult) =>
    `${passed ? 'passed' : 'FAILED'}: ${metric} of ${system} is ${value.toFixed(4)}, at least ${minimum} is wanted\n`;
  return results.length === 0 ? '' : `\n${results.map(line).join('')}`;
}

function unique(measures: readonly Measure[]): Measure[] {
  return [...new Map(measures.map((measure) => [measure.name, measure])).values()];
}

function warner({ log }: CommandContext): (problem: Problem) => void {
  return ({ file, line, message }) => log.warn(`${file}${line === null ? '' : `:${line}`}: ${message}`);
}
