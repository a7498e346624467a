/** A comparison as Markdown: BoundaryMORPH's Table 1 per collection and pair of models, Tables 2 and 8 where the ablations ran. */
import { meanOf } from '../../src/metrics/mod.ts';
import type { CompareReport, CompareTest } from '../compare.ts';
import { kernelTable } from './kernel-table.ts';
import { markBest, markdownTable, percent, points } from './markdown.ts';
import type { Cell } from './measure.ts';
import { explainTrust, RANKERS, TRUST_CUTOFF, type Trust } from './trust.ts';

const KINDS = ['nCG', 'CE-nCG'] as const;

export function compareTables(report: CompareReport): string {
  const parts = report.groups.map((group) => groupTables(report, group));
  for (const table of [ablationTable(report.cells), kernelTable(report.cells)])
    if (table !== undefined) parts.push(table);
  return `${parts.join('\n\n')}\n`;
}

function groupTables(report: CompareReport, group: CompareReport['groups'][number]): string {
  const all = report.cells.filter((cell) => isOf(cell, group));
  const cells = all.filter(({ selector }) => !isAgentic(selector));
  const loop = agenticTable(all.filter(({ selector }) => isAgentic(selector)));
  const facts = [
    `${group.queries} queries`,
    `pool ${group.pool} of ${group.documents} documents`,
    group.callMs === null ? '' : `${group.callMs.toPrecision(3)} ms a reranker call`,
    group.hopeless === 0 ? '' : `${group.hopeless} queries without a relevant document in the pool`,
    group.failed === 0 ? '' : `${group.failed} failed reranker calls`,
  ].filter((fact) => fact !== '');
  return [
    `## ${group.collection}, ${group.retriever}, ${group.reranker}`,
    `${facts.join(', ')}.`,
    ...KINDS.map((kind) => selectorTable(cells, kind)),
    ...(loop === undefined ? [] : [loop]),
    ...testLines(report, group),
    ...sweepLines(cells),
    trustTable(group.trust),
    explainTrust(group.trust),
  ].join('\n\n');
}

function isOf(
  cell: Pick<Cell, 'collection' | 'retriever' | 'reranker'>,
  group: CompareReport['groups'][number],
): boolean {
  return cell.collection === group.collection && cell.retriever === group.retriever && cell.reranker === group.reranker;
}

function isAgentic(selector: string): boolean {
  return selector.startsWith('agentic:');
}

/** The loop has costs of its own: documents read, calls to the model, time. */
function agenticTable(cells: readonly Cell[]): string | undefined {
  if (cells.length === 0) return undefined;
  const metrics = [...new Set(cells.map(({ metric }) => metric))];
  return markdownTable(
    ['', 'documents read', 'chat calls', 'ms', ...metrics],
    [...new Set(cells.map(({ selector }) => selector))].map((selector) => {
      const own = cells.filter((cell) => cell.selector === selector);
      const { budget, calls, selectorMs } = own[0];
      const values = metrics.map((metric) => percent(own.find((cell) => cell.metric === metric)!.mean));
      return [selector, String(budget), calls.toFixed(1), selectorMs.toFixed(0), ...values];
    }),
  );
}

/** Table 1: a row a selector, a column a budget and capacity. */
function selectorTable(cells: readonly Cell[], kind: (typeof KINDS)[number]): string {
  const own = cells.filter(({ metric }) => metric.startsWith(`${kind}@`));
  const selectors = [...new Set(own.map(({ selector }) => selector))];
  const columns = [
    ...new Map(own.map(({ budget, capacity }) => [`${budget}/${capacity}`, { budget, capacity }])).values(),
  ];
  const values = columns.map(({ budget, capacity }) =>
    selectors.map((selector) => {
      const cell = own.find((c) => c.selector === selector && c.budget === budget && c.capacity === capacity);
      return cell === undefined ? '' : percent(cell.mean);
    }),
  );
  const marked = markBest(values);
  return markdownTable(
    [`${kind}@k, %`, ...columns.map(({ budget, capacity }) => `B ${budget}, k ${capacity}`)],
    selectors.map((selector, row) => [selector, ...marked.map((column) => column[row])]),
  );
}

