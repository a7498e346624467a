/** The same training from several seeds: each in its own subfolder, one report with means and deviations. */
import { DocOptError } from '../src/errors.ts';
import { type Comparison, compareSystems, type EvaluatedSystem, parseMeasures } from '../src/metrics/mod.ts';
import { BASELINE_RESAMPLES, type SystemFigures, type TrainOutcome, type TrainReport } from './report.ts';

export interface SeedRun {
  readonly seed: number;
  /** Subfolder of the experiment. */
  readonly folder: string;
  readonly report: TrainReport;
}

/** Figures of every system that a report has, seed by seed. */
type PerSeed = Readonly<Record<string, readonly (number | null)[]>>;

/** As the report of one run, with means over seeds where that has figures. */
export interface SeedsReport extends Omit<TrainReport, 'curve' | 'originalCurvePoint' | 'collapseAlarms' | 'seed'> {
  /** In the order of every list of `perSeed`. */
  readonly seeds: readonly number[];
  /** Sample deviations over seeds, beside the means in `metrics`. */
  readonly deviations: Readonly<Record<string, SystemFigures>>;
  /** measure -> system (original, zeroShot, trained, and every baseline) -> its figure of each seed. */
  readonly perSeed: Readonly<Record<string, PerSeed>>;
  /** baseline -> measure -> sample deviation, beside the means in `baselines`. */
  readonly baselineDeviations: Readonly<Record<string, Readonly<Record<string, number | null>>>>;
  readonly unseenDeviations: Readonly<Record<string, SystemFigures>>;
  /** Paired over queries, each query's figures averaged over seeds first: a query counts once. */
  readonly comparisons: readonly Comparison[];
  readonly runs: readonly {
    readonly seed: number;
    readonly folder: string;
    readonly metrics: TrainReport['metrics'];
    readonly checkpoint: TrainReport['checkpoint'];
    readonly collapseAlarms: readonly number[];
  }[];
}

export function seedFolder(seed: number): string {
  return `seed-${seed}`;
}

/** Trains once per seed, one after another, and joins the reports. All runs must share their splits. */
export async function trainSeeds(
  seeds: readonly number[],
  trainOne: (seed: number) => Promise<TrainOutcome>,
): Promise<SeedsReport> {
  if (seeds.length === 0 || new Set(seeds).size !== seeds.length) {
    throw new DocOptError('USAGE', `--seeds ${seeds.join(',')}: expected different seeds`, {
      hint: 'E.g. --seeds 1,2,3.',
    });
  }
  const outcomes: TrainOutcome[] = [];
  for (const seed of seeds) outcomes.push(await trainOne(seed));
  return joinReports(seeds, outcomes);
}

