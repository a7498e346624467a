import { describe, expect, it } from 'vitest';
import {
  expandCells,
  type PaperTable,
  paperTableSchema,
  tableRetrievers,
} from '../../../project/reproduce/paper-table.ts';
import { type FinishedCell, reproducedTable, tableMarkdown } from '../../../project/reproduce/table.ts';
import type { TrainReport } from '../../../train/mod.ts';

const table = (layout: PaperTable['layout'], cells = ['a']): PaperTable =>
  paperTableSchema.parse({
    name: 't',
    table: 'Table T',
    summary: 'a|b',
    layout,
    measure: 'nDCG@5',
    retrievers: ['bm25', 'lsa'],
    cells: cells.map((id) => ({ id, label: id.toUpperCase(), settings: {} })),
  });

/** Figures that tell where they come from: data, retriever, row. */
function finished(of: PaperTable, data: readonly string[], unseen = 5): FinishedCell[] {
  return expandCells(of, data, tableRetrievers(of)).map((cell) => {
    const base = cell.data / 10 + cell.column / 100 + of.cells.findIndex(({ id }) => id === cell.row) / 1000;
    const report = {
      metrics: { 'nDCG@5': { original: base, zeroShot: cell.data / 10 + 0.5, trained: base + 0.2 } },
      unseenDocuments: { queries: unseen, 'nDCG@5': { original: 0.5, zeroShot: 0.5, trained: 0.1 } },
      splits: { test: 20 },
    } as unknown as TrainReport;
    return { cell, report, transferred: [base, base + 0.3] };
  });
}
const names = (data: readonly string[]) => ({ data, retrievers: ['bm25', 'lsa'], seeds: [1] });

describe('reproducedTable', () => {
  it('systems: three rows per retriever, a column per collection and their mean', () => {
    const of = table('systems');
    const { columns, rows } = reproducedTable(of, finished(of, ['x', 'y']), names(['x', 'y']));
    expect(columns).toEqual(['x', 'y', 'Mean']);
    expect(rows.map(({ group, label }) => `${group} ${label}`)).toEqual([
      'bm25 Direct retrieval',
      'bm25 Zero-shot transformation',
      'bm25 DocOpt',
      'lsa Direct retrieval',
      'lsa Zero-shot transformation',
      'lsa DocOpt',
    ]);
    expect(rows[5].values).toEqual([expect.closeTo(0.21), expect.closeTo(0.31), expect.closeTo(0.26)]);
  });

  it('settings: zero-shot once, then a row per setting; one collection has no mean', () => {
    const of = table('settings', ['a', 'b']);
    const { columns, rows } = reproducedTable(of, finished(of, ['x']), names(['x']));
    expect(columns).toEqual(['x']);
    expect(rows.slice(0, 3).map(({ label, values }) => [label, values[0]])).toEqual([
      ['Zero-shot transformation', 0.5],
      ['A', expect.closeTo(0.2)],
      ['B', expect.closeTo(0.201)],
    ]);
  });

  it('transfer: a row per training retriever, a column per searching one', () => {
    const of = table('transfer');
    const { columns, rows } = reproducedTable(of, finished(of, ['x']), names(['x']));
    expect(columns).toEqual(['bm25', 'lsa']);
    expect(rows.map(({ label, values }) => [label, ...values])).toEqual([
      ['No training (baseline)', 0.5, 0.5],
      ['bm25-trained', 0, 0.3],
      ['lsa-trained', expect.closeTo(0.01), expect.closeTo(0.31)],
    ]);
  });

  it('supervision: the parts weigh to the whole; an empty part has no figure', () => {
    const of = table('supervision');
    const [all, without, rest] = reproducedTable(of, finished(of, ['x']), names(['x'])).rows.map(
      ({ values }) => values,
    );
    expect([all[0], without[0], rest[0]]).toEqual([20, 5, 15]);
    for (const i of [1, 2, 3]) expect((5 * without[i]! + 15 * rest[i]!) / 20).toBeCloseTo(all[i]!, 12);
    const whole = reproducedTable(of, finished(of, ['x'], 20), names(['x'])).rows;
    expect(whole[2].values).toEqual([0, null, null, null]);
  });

  it('markdown: every row has every column, and names are no markup', () => {
    const of = table('systems');
    const hostile = '<b>|x';
    const text = tableMarkdown(reproducedTable(of, finished(of, [hostile, 'y']), names([hostile, 'y'])));
    expect(text).not.toMatch(/(?<!\\)<b/);
    const lines = text.split('\n').filter((line) => line.startsWith('|'));
    for (const line of lines) expect(line.match(/(?<!\\)\|/g)).toHaveLength(5);
    expect(text).toContain('| DocOpt | 20.00 | 30.00 | 25.00 |');
  });
});
