/** Figure 7 of BoundaryMORPH (D.2, D.3): the lift over single-stage for every retriever and reranker. */
import { markdownTable, points } from '../markdown.ts';
import type { GroupReport } from '../measure.ts';
import type { Figure } from './figure.ts';

export interface Lift {
  readonly collection: string;
  readonly retriever: string;
  readonly reranker: string;
  readonly selector: string;
  readonly budget: number;
  readonly metric: string;
  /** Mean minus single-stage's. */
  readonly lift: number;
}

const FLOOR = 'single-stage';

/** Empty without `single-stage` among the selectors. */
export function robustnessFigure(reports: readonly GroupReport[]): Figure<Lift[]> {
  const json = reports.flatMap(({ cells }) =>
    cells.flatMap(({ collection, retriever, reranker, selector, budget, metric, mean }): Lift[] => {
      const floor = cells.find((c) => c.selector === FLOOR && c.budget === budget && c.metric === metric);
      if (floor === undefined || selector === FLOOR) return [];
      return [{ collection, retriever, reranker, selector, budget, metric, lift: mean - floor.mean }];
    }),
  );
  const columns = [...new Set(json.map(({ budget, metric }) => `B ${budget}, ${metric}`))];
  const rows = [...new Set(json.map((l) => JSON.stringify([l.collection, l.retriever, l.reranker, l.selector])))];
  const table = markdownTable(
    [`lift over ${FLOOR}, pp`, ...columns],
    rows.map((key) => {
      const own = json.filter((l) => JSON.stringify([l.collection, l.retriever, l.reranker, l.selector]) === key);
      const [collection, retriever, reranker, selector] = JSON.parse(key) as string[];
      return [
        `${collection}, ${retriever}, ${reranker}: ${selector}`,
        ...columns.map((column) => {
          const found = own.find(({ budget, metric }) => `B ${budget}, ${metric}` === column);
          return found === undefined ? '' : points(found.lift);
        }),
      ];
    }),
  );
  return { json, text: `### Across retrievers and rerankers\n\n${table}` };
}
