/** `docopt eval`: retrievers, indexes and runs side by side on the judged queries of a data set or a qrels file. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandContext, type CommandResult, defineCommand } from '../../src/config/command.ts';
import { evalSchema } from '../../src/config/schemas/mod.ts';
import { writeRun } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import {
  type Agreement,
  type AgreementMeasure,
  agreementOf,
  type Measure,
  parseAgreement,
  parseMeasures,
} from '../../src/metrics/mod.ts';
import { openArtefact } from '../../src/store/artefact.ts';
import { aggregateQrels, aggregateRun } from '../aggregate.ts';
import { estimateLines, estimateRetrievers, indexTexts } from '../estimate.ts';
import {
  type EvaluationReport,
  evaluateSystems,
  inEvaluationOrder,
  type System,
  truncateRun,
  withoutSelf,
} from '../evaluate.ts';
import { agreementTable, evaluationTable } from '../evaluation-table.ts';
import { checkGates, type GateResult, parseGates } from '../gates.ts';
import { type EvalOptions, type Judged, loadJudged } from './eval-judgements.ts';
import { descriptionOf, evaluatedQueries, listSources, runOf, type Source } from './eval-systems.ts';

export const evalCommand = defineCommand({
  name: 'eval',
  summary: 'Evaluates several systems side by side: means, what changed against the first, and how surely.',
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
    [
      'docopt eval --data DATA --retriever bm25 --run prod.trec --agreement overlap@10,rbo',
      "how well the local BM25 stands for your own engine's rankings",
    ],
    ['docopt eval --data DATA --index INDEX --fail-under nDCG@5=0.6', 'exit 100 when it is worse than that'],
  ],
  run: runEval,
});

async function runEval(options: EvalOptions, context: CommandContext): Promise<CommandResult> {
  const gates = parseGates(options.failUnder ?? []);
  const measures = unique([...parseMeasures(options.metrics), ...gates.map(({ measure }) => measure)]);
  const sources = listSources(options, context);
  const agreements = unique((options.agreement ?? []).map(parseAgreement));
  if (agreements.length > 0 && sources.length < 2) {
    throw new DocOptError('USAGE', `--agreement is between systems, and there is only '${sources[0].name}'`, {
      hint: 'Add the rankings of the other one: --run FILE, --retriever R or --index INDEX.',
    });
  }
  const origins = await originsOf(sources);
  // Indexes know their data set; only a flag says otherwise, a configuration may be about another.
  const own = context.typed.some(({ name }) => name === 'data' || name === 'qrels')
    ? undefined
    : origins.find((origin) => origin.data)?.data;
  const data = own ?? options.data;
  if (own !== undefined && own !== options.data) context.log.info(`data: ${data} (of the index)`);
  const judged = await loadJudged(
    { ...options, data },
    context,
    sources.find(({ kind }) => kind !== 'run'),
    origins.find((origin) => origin.experiment)?.experiment,
  );
  const depth = depthFor(measures, options, context);

  if (options.dryRun) return estimate(sources, judged, context);
  const systems: System[] = [];
  for (const source of sources) {
    // One more, in case the query's own document stands among them. Runs from files keep their depth.
    const found = await runOf(source, judged, options.ignoreSelf ? depth + 1 : depth, context);
    const whole = options.aggregate === undefined ? found : aggregateRun(found, options.aggregate);
    const run = options.ignoreSelf ? withoutSelf(whole) : whole;
    systems.push({
      name: source.name,
      description: descriptionOf(source),
      run: source.kind === 'run' ? run : truncateRun(run, depth),
    });
  }
  const report = evaluateSystems(
    systems,
    options.aggregate === undefined ? judged.qrels : aggregateQrels(judged.qrels),
    {
      measures,
      split: judged.split,
      queries: judged.queryIds,
      minRelevant: options.minRelevant,
      ties: options.ties,
      test: options.test,
      resamples: options.resamples,
      level: options.level,
      seed: options.seed,
    },
  );
  if (options.saveRuns !== undefined) await saveRuns(options.saveRuns, systems, options, context);

  const agreement = agreementsOf(systems, report, agreements, options);
  const results = checkGates(report, gates);
  const failed = results.filter(({ passed }) => !passed);
  // Beside JSON, which people do not read; the text says it itself.
  if (context.json) for (const result of failed) context.log.warn(gateLine(result));
  return {
    json: {
      ...report,
      ...(agreement.length === 0 ? {} : { agreement }),
      ...(gates.length === 0 ? {} : { gates: results }),
    },
    text: [
      evaluationTable(report),
      ...(agreement.length === 0 ? [] : [agreementTable(agreement)]),
      ...results.map(gateLine),
    ].join('\n'),
    exitStatus: failed.length === 0 ? 0 : new DocOptError('GATE', 'below the bound').exitStatus,
  };
}

/** Every system's rankings beside the first one's, over the evaluated queries, in the order in which they were evaluated. */
function agreementsOf(
  systems: readonly System[],
  { systems: evaluated, metrics }: EvaluationReport,
  measures: readonly AgreementMeasure[],
  { ties }: EvalOptions,
): Agreement[] {
  if (measures.length === 0) return [];
  const queries = Object.keys(evaluated[0].perQuery[metrics[0]]);
  const [first, ...others] = systems.map(({ name, run }) => ({ name, run: inEvaluationOrder(run, ties) }));
  return others.flatMap((other) => agreementOf(first, other, queries, measures));
}

