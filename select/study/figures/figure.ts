import type { GroupReport } from '../measure.ts';
import type { StudySystem } from '../systems.ts';
import type { StudyGroup } from '../types.ts';

/** A figure as numbers and as Markdown. */
export interface Figure<T> {
  readonly json: T;
  readonly text: string;
}

/** What figures about selectors are drawn from. */
export interface FigureSettings {
  readonly systems: readonly StudySystem[];
  readonly budgets: readonly number[];
  readonly capacities: readonly number[];
  readonly signal?: AbortSignal;
  /** The comparison of these systems on this group: what sweeps chose, and every query's figures. */
  readonly report: GroupReport;
}

export function titleOf({
  collection,
  retriever,
  reranker,
}: Pick<StudyGroup, 'collection' | 'retriever' | 'reranker'>): string {
  return `${collection}, ${retriever}, ${reranker}`;
}

/** The selector of a system with the settings that its sweep chose for this budget. */
export function chosenSelector(system: StudySystem, budget: number, { report }: FigureSettings) {
  const settings = report.cells.find((cell) => cell.selector === system.name && cell.budget === budget)?.settings;
  if (settings === undefined) return system.candidates[0].selector;
  const key = JSON.stringify(settings);
  return system.candidates.find((candidate) => JSON.stringify(candidate.settings) === key)!.selector;
}