export function joinReports(seeds: readonly number[], outcomes: readonly TrainOutcome[]): SeedsReport {
  const reports = outcomes.map(({ report }) => report);
  const best = bestRun(reports);
  const metrics = Object.keys(reports[0].metrics);
  const systemsOf = (name: string): EvaluatedSystem[] =>
    outcomes.map(({ systems }) => systems.find((system) => system.name === name)!);
  const [original, zeroShot, trained] = ['original', 'zeroShot', 'trained'].map((name) => averaged(systemsOf(name)));
  const baselines = outcomes[0].baselines.map(({ system: { name }, compared }) => ({
    name,
    compared,
    runs: outcomes.map((outcome) => outcome.baselines.find(({ system }) => system.name === name)!.system),
  }));
  const { curve: _curve, originalCurvePoint: _point, collapseAlarms: _alarms, seed: _seed, ...common } = reports[0];
  const unseen = reports.map(({ unseenDocuments: { queries: _, ...figures } }) => figures as TrainReport['metrics']);
  return {
    ...common,
    seeds,
    metrics: figuresOver(
      reports.map((report) => report.metrics),
      meanOf,
    ),
    deviations: figuresOver(
      reports.map((report) => report.metrics),
      deviationOf,
    ),
    perSeed: Object.fromEntries(
      metrics.map((metric) => [
        metric,
        Object.fromEntries(
          [...['original', 'zeroShot', 'trained'].map((name) => ({ name, runs: systemsOf(name) })), ...baselines].map(
            ({ name, runs }) => [name, runs.map(({ mean }) => finite(mean[metric]))],
          ),
        ),
      ]),
    ),
    unseenDocuments: { queries: reports[0].unseenDocuments.queries, ...figuresOver(unseen, meanOf) },
    unseenDeviations: figuresOver(unseen, deviationOf),
    baselines: Object.fromEntries(
      baselines.map(({ name, runs }) => [
        name,
        { ...baselineFigures(runs, metrics, meanOf), ...noteOf(name, reports) },
      ]),
    ),
    baselineDeviations: Object.fromEntries(
      baselines.map(({ name, runs }) => [name, baselineFigures(runs, metrics, deviationOf)]),
    ),
    baselineComparisons: compareSystems(
      baselines.filter(({ compared }) => compared).map(({ runs }) => [averaged(runs), trained] as const),
      parseMeasures(metrics.slice(0, 1)),
      { seed: seeds[0], resamples: BASELINE_RESAMPLES },
    ),
    notes: [...new Set(reports.flatMap(({ notes }) => notes))],
    comparisons: compareSystems(
      [
        [original, trained],
        [zeroShot, trained],
        [original, zeroShot],
      ],
      parseMeasures(metrics),
      { seed: seeds[0] },
    ),
    checkpoint: { ...reports[best].checkpoint, path: `${seedFolder(seeds[best])}/${reports[best].checkpoint.path}` },
    runs: reports.map((report, i) => ({
      seed: seeds[i],
      folder: seedFolder(seeds[i]),
      metrics: report.metrics,
      checkpoint: report.checkpoint,
      collapseAlarms: report.collapseAlarms,
    })),
    seconds: reports.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

/** The run whose chosen checkpoint has the best dev figure; the first where there is none. */
function bestRun(reports: readonly TrainReport[]): number {
  const dev = reports.map(({ curve, checkpoint }) => curve.find(({ step }) => step === checkpoint.step)?.dev ?? -1);
  return dev.indexOf(Math.max(...dev));
}

function baselineFigures(
  runs: readonly EvaluatedSystem[],
  metrics: readonly string[],
  combine: (values: readonly number[]) => number,
): Record<string, number | null> {
  return Object.fromEntries(metrics.map((metric) => [metric, finite(combine(runs.map(({ mean }) => mean[metric])))]));
}

/** What a baseline chose may differ from seed to seed. */
function noteOf(name: string, reports: readonly TrainReport[]): { note?: string } {
  const notes = [...new Set(reports.flatMap(({ baselines }) => baselines[name]?.note ?? []))];
  return notes.length === 0 ? {} : { note: notes.join('; ') };
}

/** JSON has no NaN: a mean over no queries is null. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** A system's per-query figures averaged over seeds. */
function averaged(runs: readonly EvaluatedSystem[]): EvaluatedSystem {
  const perQuery = Object.fromEntries(
    Object.entries(runs[0].perQuery).map(([metric, values]) => [
      metric,
      Object.fromEntries(
        Object.keys(values).map((query) => [query, meanOf(runs.map((run) => run.perQuery[metric][query]))]),
      ),
    ]),
  );
  const mean = Object.fromEntries(
    Object.keys(runs[0].mean).map((metric) => [metric, meanOf(runs.map((run) => run.mean[metric]))]),
  );
  return { name: runs[0].name, mean, perQuery };
}

function figuresOver(
  all: readonly TrainReport['metrics'][],
  combine: (values: readonly number[]) => number,
): Record<string, SystemFigures> {
  const over = (metric: string, system: keyof SystemFigures): number | null => {
    const values = all.map((figures) => figures[metric][system]);
    return values.some((value) => value === null) ? null : combine(values as number[]);
  };
  return Object.fromEntries(
    Object.keys(all[0]).map((metric) => [
      metric,
      { original: over(metric, 'original'), zeroShot: over(metric, 'zeroShot'), trained: over(metric, 'trained') },
    ]),
  );
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviationOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