/** What the retrievers would send, and to which price. */
async function estimate(sources: readonly Source[], judged: Judged, context: CommandContext): Promise<CommandResult> {
  const specs = sources.flatMap((source) => (source.kind === 'retriever' ? [source.spec] : []));
  const queries = evaluatedQueries(judged);
  const texts = () => [
    ...(judged.corpus === undefined ? [] : [{ role: 'document', texts: indexTexts(judged.corpus) } as const]),
    { role: 'query', texts: queries.map(({ text }) => text) } as const,
  ];
  const found = await estimateRetrievers(specs, texts, context);
  const documents = judged.corpus?.size ?? 0;
  return {
    json: { dryRun: true, documents, queries: queries.length, systems: sources.map(({ name }) => name), ...found },
    text: [`${documents} documents, ${queries.length} queries`, ...estimateLines(found), 'nothing was evaluated'].join(
      '\n',
    ),
  };
}

interface Origin {
  readonly data?: string;
  readonly experiment?: string;
}

/** Where the evaluated indexes come from, as their manifests say, as far as it is still there. */
async function originsOf(sources: readonly Source[]): Promise<Origin[]> {
  const origins: Origin[] = [];
  for (const source of sources) {
    if (source.kind !== 'index') continue;
    const { info } = (await openArtefact(source.path, 'index')).manifest;
    const there = (path: unknown): string | undefined =>
      typeof path === 'string' && existsSync(path) ? path : undefined;
    origins.push({ data: there(info.data), experiment: there(info.experiment) });
  }
  return origins;
}

/** Deep enough for the deepest cutoff, unless the depth was asked for. */
function depthFor(measures: readonly Measure[], { depth }: EvalOptions, { given, log }: CommandContext): number {
  const deepest = Math.max(0, ...measures.map(({ cutoff }) => cutoff ?? 0));
  if (deepest <= depth) return depth;
  if (!given.has('depth')) return deepest;
  log.warn(`--depth ${depth} is less than the cutoff ${deepest} of a measure; ranks below ${depth} count as empty`);
  return depth;
}

async function saveRuns(folder: string, systems: readonly System[], { ties }: EvalOptions, { log }: CommandContext) {
  const taken = new Set<string>();
  for (const { name, run } of systems) {
    const safe = name.replace(/[^\w.=+-]+/g, '_').replace(/^[._-]+/, '') || 'run';
    let file = safe;
    for (let n = 2; taken.has(file.toLowerCase()); n++) file = `${safe}-${n}`;
    taken.add(file.toLowerCase());
    const path = join(folder, `${file}.trec`);
    await writeRun(path, inEvaluationOrder(run, ties), file);
    log.info(`wrote ${path}`);
  }
}

function gateLine({ system, metric, minimum, value, passed }: GateResult): string {
  return `${passed ? 'passed' : 'FAILED'}: ${metric} of ${system} is ${value.toFixed(4)}, at least ${minimum} is wanted`;
}

function unique<M extends { readonly name: string }>(measures: readonly M[]): M[] {
  return [...new Map(measures.map((measure) => [measure.name, measure])).values()];
}
