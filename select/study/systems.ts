/**
 * The systems of a study: selectors by name or `name:option=value,...`, each with the settings that are to be tried. The
 * swept baselines get the grids of BoundaryMORPH C.2; a setting that is written out is taken as it is and not swept.
 */
import type { Selector } from '../../src/ports.ts';
import { createSelector, parseSelector, type SelectorSpec } from '../selectors/registry.ts';

export type Settings = Readonly<Record<string, number | string | boolean>>;

export interface StudySystem {
  /** As it was asked for; unique within a study. */
  readonly name: string;
  readonly driver: string;
  /** One entry for a system without a grid. */
  readonly candidates: readonly { readonly settings: Settings; readonly selector: Selector }[];
  /** One run serves every k. */
  readonly ignoresCapacity: boolean;
}

/** Selectors that need the pool's lexical ranks. */
export const NEEDS_WORDS: readonly string[] = ['morph-hybrid', 'bm25-rerank'];

/** Selectors that do not look at k: test/select/study/systems.test.ts holds it for each. */
export const CAPACITY_BLIND: readonly string[] = ['single-stage', 'bm25-rerank', 'bagel', 'rgs', 'gar', 'morph-ucb'];

/** Settings that BoundaryMORPH C.2 selects on the evaluated queries, to the baselines' advantage. */
export const SWEEPS: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  bagel: { beta0: [0, 0.5, 1, 2] },
  'morph-ucb': { beta0: [0, 0.5, 1, 2] },
  rgs: { degree: [10, 32, 64], seedDiv: [5, 4, 3, 2], frac: [0.2, 0.5, 1] },
};

/** 'boundary-morph:kernel=rbf,batch=4' -> a system. USAGE for a name, CONFIG for a setting, that is not known. */
export function parseSystem(text: string, options: { readonly seed: number; readonly sweep: boolean }): StudySystem {
  const block = parseSelector(text);
  const { driver } = block;
  const open = Object.entries(options.sweep ? (SWEEPS[driver] ?? {}) : {}).filter(([key]) => !(key in block));
  const candidates = combinations(Object.fromEntries(open)).map((settings) => ({
    settings,
    selector: createSelector({ ...block, ...settings } as SelectorSpec, options.seed),
  }));
  return { name: text, driver, candidates, ignoresCapacity: CAPACITY_BLIND.includes(driver) };
}

/** Every way to take one value of each list, the last list turning fastest. */
function combinations(grid: Readonly<Record<string, readonly number[]>>): Settings[] {
  return Object.entries(grid).reduce<Settings[]>(
    (sofar, [key, values]) => sofar.flatMap((settings) => values.map((value) => ({ ...settings, [key]: value }))),
    [{}],
  );
}
