/** A table of the paper as trainings: configs/paper/NAME.json, checked, and laid out over data sets and retrievers. */
import { z } from 'zod';
import { trainSchema } from '../../src/config/schemas/mod.ts';
import { specName } from '../../src/config/spec-names.ts';
import { expandShortForm, type RetrieverSpec, retrieverSchema } from '../../src/config/specs.ts';

/** What a table may set of a training. What the caller chooses (data, seeds, steps, ...) is not the table's. */
const settable = trainSchema.omit({
  data: true,
  retriever: true,
  policy: true,
  out: true,
  preset: true,
  steps: true,
  seed: true,
  seeds: true,
  metrics: true,
  resume: true,
  dryRun: true,
});

/** As written: defaults are filled in by the training itself, which must see what was chosen and what was not. */
const settings = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  for (const { path, message } of settable.safeParse(value).error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: [...path], message });
  }
});

const id = z.string().regex(/^[a-z0-9][a-z0-9-]*$/);

export const paperTableSchema = z
  .strictObject({
    name: id,
    /** As the paper counts: 'Table 6'. */
    table: z.string().min(1),
    summary: z.string().min(1),
    /** What stands in the rows: see table.ts. */
    layout: z.enum(['systems', 'settings', 'transfer', 'supervision']),
    measure: z.string().min(1),
    /** Short forms, unless the caller names others. */
    retrievers: z.array(z.string().min(1)).min(1),
    /** Settings of every cell. */
    common: settings.default({}),
    cells: z.array(z.strictObject({ id, label: z.string().min(1), settings })).min(1),
  })
  .refine(({ cells }) => new Set(cells.map((cell) => cell.id)).size === cells.length, 'two cells have one id');

export type PaperTable = z.infer<typeof paperTableSchema>;

/** One training. */
export interface Cell {
  /** Its folder under cells/. */
  readonly id: string;
  /** Index into the data sets. */
  readonly data: number;
  readonly retriever: RetrieverSpec;
  /** Index into the retrievers. */
  readonly column: number;
  /** Id and name of its row in the paper. */
  readonly row: string;
  readonly label: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

export function tableRetrievers(table: PaperTable): RetrieverSpec[] {
  return table.retrievers.map((text) => retrieverSchema.parse(expandShortForm('retriever', text)));
}

/** Every data set under every retriever under every row, in that order. Ids are unique and safe as folder names. */
export function expandCells(table: PaperTable, data: readonly string[], retrievers: readonly RetrieverSpec[]): Cell[] {
  const taken = new Map<string, number>();
  const unique = (wanted: string): string => {
    const before = taken.get(wanted) ?? 0;
    taken.set(wanted, before + 1);
    return before === 0 ? wanted : unique(`${wanted}-${before + 1}`);
  };
  return data.flatMap((name, d) =>
    retrievers.flatMap((retriever, column) =>
      table.cells.map(({ id: row, label, settings: own }) => ({
        id: unique([name, specName('retriever', retriever), row].map(slug).join('_')),
        data: d,
        retriever,
        column,
        row,
        label,
        settings: { ...table.common, ...own },
      })),
    ),
  );
}

function slug(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .slice(0, 60);
  return plain.replace(/^[.-]+|[.-]+$/g, '') || 'x';
}
