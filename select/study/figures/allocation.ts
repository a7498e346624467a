/**
 * Figure 3b of BoundaryMORPH: of the score that the k documents chosen carry, how much lies in documents that were scored
 * and how much in documents that were only estimated. A selector that scores what it returns anyway buys little.
 */
import { createGainScale } from '../../kernels/set-gain.ts';
import { markdownTable, percent } from '../markdown.ts';
import { play } from '../play.ts';
import type { StudyGroup } from '../types.ts';
import { chosenSelector, type Figure, type FigureSettings, titleOf } from './figure.ts';

export interface AllocationRow {
  readonly selector: string;
  readonly budget: number;
  readonly capacity: number;
  /** Parts of CE-nCG@k, means over queries; they add up to it. */
  readonly fromScored: number;
  readonly fromEstimated: number;
  /** Scored documents among the k, mean. */
  readonly scoredInSet: number;
  /** Calls that were answered, mean. */
  readonly calls: number;
}

export async function allocationFigure(group: StudyGroup, settings: FigureSettings): Promise<Figure<AllocationRow[]>> {
  const { systems, budgets, capacities, signal } = settings;
  const share = 1 / group.queries.length;
  const json: { -readonly [K in keyof AllocationRow]: AllocationRow[K] }[] = systems.flatMap(({ name }) =>
    budgets.flatMap((budget) =>
      capacities.map((capacity) => ({
        ...{ selector: name, budget, capacity },
        ...{ fromScored: 0, fromEstimated: 0, scoredInSet: 0, calls: 0 },
      })),
    ),
  );
  for (const query of group.queries) {
    const at = await group.load(query);
    const scale = createGainScale(at.scores);
    for (const row of json) {
      const system = systems.find(({ name }) => name === row.selector)!;
      const selector = chosenSelector(system, row.budget, settings);
      const { order, scored } = await play(at, selector, row.budget, row.capacity, signal);
      const most = scale.ideal(row.capacity);
      for (const position of order.subarray(0, row.capacity)) {
        const gain = at.scores[position] > 0 && most > 0 ? (share * at.scores[position]) / most : 0;
        if (scored[position] === 1) {
          row.fromScored += gain;
          row.scoredInSet += share;
        } else row.fromEstimated += gain;
      }
      for (const one of scored) row.calls += share * one;
    }
  }
  const table = markdownTable(
    ['', 'CE-nCG@k, %', 'from scored', 'from estimated', 'scored among the k', 'calls'],
    json.map((row) => [
      `${row.selector}, B ${row.budget}, k ${row.capacity}`,
      percent(row.fromScored + row.fromEstimated),
      percent(row.fromScored),
      percent(row.fromEstimated),
      row.scoredInSet.toFixed(1),
      row.calls.toFixed(1),
    ]),
  );
  return { json, text: `### Where the calls went: ${titleOf(group)}\n\n${table}` };
}
