/**
 * The tables of BoundaryMORPH on one's own data: selectors side by side at equal budgets, on the same pools and the same
 * reranker scores, so that every difference is one of where the calls went.
 */
import { DocOptError } from '../src/errors.ts';
import { benjaminiHochberg, bootstrapInterval, meanOf, type Tally, tally, wilcoxon } from '../src/metrics/mod.ts';
import type { Cell, GroupReport } from './study/measure.ts';

/** One pair of selectors in one cell. A positive delta = `a` is better. */
export interface CompareTest extends Tally {
  readonly a: string;
  readonly b: string;
  readonly collection: string;
  readonly retriever: string;
  readonly reranker: string;
  readonly budget: number;
  readonly capacity: number;
  readonly metric: string;
  /** Queries. */
  readonly n: number;
  /** Mean over queries of a minus b. */
  readonly delta: number;
  /** 95 % percentile bootstrap. */
  readonly interval: readonly [number, number];
  /** Wilcoxon's signed-rank test, two-sided. */
  readonly p: number;
  /** Benjamini-Hochberg over all tests of the report. */
  readonly adjustedP: number;
}

export interface CompareReport {
  /** The selector that all others are tested against. */
  readonly focus: string;
  readonly groups: readonly Omit<GroupReport, 'cells'>[];
  readonly cells: readonly Cell[];
  readonly tests: readonly CompareTest[];
}

export interface CompareReportSettings {
  /** Default: the first selector. */
  readonly focus?: string;
  readonly seed: number;
  readonly resamples?: number;
}

/** Errors: USAGE when the focus is not among the selectors. */
export function compareReport(groups: readonly GroupReport[], settings: CompareReportSettings): CompareReport {
  const cells = groups.flatMap((group) => group.cells);
  const selectors = [...new Set(cells.map(({ selector }) => selector))];
  const focus = settings.focus ?? selectors[0];
  if (cells.length > 0 && !selectors.includes(focus)) {
    throw new DocOptError('USAGE', `--focus ${focus} is not among the selectors`, {
      hint: `One of: ${selectors.join(', ')}.`,
    });
  }
  return {
    focus,
    groups: groups.map(({ cells: _, ...facts }) => facts),
    cells,
    tests: testAll(cells, focus, settings),
  };
}

function testAll(cells: readonly Cell[], focus: string, settings: CompareReportSettings): CompareTest[] {
  const placeOf = (cell: Cell): string =>
    JSON.stringify([cell.collection, cell.retriever, cell.reranker, cell.budget, cell.capacity, cell.metric]);
  const own = new Map(cells.filter(({ selector }) => selector === focus).map((cell) => [placeOf(cell), cell]));
  const pairs = cells.flatMap((other) => {
    const mine = own.get(placeOf(other));
    if (mine === undefined || other === mine) return [];
    const differences = Float64Array.from(Object.entries(mine.perQuery), ([id, value]) => value - other.perQuery[id]);
    return [{ mine, other, differences, p: wilcoxon(differences).p }];
  });
  const adjusted = benjaminiHochberg(pairs.map(({ p }) => p));
  return pairs.map(({ mine, other, differences, p }, i) => {
    const { collection, retriever, reranker, budget, capacity, metric } = mine;
    return {
      ...{ a: mine.selector, b: other.selector, collection, retriever, reranker, budget, capacity, metric },
      n: differences.length,
      delta: meanOf(differences),
      interval: bootstrapInterval(differences, {
        resamples: settings.resamples ?? 2000,
        seed: settings.seed,
        level: 0.95,
      }),
      p,
      adjustedP: adjusted[i],
      ...tally(differences),
    };
  });
}
