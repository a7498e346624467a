/** Every selector by its name. A new one is a factory here and a line in the table; the contract suite then runs on it. */

import { DocOptError } from '../../src/errors.ts';
import type { Selector } from '../../src/ports.ts';
import { didYouMean } from '../../src/text/suggest.ts';
import { type BoundaryMorphOptions, createBoundaryMorph } from './boundary-morph.ts';
import { createSingleStage } from './single-stage.ts';

export type SelectorSpec =
  | ({ readonly driver: 'boundary-morph' } & BoundaryMorphOptions)
  | { readonly driver: 'single-stage' };

export type SelectorName = SelectorSpec['driver'];

export const SELECTORS: readonly SelectorName[] = ['boundary-morph', 'single-stage'];

/** What is taken when nothing is said. */
export const DEFAULT_SELECTOR: SelectorName = 'boundary-morph';

/** Names that are reserved, so that a script that uses one hears that it is not there yet rather than that it is wrong. */
const PLANNED: readonly string[] = [
  'morph-hybrid',
  'dense-log',
  'bm25-rerank',
  'bagel',
  'rgs',
  'gar',
  'acurank',
  'morph-ucb',
  'morph-zero-prior',
];

/** A selector from its name or its block. `seed` where it draws something and its block names none. USAGE for unknown names. */
export function createSelector(spec: string | SelectorSpec, seed?: number): Selector {
  const block = typeof spec === 'string' ? ({ driver: requireName(spec) } as SelectorSpec) : spec;
  switch (block.driver) {
    case 'boundary-morph': {
      const { driver: _, ...options } = block;
      return createBoundaryMorph({ seed, ...options });
    }
    case 'single-stage':
      return createSingleStage();
    default:
      requireName((block satisfies never as { driver: string }).driver);
      throw new DocOptError('INTERNAL', 'A listed selector has no factory.');
  }
}

function requireName(name: string): SelectorName {
  const known = SELECTORS.find((selector) => selector === name);
  if (known !== undefined) return known;
  const list = SELECTORS.join(', ');
  if (name === 'agentic') {
    throw new DocOptError('USAGE', "'agentic' is a whole system, not a selector.", { hint: `Selectors: ${list}.` });
  }
  if (PLANNED.includes(name)) {
    throw new DocOptError('USAGE', `The selector '${name}' is planned but not built yet.`, {
      hint: `Built so far: ${list}.`,
    });
  }
  throw new DocOptError('USAGE', `There is no selector '${name}'.${didYouMean(name, [...SELECTORS, ...PLANNED])}`, {
    hint: `Selectors: ${list}.`,
  });
}
