/** Table 3 of BoundaryMORPH, and what the observation noise does: the settings that a process has, turned one by one. */
import { meanOf } from '../../../src/metrics/mod.ts';
import { type KernelEffect, kernelEffects, kernelTable } from '../kernel-table.ts';
import { markdownTable, percent } from '../markdown.ts';
import type { Cell } from '../measure.ts';
import type { Figure } from './figure.ts';

/** What has to run: the kernels on the paper's two processes, the noise on the one that doubts its scores. */
export const KERNEL_SYSTEMS: readonly string[] = ['boundary-morph', 'bagel'].flatMap((name) => [
  name,
  `${name}:kernel=rbf`,
  `${name}:kernel=matern52`,
]);
export const NOISES = [0.01, 0.03, 0.1, 0.3, 1, 3] as const;
export const noiseSystems = (lexical: boolean): readonly string[] =>
  (lexical ? ['morph-hybrid', 'dense-log'] : ['dense-log']).flatMap((name) =>
    NOISES.map((noise) => `${name}:noise=${noise}`),
  );

export interface NoiseRow {
  readonly collection: string;
  readonly selector: string;
  /** Multiple of s^2. */
  readonly noise: number;
  readonly metric: string;
  /** Mean over queries, budgets and pairs of models. */
  readonly mean: number;
}

export interface Kernels {
  readonly effects: readonly KernelEffect[];
  readonly noise: readonly NoiseRow[];
}

export function kernelFigure(cells: readonly Cell[]): Figure<Kernels> {
  const noise = noiseRows(cells);
  const metrics = [...new Set(noise.map(({ metric }) => metric))];
  const rows = [...new Set(noise.map((row) => JSON.stringify([row.collection, row.selector, row.noise])))];
  const table = markdownTable(
    ['', ...metrics],
    rows.map((key) => {
      const [collection, selector, level] = JSON.parse(key) as [string, string, number];
      const own = noise.filter((r) => r.collection === collection && r.selector === selector && r.noise === level);
      return [
        `${collection}: ${selector}, noise ${level}`,
        ...metrics.map((metric) => percent(own.find((r) => r.metric === metric)!.mean)),
      ];
    }),
  );
  const parts = [
    kernelTable(cells),
    '### Noise of an observation',
    'Means over budgets and pairs of models, %.',
    table,
  ];
  return {
    json: { effects: kernelEffects(cells), noise },
    text: parts.filter((part) => part !== undefined).join('\n\n'),
  };
}

function noiseRows(cells: readonly Cell[]): NoiseRow[] {
  const groups = new Map<string, { row: Omit<NoiseRow, 'mean'>; means: number[] }>();
  for (const { collection, selector, metric, mean } of cells) {
    const match = /^([^:]+):noise=([\d.]+)$/.exec(selector);
    if (match === null) continue;
    const row = { collection, selector: match[1], noise: Number(match[2]), metric };
    const key = JSON.stringify(row);
    const group = groups.get(key) ?? { row, means: [] };
    groups.set(key, group);
    group.means.push(mean);
  }
  return [...groups.values()].map(({ row, means }) => ({ ...row, mean: meanOf(means) }));
}
