/** Tables 4 to 7 of BoundaryMORPH C.1: how diffuse the queries are, how much of it the pools hold, how long documents are. */
import { meanOf } from '../../../src/metrics/mod.ts';
import { ascending, quantile } from '../../kernels/quantile.ts';
import { markdownTable, percent } from '../markdown.ts';
import type { StudyGroup } from '../types.ts';
import { type Figure, titleOf } from './figure.ts';

export interface Percentiles {
  readonly min: number;
  readonly p25: number;
  readonly median: number;
  readonly p75: number;
  readonly max: number;
  readonly mean: number;
}

export interface Coverage {
  readonly queries: number;
  /** Judged relevant documents of a query. */
  readonly relevant: Percentiles;
  /** Share of a query's relevant documents that its pool holds: what any selector could find at most. */
  readonly coverage: Percentiles;
  /** The same over all relevant documents of all queries together. */
  readonly micro: number;
  /** White-space separated words of the documents in any pool. */
  readonly words: Percentiles;
}

export async function coverageFigure(group: StudyGroup): Promise<Figure<Coverage>> {
  const relevant: number[] = [];
  const found: number[] = [];
  const words = new Map<string, number>();
  for (const query of group.queries) {
    const at = await group.load(query);
    relevant.push(at.relevant);
    found.push(at.relevance.reduce((sum, value) => sum + value, 0));
    at.pool.ids.forEach((id, position) => {
      if (!words.has(id)) words.set(id, countWords(at.textAt(position)));
    });
  }
  const shares = found.map((count, i) => (relevant[i] === 0 ? 0 : count / relevant[i]));
  const total = relevant.reduce((sum, count) => sum + count, 0);
  const json: Coverage = {
    queries: group.queries.length,
    relevant: percentiles(relevant),
    coverage: percentiles(shares),
    micro: total === 0 ? 0 : found.reduce((sum, count) => sum + count, 0) / total,
    words: percentiles([...words.values()]),
  };
  const row = (name: string, p: Percentiles, show: (value: number) => string): string[] => [
    name,
    ...[p.min, p.p25, p.median, p.p75, p.max, p.mean].map(show),
  ];
  const whole = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));
  const table = markdownTable(
    [`${json.queries} queries`, 'min', '25 %', 'median', '75 %', 'max', 'mean'],
    [
      row('relevant documents', json.relevant, whole),
      row('of them in the pool, %', json.coverage, percent),
      row('words of a document', json.words, whole),
    ],
  );
  return {
    json,
    text: `### Coverage: ${titleOf(group)}\n\n${table}\n\nAll relevant documents together: ${percent(json.micro)} % are in the pools.`,
  };
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = ascending(values);
  const [min, p25, median, p75, max] = [0, 0.25, 0.5, 0.75, 1].map((share) => quantile(sorted, share));
  return { min, p25, median, p75, max, mean: values.length === 0 ? Number.NaN : meanOf(values) };
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
