/** What people read at the end of a training. */
import type { Comparison } from '../../src/metrics/mod.ts';
import type { TrainReport } from '../report.ts';
import type { SeedsReport } from '../train-seeds.ts';

export function reportText(report: TrainReport | SeedsReport, folder: string): string {
  const deviations = 'deviations' in report ? report.deviations : undefined;
  const header = ['measure', 'original', 'zero-shot', 'trained', 'gain over original'];
  const rows = Object.entries(report.metrics).map(([metric, figures]) => {
    const cell = (system: 'original' | 'zeroShot' | 'trained'): string => {
      const spread = deviations?.[metric][system];
      return `${decimals(figures[system])}${spread ? ` ±${spread.toFixed(4)}` : ''}`;
    };
    const gain = report.comparisons.find(
      (row) => row.baseline === 'original' && row.system === 'trained' && row.metric === metric,
    );
    return [metric, cell('original'), cell('zeroShot'), cell('trained'), gain === undefined ? '' : gainText(gain)];
  });
  const baselines = Object.entries(report.baselines).map(([name, figures]) => [
    name,
    ...Object.keys(report.metrics).map((metric) => {
      const spread = 'baselineDeviations' in report ? report.baselineDeviations[name]?.[metric] : undefined;
      return `${decimals(figures[metric] as number | null)}${spread ? ` ±${spread.toFixed(4)}` : ''}`;
    }),
    String(figures.note ?? ''),
  ]);
  const { splits, checkpoint } = report;
  const unseen = report.unseenDocuments.queries;
  return [
    `${splits.test} test queries (${unseen} over documents without a training query), ${splits.train} train, ${splits.dev} dev`,
    '',
    ...table([header, ...rows]),
    ...(baselines.length === 0
      ? []
      : [
          '',
          'beside it, on the same test queries:',
          ...table([['', ...Object.keys(report.metrics), ''], ...baselines]),
        ]),
    '',
    ...report.notes.map((note) => `note: ${note}`),
    ...(report.truncatedPrompts
      ? [`note: ${report.truncatedPrompts} documents are longer than the policy reads; it saw their beginning`]
      : []),
    `policy after step ${checkpoint.step} (${checkpoint.chosenBy}): ${folder}/${checkpoint.path}`,
    `next: docopt rewrite-corpus --policy ${folder}`,
  ].join('\n');
}

function gainText({ delta, interval, level, p, wins, losses }: Comparison): string {
  const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(4)}`;
  return `${signed(delta)} [${signed(interval[0])}, ${signed(interval[1])}] at ${level * 100} %, p ${p.toPrecision(2)}, ${wins} up ${losses} down`;
}

function decimals(value: number | null): string {
  return value === null ? '-' : value.toFixed(4);
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}
