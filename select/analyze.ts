/**
 * The figures of BoundaryMORPH on one's own data: why a selector wins or loses, not only that it does. One comparison of the
 * selectors is run first; most figures are read off it.
 */
import type { Chat } from './study/chat.ts';
import { allocationFigure } from './study/figures/allocation.ts';
import { auditFigure } from './study/figures/audit.ts';
import { capacityFigure } from './study/figures/capacity.ts';
import { coverageFigure } from './study/figures/coverage.ts';
import type { Figure } from './study/figures/figure.ts';
import { KERNEL_SYSTEMS, kernelFigure, noiseSystems } from './study/figures/kernels.ts';
import { frontierFigure, latencyFigure } from './study/figures/latency.ts';
import { multimodalityFigure } from './study/figures/multimodality.ts';
import { robustnessFigure } from './study/figures/robustness.ts';
import { type Cell, type GroupReport, measureGroup } from './study/measure.ts';
import { measureAgentic } from './study/measure-agentic.ts';
import { rememberQueries } from './study/remember.ts';
import { parseSystem, type StudySystem } from './study/systems.ts';
import type { StudyGroup } from './study/types.ts';

export type FigureName =
  | 'coverage'
  | 'capacity'
  | 'allocation'
  | 'multimodality'
  | 'latency'
  | 'kernels'
  | 'robustness'
  | 'frontier'
  | 'audit';

export interface AnalyzeSettings {
  readonly figures: readonly FigureName[];
  readonly systems: readonly StudySystem[];
  readonly budgets: readonly number[];
  readonly capacities: readonly number[];
  readonly sweep: boolean;
  readonly seed: number;
  /** For `audit`, and for the agentic loop among the points of `frontier`. */
  readonly chat?: Chat;
  readonly agentic: { readonly depths: readonly number[]; readonly hops: readonly number[] };
  readonly signal?: AbortSignal;
  readonly onStep?: (what: string) => void;
}

/** One group's figures, or (last) those over all groups. */
export interface Analysis {
  readonly collection?: string;
  readonly retriever?: string;
  readonly reranker?: string;
  readonly figures: Readonly<Record<string, unknown>>;
}

export interface AnalyzeReport {
  readonly json: { readonly analyses: readonly Analysis[] };
  readonly text: string;
}

export async function analyze(groups: AsyncIterable<StudyGroup>, settings: AnalyzeSettings): Promise<AnalyzeReport> {
  const analyses: Analysis[] = [];
  const texts: string[] = [];
  const reports: GroupReport[] = [];
  const variants: Cell[] = [];
  for await (const opened of groups) {
    const { collection, retriever, reranker } = opened;
    const group = rememberQueries(opened);
    const figures: Record<string, unknown> = {};
    for await (const [name, figure] of figuresOf(group, settings, reports, variants)) {
      figures[name] = figure.json;
      texts.push(figure.text);
    }
    analyses.push({ collection, retriever, reranker, figures });
  }
  const over: Record<string, Figure<unknown>> = {};
  if (settings.figures.includes('kernels')) over.kernels = kernelFigure(variants);
  if (settings.figures.includes('robustness')) over.robustness = robustnessFigure(reports);
  if (Object.keys(over).length > 0) {
    analyses.push({ figures: Object.fromEntries(Object.entries(over).map(([name, { json }]) => [name, json])) });
    texts.push(...Object.values(over).map(({ text }) => text));
  }
  return { json: { analyses }, text: `${texts.join('\n\n')}\n` };
}

/** Figures that rest on the comparison of the selectors. */
const COMPARING: readonly FigureName[] = [
  'capacity',
  'allocation',
  'multimodality',
  'latency',
  'robustness',
  'frontier',
];

async function* figuresOf(
  group: StudyGroup,
  settings: AnalyzeSettings,
  reports: GroupReport[],
  variants: Cell[],
): AsyncGenerator<[FigureName, Figure<unknown>]> {
  const { figures, systems, budgets, capacities, signal, chat, seed } = settings;
  const wants = (name: FigureName): boolean => figures.includes(name);
  const step = (what: string): void =>
    settings.onStep?.(`${group.collection}, ${group.retriever}, ${group.reranker}: ${what}`);
  if (wants('coverage')) {
    step('coverage');
    yield ['coverage', await coverageFigure(group)];
  }
  if (COMPARING.some(wants)) {
    step('comparing the selectors');
    const report = await measureGroup(group, { systems, budgets, capacities, signal });
    reports.push(report);
    const drawn = { systems, budgets, capacities, signal, report };
    if (wants('capacity')) {
      step('capacity');
      yield ['capacity', await capacityFigure(group, drawn)];
    }
    if (wants('allocation')) {
      step('allocation');
      yield ['allocation', await allocationFigure(group, drawn)];
    }
    if (wants('multimodality')) {
      step('multimodality');
      yield ['multimodality', await multimodalityFigure(group, drawn)];
    }
    if (wants('latency')) yield ['latency', latencyFigure(report)];
    if (wants('frontier')) {
      const { depths, hops } = settings.agentic;
      if (chat !== undefined) step('the agentic loop');
      const loop = chat === undefined ? [] : await measureAgentic(group, chat, { depths, hops, capacities, seed });
      yield ['frontier', frontierFigure({ ...report, cells: [...report.cells, ...loop] })];
    }
  }
  if (wants('kernels')) {
    step('kernels and noise');
    const names = [...KERNEL_SYSTEMS, ...noiseSystems(group.lexical)];
    const parsed = names.map((name) => parseSystem(name, settings));
    variants.push(...(await measureGroup(group, { systems: parsed, budgets, capacities, signal })).cells);
  }
  if (wants('audit') && chat !== undefined) {
    step('audit of the peaks');
    yield ['audit', await auditFigure(group, chat, { seed })];
  }
}
