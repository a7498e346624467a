/** Table 3 of BoundaryMORPH: what another covariance kernel changes, for every selector that ran with several. */
import { benjaminiHochberg, meanOf, wilcoxon } from '../../src/metrics/mod.ts';
import { markdownTable, points } from './markdown.ts';
import type { Cell } from './measure.ts';

export interface KernelEffect {
  readonly collection: string;
  readonly selector: string;
  readonly kernel: string;
  readonly metric: string;
  /** Queries. */
  readonly n: number;
  /** Mean over queries, retrievers, rerankers and budgets of kernel minus vMF. */
  readonly delta: number;
  readonly p: number;
  readonly adjustedP: number;
}

const VARIANT = /^([^:]+):kernel=(rbf|matern52)$/;

/** Each query's figures are averaged over budgets (and pairs of models) first, so that every query stands once. */
export function kernelEffects(cells: readonly Cell[]): KernelEffect[] {
  const variants = [...new Set(cells.map(({ selector }) => selector))].flatMap((name) => {
    const match = VARIANT.exec(name);
    return match === null ? [] : [{ name, base: match[1], kernel: match[2] }];
  });
  const collections = [...new Set(cells.map(({ collection }) => collection))];
  const metrics = [...new Set(cells.map(({ metric }) => metric))];
  const found = collections.flatMap((collection) =>
    variants.flatMap(({ name, base, kernel }) =>
      metrics.flatMap((metric) => {
        const own = cells.filter((cell) => cell.collection === collection && cell.metric === metric);
        const [before, after] = [base, name].map((selector) => byQuery(own.filter((c) => c.selector === selector)));
        if (before.size === 0) return [];
        const differences = [...before].map(([id, value]) => after.get(id)! - value);
        const facts = { collection, selector: base, kernel, metric, n: differences.length };
        return [{ ...facts, delta: meanOf(differences), p: wilcoxon(differences).p }];
      }),
    ),
  );
  const adjusted = benjaminiHochberg(found.map(({ p }) => p));
  return found.map((effect, i) => ({ ...effect, adjustedP: adjusted[i] }));
}

function byQuery(cells: readonly Cell[]): Map<string, number> {
  const values = new Map<string, number[]>();
  for (const { perQuery } of cells) {
    for (const [id, value] of Object.entries(perQuery)) values.set(id, [...(values.get(id) ?? []), value]);
  }
  return new Map([...values].map(([id, list]) => [id, meanOf(list)]));
}

export function kernelTable(cells: readonly Cell[]): string | undefined {
  const effects = kernelEffects(cells);
  if (effects.length === 0) return undefined;
  const metrics = [...new Set(effects.map(({ metric }) => metric))];
  const rows = [...new Set(effects.map((e) => JSON.stringify([e.collection, e.selector, e.kernel])))].map((key) => {
    const own = effects.filter((e) => JSON.stringify([e.collection, e.selector, e.kernel]) === key);
    const [collection, selector, kernel] = JSON.parse(key) as string[];
    const shown = metrics.map((metric) => {
      const effect = own.find((e) => e.metric === metric);
      return effect === undefined ? '' : `${points(effect.delta)}${effect.adjustedP < 0.05 ? '†' : ''}`;
    });
    return [`${collection}: ${selector}, ${kernel}`, ...shown];
  });
  return [
    '## Kernels',
    'Change against the vMF kernel in percentage points, each query averaged over budgets first. † adjusted p < .05.',
    markdownTable(['', ...metrics], rows),
  ].join('\n\n');
}