/** In how many cells the focus is ahead of each other selector, and in how many that is more than chance. */
function testLines({ tests, focus }: CompareReport, group: CompareReport['groups'][number]): string[] {
  const own = tests.filter((test) => isOf(test, group));
  const others = [...new Set(own.map(({ b }) => b))].filter((other) => !isAgentic(other));
  if (others.length === 0) return [];
  const row = (other: string): string[] => [
    `against ${other}`,
    ...KINDS.flatMap((kind) => {
      const some = own.filter(({ b, metric }) => b === other && metric.startsWith(`${kind}@`));
      return [points(meanOf(some.map(({ delta }) => delta))), verdicts(some)];
    }),
  ];
  return [
    markdownTable(
      [`${focus}`, 'nCG, mean pp', 'ahead / behind (significant)', 'CE-nCG, mean pp', 'ahead / behind (significant)'],
      others.map(row),
    ),
    "Significant: Wilcoxon's signed ranks, Benjamini-Hochberg over all tests of the report, adjusted p < .05.",
  ];
}

function verdicts(tests: readonly CompareTest[]): string {
  const ahead = tests.filter(({ delta }) => delta > 0);
  const behind = tests.filter(({ delta }) => delta < 0);
  const sure = (some: readonly CompareTest[]): number => some.filter(({ adjustedP }) => adjustedP < 0.05).length;
  return `${ahead.length} / ${behind.length} (${sure(ahead)} / ${sure(behind)})`;
}

/** What the sweeps chose. */
function sweepLines(cells: readonly Cell[]): string[] {
  const chosen = new Map<string, Map<number, string>>();
  for (const { selector, budget, settings } of cells) {
    if (settings === undefined) continue;
    const text = Object.entries(settings)
      .map(([key, value]) => `${key} ${value}`)
      .join(' ');
    chosen.set(selector, (chosen.get(selector) ?? new Map<number, string>()).set(budget, text));
  }
  if (chosen.size === 0) return [];
  const lines = [...chosen].map(
    ([selector, byBudget]) =>
      `${selector}: ${[...byBudget].map(([budget, text]) => `B ${budget}: ${text}`).join('; ')}`,
  );
  return [`Chosen on these queries by mean CE-nCG@50, as in the paper. ${lines.join('. ')}.`];
}

export function trustTable({ auc, ndcg }: Trust): string {
  return markdownTable(
    ['from the judgements', ...RANKERS],
    [
      ['AUC', ...RANKERS.map((who) => (Number.isNaN(auc[who]) ? '-' : auc[who].toFixed(3)))],
      [`nDCG@${TRUST_CUTOFF}`, ...RANKERS.map((who) => (Number.isNaN(ndcg[who]) ? '-' : ndcg[who].toFixed(3)))],
    ],
  );
}

/** Tables 2 and 8: what is lost without the boundary rule, and without the prior. */
const FULL = 'boundary-morph';
const ABLATIONS: readonly (readonly [selector: string, label: string])[] = [
  ['morph-ucb', 'without the boundary rule'],
  ['morph-zero-prior', 'without the prior'],
];

function ablationTable(cells: readonly Cell[]): string | undefined {
  const there = ABLATIONS.filter(([selector]) => cells.some((cell) => cell.selector === selector));
  if (there.length === 0 || !cells.some(({ selector }) => selector === FULL)) return undefined;
  const collections = [...new Set(cells.map(({ collection }) => collection))];
  const metrics = [...new Set(cells.map(({ metric }) => metric))].sort((a, b) => a.length - b.length);
  const ordered = KINDS.flatMap((kind) => metrics.filter((metric) => metric.startsWith(`${kind}@`)));
  const mean = (selector: string, metric: string, collection?: string): number =>
    meanOf(
      cells
        .filter((c) => c.selector === selector && c.metric === metric && (collection ?? c.collection) === c.collection)
        .map((c) => c.mean),
    );
  const rows = (collection?: string): string[][] => [
    [
      `${collection ?? 'all collections'}: ${FULL}`,
      ...ordered.map((metric) => percent(mean(FULL, metric, collection))),
    ],
    ...there.map(([selector, label]) => [
      `- ${label}`,
      ...ordered.map((metric) => points(mean(selector, metric, collection) - mean(FULL, metric, collection))),
    ]),
  ];
  return [
    '## Ablations',
    'Mean over budgets and pairs of models, %; the rows below in percentage points.',
    markdownTable(
      ['', ...ordered],
      [...(collections.length > 1 ? rows() : []), ...collections.flatMap((c) => rows(c))],
    ),
  ].join('\n\n');
}
