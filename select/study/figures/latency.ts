/** Table 9 and Figure 8 of BoundaryMORPH: what a query costs in time, by component, and which choices are worth their time. */
import { markdownTable, percent } from '../markdown.ts';
import type { GroupReport } from '../measure.ts';
import { type Figure, titleOf } from './figure.ts';

export interface LatencyRow {
  readonly selector: string;
  readonly budget: number;
  readonly capacity: number;
  /** Median milliseconds of everything but the reranker. */
  readonly algorithmMs: number;
  /** Calls times the median call; null for rerankers that only look their scores up. */
  readonly rerankerMs: number | null;
  readonly totalMs: number | null;
}

/** One call after the other, as a selector that learns from every score needs them. */
export function latencyFigure(report: GroupReport): Figure<LatencyRow[]> {
  const json = latencyRows(report);
  const table = markdownTable(
    ['', 'algorithm, ms', 'reranker, ms', 'total, ms', 'reranker, %'],
    json.map(({ selector, budget, capacity, algorithmMs, rerankerMs, totalMs }) => [
      `${selector}, B ${budget}, k ${capacity}`,
      shown(algorithmMs),
      shown(rerankerMs),
      shown(totalMs),
      totalMs === null || totalMs === 0 ? '-' : percent(rerankerMs! / totalMs),
    ]),
  );
  const note =
    report.callMs === null
      ? 'The scores of this reranker are looked up, so its time is not told.'
      : `A reranker call takes ${shown(report.callMs)} ms (median).`;
  return { json, text: `### Time: ${titleOf(report)}\n\n${note}\n\n${table}` };
}

function latencyRows({ cells, callMs }: GroupReport): LatencyRow[] {
  return cells
    .filter(({ metric }) => metric.startsWith('nCG@'))
    .map(({ selector, budget, capacity, calls, selectorMs }) => {
      const rerankerMs = callMs === null ? null : callMs * calls;
      const totalMs = rerankerMs === null ? null : selectorMs + rerankerMs;
      return { selector, budget, capacity, algorithmMs: selectorMs, rerankerMs, totalMs };
    });
}

export interface FrontierPoint {
  readonly selector: string;
  readonly budget: number;
  readonly capacity: number;
  /** Milliseconds; where the reranker's are not known, its calls. */
  readonly cost: number;
  readonly nCG: number;
  /** No other point of this k is at least as good for at most the cost, and better in one of them. */
  readonly efficient: boolean;
}

export function frontierFigure(report: GroupReport): Figure<FrontierPoint[]> {
  const rows = latencyRows(report);
  const points = rows.map((row) => {
    const cell = report.cells.find(
      (c) => c.selector === row.selector && c.budget === row.budget && c.metric === `nCG@${row.capacity}`,
    )!;
    return {
      selector: row.selector,
      budget: row.budget,
      capacity: row.capacity,
      cost: row.totalMs ?? cell.calls,
      nCG: cell.mean,
    };
  });
  const json = points.map((point) => ({ ...point, efficient: !points.some((other) => dominates(other, point)) }));
  const unit = report.callMs === null ? 'calls' : 'ms';
  const efficient = json.filter((point) => point.efficient).sort((a, b) => a.capacity - b.capacity || a.cost - b.cost);
  const table = markdownTable(
    ['', `cost, ${unit}`, 'nCG@k, %'],
    efficient.map(({ selector, budget, capacity, cost, nCG }) => [
      `k ${capacity}: ${selector}, B ${budget}`,
      shown(cost),
      percent(nCG),
    ]),
  );
  return {
    json,
    text: `### Cost and quality: ${titleOf(report)}\n\nThe choices that no other beats on both.\n\n${table}`,
  };
}

type Point = Omit<FrontierPoint, 'efficient'>;

function dominates(a: Point, b: Point): boolean {
  return a.capacity === b.capacity && a.cost <= b.cost && a.nCG >= b.nCG && (a.cost < b.cost || a.nCG > b.nCG);
}

function shown(value: number | null): string {
  return value === null ? '-' : value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
