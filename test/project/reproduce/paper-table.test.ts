import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  expandCells,
  type PaperTable,
  paperTableSchema,
  tableRetrievers,
} from '../../../project/reproduce/paper-table.ts';

const folder = join(import.meta.dirname, '../../../configs/paper');
const raw = (name: string): Record<string, unknown> => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const read = (name: string): PaperTable => paperTableSchema.parse(raw(name));
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));

describe('the tables of the paper', () => {
  it('are all there, each named as its file', () => {
    expect(names.sort()).toEqual(['a5', 'table1', 'table4', 'table6', 'table7']);
    for (const name of names) expect(read(name).name).toBe(name);
  });

  it.each([
    ['a5', 4],
    ['table1', 4],
    ['table4', 4],
    ['table6', 8],
    ['table7', 12],
  ])('%s over two collections has %i cells, with folder names of their own', (name, count) => {
    const table = read(name);
    const cells = expandCells(table, ['mbpp', 'mbpp (2)'], tableRetrievers(table));
    expect(cells).toHaveLength(count);
    expect(new Set(cells.map(({ id }) => id)).size).toBe(count);
    for (const { id } of cells) expect(id).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
  });

  it('table 7 is every kind of negative by every number; 6 is every reward with and without', () => {
    const of = (name: string, a: string, b: string): string[] =>
      read(name).cells.map(({ settings }) => `${settings[a]} ${settings[b]}`);
    expect(of('table7', 'negatives', 'negativesPerDocument').sort()).toEqual(
      ['hard 1', 'hard 10', 'hard 5', 'random 1', 'random 10', 'random 5'].sort(),
    );
    expect(of('table6', 'reward', 'negatives').sort()).toEqual(
      ['ranking hard', 'ranking none', 'similarity hard', 'similarity none'].sort(),
    );
  });

  it('equal and hostile names still get folders of their own', () => {
    const table = read('table1');
    const cells = expandCells(table, ['../x', '..\\x', '', 'Ünï/..'], tableRetrievers(table).slice(0, 1));
    expect(cells.map(({ id }) => id)).toEqual(['x_bm25_docopt', 'x_bm25_docopt-2', 'x_bm25_docopt-3', 'n_bm25_docopt']);
  });

  it('settings are options of a training, and not those that the caller chooses', () => {
    const cell = (settings: unknown): unknown => ({ ...raw('table1'), cells: [{ id: 'a', label: 'A', settings }] });
    expect(paperTableSchema.safeParse(cell({ reward: 'ranking' })).success).toBe(true);
    for (const wrong of [{ rewrd: 'ranking' }, { reward: 'rank' }, { steps: 3 }, { data: 'x' }]) {
      expect(paperTableSchema.safeParse(cell(wrong)).success).toBe(false);
    }
    const twice = { ...raw('table1'), cells: [1, 2].map(() => ({ id: 'a', label: 'A', settings: {} })) };
    expect(paperTableSchema.safeParse(twice).error?.issues[0].message).toMatch(/one id/);
  });
});
