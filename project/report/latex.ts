/** The tables of a report for a paper: booktabs, nothing but escaped text and numbers. */
import { latex } from './escape.ts';
import { figure, probability, signed } from './numbers.ts';
import type { ReportModel } from './types.ts';

export function latexReport(model: ReportModel): string {
  const { metrics, systems, baselines, differences, lengths } = model;
  const tables = [
    systems.length === 0
      ? ''
      : table(
          model.verdict.text,
          ['Test queries', ...metrics],
          [...systems, ...baselines].map(({ name, metrics: own }) => [
            name,
            ...metrics.map((metric) => figure(own[metric])),
          ]),
        ),
    differences.length === 0
      ? ''
      : table(
          'Paired differences over queries, bootstrap intervals, adjusted p (Benjamini and Hochberg).',
          ['Compared', 'Measure', 'Difference', 'Low', 'High', 'p'],
          differences.map((one) => [
            `${one.system} against ${one.baseline}`,
            one.metric,
            signed(one.delta),
            signed(one.interval[0]),
            signed(one.interval[1]),
            probability(one.adjustedP),
          ]),
        ),
    lengths === null
      ? ''
      : table(
          'Length in words.',
          ['Texts', 'Mean', 'Q1', 'Median', 'Q3'],
          lengths.systems.map(({ name, mean, quartiles }) => [
            name,
            ...[mean, ...quartiles].map((value) => value.toFixed(1)),
          ]),
        ),
  ];
  const comments = [
    'needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}',
    ...model.facts.map(([label, value]) => `${label}: ${value}`),
    ...model.notes,
    ...model.missing,
  ];
  return `${comments.map(comment).join('\n')}\n\n${tables.filter((one) => one !== '').join('\n\n')}\n`;
}

/** One line, whatever is in it. */
function comment(text: string): string {
  return `% ${text.replace(/[\s\p{Cc}]+/gu, ' ')}`;
}

function table(caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `${cells.map((cell) => latex(cell).replace(/\u2212/g, '$-$')).join(' & ')} \\\\`;
  return [
    '\\begin{table}',
    '\\centering',
    `\\begin{tabular}{l${'r'.repeat(heads.length - 1)}}`,
    '\\toprule',
    line(heads),
    '\\midrule',
    ...rows.map(line),
    '\\bottomrule',
    '\\end{tabular}',
    `\\caption{${latex(caption).replace(/\u2212/g, '$-$')}}`,
    '\\end{table}',
  ].join('\n');
}
