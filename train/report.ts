/** The end of a training: the test queries measured once, on every system side by side. */
import type { DatasetCard } from '../src/data/dataset-card.ts';
import { corpusWithTexts, writeRun } from '../src/data/mod.ts';
import {
  type Comparison,
  compareSystems,
  type EvaluatedSystem,
  evaluate,
  isTotal,
  type Measure,
  parseMeasure,
  parseMeasures,
} from '../src/metrics/mod.ts';
import { checkpointName } from '../src/store/experiment.ts';
import type { Corpus, Query } from '../src/types.ts';
import type { BaselineContext } from './baseline.ts';
import type { TrainingState } from './checkpoint.ts';
import { depthOf, type Measured, meanOver, runOf } from './measure.ts';
import type { RoundEvaluation } from './refresh.ts';
import { truncatedPrompts } from './rehearse.ts';
import type { Session } from './session.ts';

export interface FinalTexts {
  readonly zeroShot: readonly string[];
  readonly trained: readonly string[];
  /** Updates of the policy that made `trained`. */
  readonly chosen: number;
}

export type SystemFigures = Readonly<Record<'original' | 'zeroShot' | 'trained', number | null>>;

export interface TrainReport {
  readonly retriever: string;
  readonly policy: string;
  /** The same two with all their settings. */
  readonly descriptions: { readonly retriever: string; readonly policy: string };
  readonly seed: number;
  readonly steps: number;
  readonly splits: {
    readonly train: number;
    readonly dev: number;
    readonly test: number;
    readonly source: string | null;
  };
  /** measure -> test means. */
  readonly metrics: Readonly<Record<string, SystemFigures>>;
  /** The same over test queries whose relevant documents had no training query. */
  readonly unseenDocuments: { readonly queries: number } & Readonly<Record<string, SystemFigures | number>>;
  readonly comparisons: readonly Comparison[];
  readonly baselines: Readonly<Record<string, Readonly<Record<string, number | string | null>>>>;
  /** The trained policy against each of them, on the first measure. */
  readonly baselineComparisons: readonly Comparison[];
  /** Which policy was kept, and why. */
  readonly checkpoint: {
    readonly step: number;
    readonly chosenBy: string;
    readonly path: string;
  };
  /** Train and dev nDCG@k at every refresh; `original` is the collection before any rewrite. */
  readonly curve: readonly RoundEvaluation[];
  readonly originalCurvePoint: RoundEvaluation;
  readonly collapseAlarms: readonly number[];
  /** Documents longer than the policy reads; null when it does not say. */
  readonly truncatedPrompts: number | null;
  /** What a reader must know, e.g. that the figures are void. */
  readonly notes: readonly string[];
  readonly cost: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly environment: Readonly<Record<string, unknown>>;
  /** What the data set says of itself: licence, citation, ... */
  readonly dataset: DatasetCard | null;
}

export interface TrainOutcome {
  readonly report: TrainReport;
  /** Per-query figures of the three systems, for whoever pools several runs. */
  readonly systems: readonly EvaluatedSystem[];
  /** The same of what the gain is to be seen beside. */
  readonly baselines: readonly { readonly system: EvaluatedSystem; readonly compared: boolean }[];
}

/** Fewer than for the main comparisons: there may be many baselines. */
export const BASELINE_RESAMPLES = 2000;

