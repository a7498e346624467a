/** An evaluation for people: one row per system, then one row per comparison with the baseline. */
import type { Agreement, Comparison } from '../src/metrics/mod.ts';
import type { EvaluationReport } from './evaluate.ts';

export function evaluationTable(report: EvaluationReport): string {
  const { metrics, systems, comparisons } = report;
  const means = [
    ['system', ...metrics],
    ...systems.map(({ name, mean }) => [name, ...metrics.map((metric) => figure(mean[metric]))]),
  ];
  const lines = [`split ${report.split}: ${report.queries} queries`, '', ...columns(means)];
  if (comparisons.length > 0) {
    const { baseline, level, test, resamples, seed } = comparisons[0];
    const rows = [
      ['system', 'metric', 'change', `${round(level * 100)} % interval`, 'p', 'adjusted p', 'better', 'worse', 'same'],
      ...comparisons.map(comparisonRow),
    ];
    const tested = comparisons.every(({ exact }) => exact) ? 'exact' : `${resamples} resamples, seed ${seed}`;
    lines.push('', `against ${baseline} (${test} test, ${tested})`, '', ...columns(rows, 2));
  }
  return `${lines.join('\n')}\n`;
}

/** One row per system beside the first one, a column per measure. */
export function agreementTable(agreement: readonly Agreement[]): string {
  const measures = [...new Set(agreement.map(({ measure }) => measure))];
  const others = [...new Set(agreement.map(({ b }) => b))];
  const rows = others.map((other) => {
    const own = agreement.filter(({ b }) => b === other);
    return [other, ...own.map(({ mean }) => figure(mean)), String(own[0].queries)];
  });
  const head = ['system', ...measures, 'queries'];
  return `agreement with ${agreement[0].a} (1 = the same ranking)\n\n${columns([head, ...rows]).join('\n')}\n`;
}

function comparisonRow(c: Comparison): string[] {
  const interval = `[${signed(c.interval[0])}, ${signed(c.interval[1])}]`;
  const counts = [c.wins, c.losses, c.ties].map(String);
  return [c.system, c.metric, signed(c.delta), interval, probability(c.p), probability(c.adjustedP), ...counts];
}

/** Four decimals; counts (NumQ, NumRel, NumRet) as they are. */
function figure(value: number): string {
  return Number.isInteger(value) && value > 1 ? String(value) : value.toFixed(4);
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(4)}`;
}

function probability(p: number): string {
  return p < 0.0001 ? '<.0001' : p.toFixed(4);
}

function round(value: number): number {
  return Number(value.toFixed(4));
}

/** Rows of cells as aligned lines; the first `left` columns to the left, figures to the right. */
function columns(rows: readonly (readonly string[])[], left = 1): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const align = (cell: string, column: number) =>
    column < left ? cell.padEnd(widths[column]) : cell.padStart(widths[column]);
  return rows.map((row) => row.map(align).join('  ').trimEnd());
}
