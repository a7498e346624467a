/** Finished cells in the shape of the paper's table. */
import type { Cell, PaperTable } from './paper-table.ts';

type System = 'original' | 'zeroShot' | 'trained';
type Value = number | null;
type Figures = Readonly<Record<System, Value>>;

/** What a table reads of a cell's report.json. */
interface Report {
  readonly metrics: Readonly<Record<string, Figures>>;
  readonly unseenDocuments: { readonly queries: number } & Readonly<Record<string, Figures | number>>;
  readonly splits: { readonly test: number };
}

export interface FinishedCell<R extends Report = Report> {
  readonly cell: Cell;
  readonly report: R;
  /** Of `transfer`: the rewrites of this cell under every retriever, in their order. */
  readonly transferred?: readonly Value[];
}

export interface TableRow {
  /** Rows of one group stand together: a retriever, or a data set. */
  readonly group: string;
  readonly label: string;
  readonly values: readonly Value[];
}

export interface ReproducedTable {
  readonly name: string;
  readonly table: string;
  readonly summary: string;
  readonly measure: string;
  readonly seeds: readonly number[];
  readonly columns: readonly string[];
  /** Fractions, unrounded; in Markdown times 100, as in the paper. */
  readonly rows: readonly TableRow[];
}

export interface TableNames {
  readonly data: readonly string[];
  readonly retrievers: readonly string[];
  readonly seeds: readonly number[];
}

const SYSTEMS: readonly (readonly [string, System])[] = [
  ['Direct retrieval', 'original'],
  ['Zero-shot transformation', 'zeroShot'],
  ['DocOpt', 'trained'],
];

export function reproducedTable(
  { name, table, summary, measure, layout, cells }: PaperTable,
  finished: readonly FinishedCell[],
  names: TableNames,
): ReproducedTable {
  const figure = ({ report }: FinishedCell, system: System): Value => report.metrics[measure][system];
  const at = (data: number, column: number, row: string): FinishedCell =>
    finished.find(({ cell }) => cell.data === data && cell.column === column && cell.row === row)!;
  const first = cells[0].id;
  const overData = (value: (data: number) => Value): Value[] => withMean(names.data.map((_, data) => value(data)));

  const rows = (): TableRow[] => {
    switch (layout) {
      case 'systems':
        return names.retrievers.flatMap((group, column) =>
          SYSTEMS.map(([label, system]) => ({
            group,
            label,
            values: overData((data) => figure(at(data, column, first), system)),
          })),
        );
      case 'settings':
        return names.retrievers.flatMap((group, column) => [
          {
            group,
            label: 'Zero-shot transformation',
            values: overData((data) => figure(at(data, column, first), 'zeroShot')),
          },
          ...cells.map(({ id, label }) => ({
            group,
            label,
            values: overData((data) => figure(at(data, column, id), 'trained')),
          })),
        ]);
      case 'transfer':
        return names.data.flatMap((group, data) => [
          {
            group,
            label: 'No training (baseline)',
            values: names.retrievers.map((_, column) => figure(at(data, column, first), 'zeroShot')),
          },
          ...names.retrievers.map((retriever, column) => ({
            group,
            label: `${retriever}-trained`,
            values: at(data, column, first).transferred ?? names.retrievers.map(() => null),
          })),
        ]);
      case 'supervision':
        return names.data.flatMap((set, data) =>
          names.retrievers.flatMap((retriever, column) =>
            supervisionRows(`${set}, ${retriever}`, at(data, column, first).report, measure),
          ),
        );
      default:
        return layout satisfies never;
    }
  };
  const columns = {
    systems: withMeanName(names.data),
    settings: withMeanName(names.data),
    transfer: names.retrievers,
    supervision: ['test queries', ...SYSTEMS.map(([label]) => label)],
  }[layout];
  return { name, table, summary, measure, seeds: names.seeds, columns, rows: rows() };
}

/** A.5: a test query whose relevant documents answered no training query, and the others. */
function supervisionRows(group: string, report: Report, measure: string): TableRow[] {
  const total = report.splits.test;
  const unseen = report.unseenDocuments.queries;
  const figures = (of: (system: System) => Value): Value[] => SYSTEMS.map(([, system]) => of(system));
  const all = report.metrics[measure];
  const without = report.unseenDocuments[measure] as Figures | undefined;
  // Means over both parts and over one of them give the mean over the other.
  const rest = (system: System): Value => {
    const [whole, part] = [all[system], unseen === 0 ? 0 : without?.[system]];
    if (total === unseen || whole === null || part === null || part === undefined) return null;
    return (whole * total - part * unseen) / (total - unseen);
  };
  return [
    { group, label: 'all test queries', values: [total, ...figures((system) => all[system])] },
    {
      group,
      label: 'documents without a training query',
      values: [unseen, ...figures((system) => without?.[system] ?? null)],
    },
    { group, label: 'documents with a training query', values: [total - unseen, ...figures(rest)] },
  ];
}

/** With one data set its figure is the mean. */
function withMean(values: readonly Value[]): Value[] {
  if (values.length === 1) return [...values];
  const known = values.filter((value) => value !== null);
  return [...values, known.length < values.length ? null : known.reduce((sum, v) => sum + v, 0) / known.length];
}

function withMeanName(names: readonly string[]): string[] {
  return names.length === 1 ? [...names] : [...names, 'Mean'];
}

/** Markdown; names are foreign text. */
export function tableMarkdown({ table, summary, measure, seeds, columns, rows }: ReproducedTable): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(plain).join(' | ')} |`;
  const value = (figure: Value, column: number): string => {
    if (figure === null) return 'n/a';
    return columns[column] === 'test queries' ? String(figure) : (100 * figure).toFixed(2);
  };
  const isGroup = (i: number): boolean => i === 0 || rows[i - 1].group !== rows[i].group;
  return [
    `# DocOpt, ${plain(table)}`,
    '',
    `${plain(summary)}`,
    '',
    `${plain(measure)} x 100 on the test queries, ${seeds.length === 1 ? `seed ${seeds[0]}` : `mean over seeds ${seeds.join(', ')}`}.`,
    '',
    line(['', ...columns]),
    line(['---', ...columns.map(() => '---:')]),
    ...rows.flatMap((row, i) => [
      ...(isGroup(i) ? [`| **${plain(row.group)}** |${' |'.repeat(columns.length)}`] : []),
      line([row.label, ...row.values.map(value)]),
    ]),
    '',
  ].join('\n');
}

function plain(text: string): string {
  return text.replace(/[\\`*_<>|[\]]/g, (sign) => `\\${sign}`).replace(/[\r\n]+/g, ' ');
}