export async function writeReport(session: Session, state: TrainingState, texts: FinalTexts): Promise<TrainOutcome> {
  const { corpus, experiment, options, retriever, learner, splits } = session;
  const measures = parseMeasures(options.metrics);
  const original = await measureSystem(session, measures, 'original', corpus);
  const zeroShot = await measureSystem(session, measures, 'zeroShot', corpusWithTexts(corpus, texts.zeroShot));
  const trained = await measureSystem(session, measures, 'trained', corpusWithTexts(corpus, texts.trained));
  const baselines = await measureBaselines(session, measures);

  const systems = [original, zeroShot, trained];
  if (experiment.folder !== undefined) {
    for (const { name, run } of systems) await writeRun(`${experiment.folder}/runs/${name}.trec`, run, name);
  }
  const unseen = queriesOverUnseenDocuments(session);
  const hasDev = state.curve.some(({ dev }) => dev !== null);
  const report: TrainReport = {
    retriever: session.names?.retriever ?? retriever.id,
    policy: session.names?.policy ?? learner.policy.id,
    descriptions: { retriever: retriever.id, policy: learner.policy.id },
    seed: options.seed,
    steps: options.steps,
    splits: {
      train: splits.train.length,
      dev: splits.dev.length,
      test: splits.test.length,
      source: splits.source ?? null,
    },
    metrics: figuresBySystem(measures, systems, (system, metric) => nanToNull(system.mean[metric])),
    unseenDocuments: {
      queries: unseen.length,
      ...figuresBySystem(
        measures.filter((measure) => !isTotal(measure)),
        systems,
        (system, metric) => meanOver(system, metric, unseen),
      ),
    },
    comparisons: compareSystems(
      [
        [original, trained],
        [zeroShot, trained],
        [original, zeroShot],
      ],
      measures,
      { seed: options.seed },
    ),
    baselines: Object.fromEntries(
      baselines.map(({ measured, note }) => [
        measured.name,
        {
          ...Object.fromEntries(measures.map(({ name }) => [name, nanToNull(measured.mean[name])])),
          ...(note === undefined ? {} : { note }),
        },
      ]),
    ),
    baselineComparisons: compareSystems(
      baselines.filter(({ compared }) => compared).map(({ measured }) => [measured, trained] as const),
      measures.slice(0, 1),
      { seed: options.seed, resamples: BASELINE_RESAMPLES },
    ),
    checkpoint: {
      step: texts.chosen,
      chosenBy: hasDev ? `dev nDCG@${options.rewardK}` : 'last',
      path: checkpointName(texts.chosen),
    },
    curve: state.curve,
    originalCurvePoint: state.original,
    collapseAlarms: state.alarms,
    truncatedPrompts: await truncatedPrompts(session),
    notes: session.notes ?? [],
    cost: session.cost?.() ?? { usd: 0 },
    seconds: session.elapsed(),
    environment: session.environment ?? {},
    dataset: session.dataset ?? null,
  };
  await experiment.writeFile('report.json', `${JSON.stringify(report, null, 2)}\n`);
  return { report, systems, baselines: baselines.map(({ measured, compared }) => ({ system: measured, compared })) };
}

async function measureSystem(
  session: Session,
  measures: readonly Measure[],
  name: string,
  corpus: Corpus,
  retriever = session.retriever,
): Promise<Measured> {
  const { qrels, options, signal, splits } = session;
  const index = await retriever.build(corpus);
  const run = await runOf(index, testQueries(session), depthOf(measures, options.runDepth), signal);
  return { name, run, ...evaluate(run, qrels, measures, { queries: splits.test }) };
}

interface MeasuredBaseline {
  readonly measured: Measured;
  readonly note?: string;
  readonly compared: boolean;
}

async function measureBaselines(session: Session, measures: readonly Measure[]): Promise<MeasuredBaseline[]> {
  const { corpus, learner, retriever, signal, log } = session;
  const context: BaselineContext = {
    corpus,
    policy: learner.policy,
    signal,
    trainNdcg: (texts) => trainNdcg(session, texts),
  };
  const measured: MeasuredBaseline[] = [];
  for (const baseline of session.baselines ?? []) {
    signal?.throwIfAborted();
    log.debug(`baseline ${baseline.name}`);
    const { texts, retriever: other, note } = await baseline.prepare(context);
    const rewritten = texts === undefined ? corpus : corpusWithTexts(corpus, texts);
    measured.push({
      measured: await measureSystem(session, measures, baseline.name, rewritten, other ?? retriever),
      note,
      compared: baseline.compared !== false,
    });
  }
  return measured;
}

async function trainNdcg(session: Session, texts: readonly string[]): Promise<number> {
  const { corpus, retriever, qrels, options, context, signal } = session;
  const index = await retriever.build(corpusWithTexts(corpus, texts));
  const measure = parseMeasure(`nDCG@${options.rewardK}`);
  const queries = context.training.queries;
  const run = await runOf(index, queries, options.rewardK, signal);
  return evaluate(run, qrels, [measure], { queries: queries.map(({ id }) => id) }).mean[measure.name];
}

function testQueries({ queries, splits }: Session): Query[] {
  const wanted = new Set(splits.test);
  return queries.filter(({ id }) => wanted.has(id));
}

/** Test queries none of whose relevant documents is relevant to a training query: there nothing can be memorised. */
function queriesOverUnseenDocuments({ qrels, splits, context, corpus }: Session): string[] {
  return splits.test.filter((id) => {
    const relevant = [...(qrels.get(id) ?? [])].filter(([, grade]) => grade > 0);
    return (
      relevant.length > 0 &&
      relevant.every(([document]) => {
        const position = corpus.positionOf(document);
        return position === undefined || !context.training.positives.has(position);
      })
    );
  });
}

function figuresBySystem(
  measures: readonly Measure[],
  systems: readonly Measured[],
  figure: (system: Measured, metric: string) => number | null,
): Record<string, SystemFigures> {
  return Object.fromEntries(
    measures.map(({ name }) => [
      name,
      Object.fromEntries(systems.map((system) => [system.name, figure(system, name)])) as SystemFigures,
    ]),
  );
}

/** JSON has no NaN: a mean over no queries is null. */
function nanToNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
