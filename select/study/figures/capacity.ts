/**
 * Figure 3a of BoundaryMORPH: a selector is told k_opt and judged at k_eval. If it really works for the k it was told, each
 * column is best on the diagonal. Selectors that do not look at k have nothing to show here.
 */
import { createGainScale } from '../../kernels/set-gain.ts';
import { markdownTable, percent } from '../markdown.ts';
import { play } from '../play.ts';
import type { StudyGroup } from '../types.ts';
import { chosenSelector, type Figure, type FigureSettings, titleOf } from './figure.ts';

export interface CapacityRow {
  readonly selector: string;
  readonly budget: number;
  readonly optimised: number;
  readonly evaluated: number;
  /** Means over queries. */
  readonly nCG: number;
  readonly ceNCG: number;
}

export async function capacityFigure(group: StudyGroup, settings: FigureSettings): Promise<Figure<CapacityRow[]>> {
  const { budgets, capacities, signal } = settings;
  const systems = settings.systems.filter(({ ignoresCapacity }) => !ignoresCapacity);
  const sums = new Map<
    string,
    { selector: string; budget: number; optimised: number; evaluated: number; nCG: number; ceNCG: number }
  >();
  for (const query of group.queries) {
    const at = await group.load(query);
    const [judged, scored] = [createGainScale(at.relevance), createGainScale(at.scores)];
    for (const system of systems) {
      for (const budget of budgets) {
        for (const optimised of capacities) {
          const { order } = await play(at, chosenSelector(system, budget, settings), budget, optimised, signal);
          for (const evaluated of capacities) {
            const key = JSON.stringify([system.name, budget, optimised, evaluated]);
            const sum = sums.get(key) ?? { selector: system.name, budget, optimised, evaluated, nCG: 0, ceNCG: 0 };
            sum.nCG += judged.at(order, evaluated) / group.queries.length;
            sum.ceNCG += scored.at(order, evaluated) / group.queries.length;
            sums.set(key, sum);
          }
        }
      }
    }
  }
  const json = [...sums.values()];
  const tables = systems.flatMap(({ name }) => budgets.map((budget) => matrix(json, name, budget, capacities)));
  return {
    json,
    text: [`### Told k and judged at k: ${titleOf(group)}`, 'CE-nCG, %. Bold: the best of a column.', ...tables].join(
      '\n\n',
    ),
  };
}

function matrix(rows: readonly CapacityRow[], selector: string, budget: number, capacities: readonly number[]): string {
  const own = rows.filter((row) => row.selector === selector && row.budget === budget);
  const at = (optimised: number, evaluated: number): number =>
    own.find((row) => row.optimised === optimised && row.evaluated === evaluated)!.ceNCG;
  const best = capacities.map((evaluated) => Math.max(...capacities.map((optimised) => at(optimised, evaluated))));
  return markdownTable(
    [`${selector}, B ${budget}`, ...capacities.map((k) => `judged at ${k}`)],
    capacities.map((optimised) => [
      `told ${optimised}`,
      ...capacities.map((evaluated, i) => {
        const value = at(optimised, evaluated);
        return value === best[i] ? `**${percent(value)}**` : percent(value);
      }),
    ]),
  );
}
