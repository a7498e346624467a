/** The demo's figures: nDCG@5 of each system on the test queries, and how much better the trained policy is, paired. */
import type { Comparison } from '../src/metrics/mod.ts';

/** What the table reads of a training's report. */
export interface ReportFigures {
  readonly metrics: Readonly<Record<string, Readonly<Record<'original' | 'zeroShot' | 'trained', number | null>>>>;
  readonly comparisons: readonly Comparison[];
  readonly baselines: Readonly<Record<string, Readonly<Record<string, number | string | null>>>>;
  readonly baselineComparisons: readonly Comparison[];
}

export interface DemoRow {
  readonly system: string;
  readonly 'nDCG@5': number | null;
  /** Of trained minus this system: mean, 95 % bootstrap interval, p of the paired randomisation test. */
  readonly trainedMinusThis?: {
    readonly delta: number;
    readonly interval: readonly [number, number];
    readonly p: number;
  };
}

const METRIC = 'nDCG@5';

export function demoTable(report: ReportFigures): { rows: readonly DemoRow[]; text: string } {
  const figures = report.metrics[METRIC];
  const rows: DemoRow[] = [
    row('original', figures.original),
    row('zero-shot', figures.zeroShot, 'zeroShot'),
    row('all edits', numberOf(report.baselines.allEdits?.[METRIC]), 'allEdits'),
    row('best fixed subset', numberOf(report.baselines.bestFixedSubset?.[METRIC]), 'bestFixedSubset'),
    row('trained', figures.trained, 'trained'),
  ];
  return { rows, text: [HEADER, ...rows.map(line)].join('\n') };

  function row(system: string, value: number | null, name = system): DemoRow {
    const found = [...report.comparisons, ...report.baselineComparisons].find(
      (comparison) => comparison.baseline === name && comparison.system === 'trained' && comparison.metric === METRIC,
    );
    if (found === undefined) return { system, [METRIC]: value };
    const { delta, interval, p } = found;
    return { system, [METRIC]: value, trainedMinusThis: { delta, interval: [interval[0], interval[1]], p } };
  }
}

const HEADER = `  ${'system'.padEnd(20)}nDCG@5   trained is better by   95 % interval          p`;

function line({ system, [METRIC]: value, trainedMinusThis }: DemoRow): string {
  const head = `  ${system.padEnd(20)}${value === null ? '-'.padEnd(6) : value.toFixed(4)}`;
  if (trainedMinusThis === undefined) return head;
  const { delta, interval, p } = trainedMinusThis;
  const range = `[${signed(interval[0])}, ${signed(interval[1])}]`;
  return `${head}   ${signed(delta).padEnd(21)}  ${range.padEnd(21)}  ${p < 0.0001 ? '<.0001' : p.toFixed(4)}`;
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(4)}`;
}

function numberOf(value: number | string | null | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
