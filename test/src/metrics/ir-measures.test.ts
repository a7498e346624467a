import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../src/metrics/evaluate.ts';
import type { Ties } from '../../../src/metrics/order.ts';
import { parseMeasure } from '../../../src/metrics/parse-measure.ts';

const folder = new URL('../../golden/ir_measures/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');
const rows = (file: string) =>
  read(file)
    .trim()
    .split('\n')
    .map((line) => line.split(' '));

const qrels = new Map<string, Map<string, number>>();
for (const [query, , document, grade] of rows('qrels.txt')) {
  qrels.set(query, (qrels.get(query) ?? new Map()).set(document, Number(grade)));
}
const lists = new Map<string, [string, number][]>();
for (const [query, , document, , score] of rows('run.txt')) {
  lists.set(query, [...(lists.get(query) ?? []), [document, Number(score)]]);
}
const run = new Map(
  [...lists].map(([query, list]) => [
    query,
    { ids: list.map(([id]) => id), scores: Float64Array.from(list, ([, score]) => score) },
  ]),
);
const expected = JSON.parse(read('expected.json')) as Record<
  string,
  { ties: Ties; mean: number; perQuery: Record<string, number> }
>;

describe('ir_measures golden values', () => {
  it.each(Object.entries(expected))('%s', (name, { ties, mean, perQuery }) => {
    const measure = parseMeasure(name);
    const ours = evaluate(run, qrels, [measure], { ties });
    expect(ours.mean[measure.name]).toBeCloseTo(mean, 12);
    expect(Object.keys(ours.perQuery[measure.name]).sort()).toEqual(Object.keys(perQuery));
    for (const [query, value] of Object.entries(perQuery)) {
      expect(ours.perQuery[measure.name][query], query).toBeCloseTo(value, 12);
    }
  });
});
