/** Learning curves from metrics.jsonl: what was earned at each step, and what a refresh measured. */
import type { Chart, Series } from './types.ts';

export type MetricsRow = { readonly step: number } & Readonly<Record<string, number>>;

interface CurvePoint {
  readonly step: number;
  readonly train: number;
  readonly dev: number | null;
}

/** What a report knows beyond the rows: the original texts' figures and those of step 0, which has no row. */
interface Known {
  readonly curve?: readonly CurvePoint[];
  readonly originalCurvePoint?: CurvePoint;
}

const MEASURED = /^eval\/(train|dev)\/(.+)$/;

export function curves(rows: readonly MetricsRow[], known: Known = {}): Chart[] {
  const steps = known.curve?.length ? fromCurve(known, rows) : fromRows(rows);
  const line = (name: string, key: string, style: Series['style']): Series => ({
    name,
    style,
    points: rows.filter((row) => Number.isFinite(row[key])).map((row) => [row.step, row[key]] as const),
  });
  const charts: Chart[] = [
    { title: `${measureName(rows)} at each rewrite of the collection`, xLabel: 'step', series: steps },
    {
      title: 'Reward of sampled rewrites',
      xLabel: 'step',
      series: [line('mean', 'reward', 's3'), line('deviation', 'reward_std', 's1')],
    },
    { title: 'Distance from the first policy (KL)', xLabel: 'step', series: [line('KL', 'kl', 's2')] },
    { title: 'Entropy', xLabel: 'step', series: [line('entropy', 'entropy', 's4')] },
  ];
  return charts
    .map((chart) => ({ ...chart, series: chart.series.filter(({ points }) => points.length > 0) }))
    .filter(({ series }) => series.length > 0);
}

function fromCurve({ curve = [], originalCurvePoint: original }: Known, rows: readonly MetricsRow[]): Series[] {
  const last = Math.max(rows.at(-1)?.step ?? 0, curve.at(-1)?.step ?? 0);
  const flat = (name: string, style: Series['style'], value: number | null | undefined): Series => ({
    name,
    style,
    points:
      value === null || value === undefined
        ? []
        : [
            [0, value],
            [last, value],
          ],
  });
  const dev = curve.flatMap((point) => (point.dev === null ? [] : [[point.step, point.dev] as const]));
  return [
    { name: 'train', style: 's3', marked: true, points: curve.map((point) => [point.step, point.train] as const) },
    { name: 'dev', style: 's4', marked: true, points: dev },
    flat('train, original texts', 's1', original?.train),
    flat('dev, original texts', 's2', original?.dev),
  ];
}

function fromRows(rows: readonly MetricsRow[]): Series[] {
  return (['train', 'dev'] as const).map((side) => ({
    name: side,
    style: side === 'train' ? 's3' : 's4',
    marked: true,
    points: rows.flatMap((row) =>
      Object.entries(row)
        .filter(([key]) => MEASURED.exec(key)?.[1] === side)
        .map(([, value]) => [row.step, value] as const),
    ),
  }));
}

function measureName(rows: readonly MetricsRow[]): string {
  for (const row of rows) for (const key of Object.keys(row)) if (MEASURED.test(key)) return MEASURED.exec(key)![2];
  return 'nDCG';
}
