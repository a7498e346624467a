/**
 * Section 5.3 and E.1 of BoundaryMORPH: how many peaks of relevance a query has, and whether one selector's advantage over
 * another grows with the relevance that lies outside the tallest.
 */
import { type Correlation, meanOf, spearman } from '../../../src/metrics/mod.ts';
import { neighbourGraph } from '../../kernels/neighbour-graph.ts';
import { findPeaks, multimodalMass, type Peak } from '../../kernels/peaks.ts';
import { markdownTable } from '../markdown.ts';
import type { Cell } from '../measure.ts';
import type { StudyGroup, StudyQuery } from '../types.ts';
import { type Figure, type FigureSettings, titleOf } from './figure.ts';

/** E.1: documents of highest score, neighbours of each, and the least prominence of a peak. */
export const LANDSCAPE = { documents: 1000, neighbours: 10, tau: 0.2 } as const;

export interface Landscape {
  /** Pool positions, best score first; a failed call has none. */
  readonly positions: readonly number[];
  readonly heights: Float64Array;
  /** Members are places in `positions`. */
  readonly peaks: readonly Peak[];
  readonly mass: number;
}

export function landscapeOf({ scores, pool }: Pick<StudyQuery, 'scores' | 'pool'>): Landscape {
  const positions = Array.from(scores.keys())
    .filter((position) => !Number.isNaN(scores[position]))
    .sort((a, b) => scores[b] - scores[a] || a - b)
    .slice(0, LANDSCAPE.documents);
  const heights = Float64Array.from(positions, (position) => scores[position]);
  const peaks = findPeaks(heights, neighbourGraph(pool.embeddings, positions, LANDSCAPE.neighbours), LANDSCAPE.tau);
  return { positions, heights, peaks, mass: multimodalMass(heights, peaks) };
}

export interface QueryShape {
  readonly query: string;
  readonly peaks: number;
  /** Of the second peak; 0 where there is one peak only. */
  readonly secondProminence: number;
  readonly mass: number;
}

export interface AdvantageCorrelation extends Correlation {
  readonly a: string;
  readonly b: string;
  readonly budget: number;
  readonly capacity: number;
  readonly metric: string;
  /** Mean of a minus b. */
  readonly advantage: number;
}

export interface Multimodality {
  readonly queries: readonly QueryShape[];
  /** The first system against every other one. */
  readonly correlations: readonly AdvantageCorrelation[];
}

export async function multimodalityFigure(
  group: StudyGroup,
  { report, systems }: FigureSettings,
): Promise<Figure<Multimodality>> {
  const queries: QueryShape[] = [];
  for (const query of group.queries) {
    const { peaks, mass } = landscapeOf(await group.load(query));
    queries.push({ query: query.id, peaks: peaks.length, secondProminence: peaks[1]?.prominence ?? 0, mass });
  }
  const json = { queries, correlations: correlate(queries, report.cells, systems[0]?.name) };
  const several = queries.filter(({ peaks }) => peaks > 1).length;
  const text = [
    `### Peaks of relevance: ${titleOf(group)}`,
    `${several} of ${queries.length} queries have more than one peak; on average ${mean(queries.map((q) => q.peaks)).toFixed(1)} peaks, multimodal mass ${mean(queries.map((q) => q.mass)).toFixed(3)}.`,
    ...(json.correlations.length === 0
      ? []
      : [
          markdownTable(
            ['multimodal mass and the advantage', "Spearman's rho", 'p', 'n'],
            json.correlations.map(({ a, b, budget, metric, rho, p, n }) => [
              `${a} over ${b}, B ${budget}, ${metric}`,
              Number.isNaN(rho) ? '-' : rho.toFixed(2),
              Number.isNaN(p) ? '-' : p < 0.001 ? '< .001' : p.toFixed(3),
              String(n),
            ]),
          ),
        ]),
  ].join('\n\n');
  return { json, text };
}

function correlate(
  queries: readonly QueryShape[],
  cells: readonly Cell[],
  a: string | undefined,
): AdvantageCorrelation[] {
  return cells
    .filter(({ selector }) => selector !== a)
    .flatMap((other) => {
      const { budget, capacity, metric } = other;
      const own = cells.find((c) => c.selector === a && c.budget === budget && c.metric === metric);
      if (own === undefined) return [];
      const advantages = queries.map(({ query }) => own.perQuery[query] - other.perQuery[query]);
      const correlation = spearman(
        queries.map(({ mass }) => mass),
        advantages,
      );
      return [
        { a: own.selector, b: other.selector, budget, capacity, metric, advantage: mean(advantages), ...correlation },
      ];
    });
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : meanOf(values);
}
