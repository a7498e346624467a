/** Every selector by its name. A new one is a factory here and a line in the table; the contract suite then runs on it. */

import { SELECTOR_NAMES, selectorSchema } from '../../src/config/selector-specs.ts';
import { splitSettings, withSettings } from '../../src/config/short-form.ts';
import { DocOptError } from '../../src/errors.ts';
import type { Selector } from '../../src/ports.ts';
import { didYouMean } from '../../src/text/suggest.ts';
import type { Pool } from '../../src/types.ts';
import { type AcuRankOptions, createAcuRank } from './acurank.ts';
import { createBm25Rerank } from './bm25-rerank.ts';
import {
  type BoundaryMorphOptions,
  createBagel,
  createBoundaryMorph,
  createMorphUcb,
  createMorphZeroPrior,
  type UpperConfidenceOptions,
  type ZeroPriorOptions,
} from './boundary-morph.ts';
import { onFusedOrder } from './fused-order.ts';
import { createGar, type GarOptions } from './gar.ts';
import { createDenseLog, createMorphHybrid, type HybridOptions, type LogRankOptions } from './hybrid.ts';
import { createRgs, type RgsOptions } from './rgs.ts';
import { createSingleStage } from './single-stage.ts';
import type { SteppedSelector } from './stepped.ts';

/** Whose order the first stage, the percentile prior and the ties follow: the pool's, or that of words and vectors fused. */
interface PriorOption {
  readonly prior?: 'percentile' | 'fusion';
}

export type SelectorSpec =
  | ({ readonly driver: 'morph-hybrid' } & HybridOptions)
  | ({ readonly driver: 'dense-log' } & LogRankOptions)
  | ({ readonly driver: 'boundary-morph' } & BoundaryMorphOptions & PriorOption)
  | ({ readonly driver: 'single-stage' } & PriorOption)
  | { readonly driver: 'bm25-rerank' }
  | ({ readonly driver: 'bagel' } & UpperConfidenceOptions & PriorOption)
  | ({ readonly driver: 'rgs' } & RgsOptions & PriorOption)
  | ({ readonly driver: 'gar' } & GarOptions & PriorOption)
  | ({ readonly driver: 'acurank' } & AcuRankOptions & PriorOption)
  | ({ readonly driver: 'morph-ucb' } & UpperConfidenceOptions & PriorOption)
  | ({ readonly driver: 'morph-zero-prior' } & ZeroPriorOptions & PriorOption);

export type SelectorName = SelectorSpec['driver'];

export const SELECTORS: readonly SelectorName[] = SELECTOR_NAMES;

/** What is taken when nothing is said, and why. */
export function defaultSelector(pool: Pool): { readonly name: SelectorName; readonly reason: string } {
  return pool.lexicalRanks === undefined
    ? { name: 'dense-log', reason: 'the default where a pool has no lexical ranks' }
    : { name: 'morph-hybrid', reason: 'the default where a pool has lexical ranks' };
}

/** The selector that was asked for, or the default for this pool; and why it is that one. */
export function chooseSelector(
  spec: string | SelectorSpec | undefined,
  pool: Pool,
  seed?: number,
  learned?: Learned,
): { readonly selector: Selector; readonly reason: string } {
  if (spec !== undefined) return { selector: createSelector(spec, seed, learned), reason: 'asked for' };
  const { name, reason } = defaultSelector(pool);
  return { selector: createSelector(name, seed, learned), reason };
}

/** What the log-rank selectors know from earlier queries (select/history.ts). */
type Learned = LogRankOptions['learned'];

/** A selector from its name, its short form or its block. `seed` where it draws something and its block names none. USAGE for unknown names. */
export function createSelector(spec: string | SelectorSpec, seed?: number, learned?: Learned): Selector {
  const block = typeof spec === 'string' ? parseSelector(spec) : spec;
  switch (block.driver) {
    case 'morph-hybrid':
      return createMorphHybrid({ seed, learned, ...block });
    case 'dense-log':
      return createDenseLog({ seed, learned, ...block });
    case 'boundary-morph':
      return ordered(createBoundaryMorph({ seed, ...block }), block);
    case 'single-stage':
      return ordered(createSingleStage(), block);
    case 'bm25-rerank':
      return createBm25Rerank();
    case 'bagel':
      return ordered(createBagel({ seed, ...block }), block);
    case 'rgs':
      return ordered(createRgs({ seed, ...block }), block);
    case 'gar':
      return ordered(createGar(block), block);
    case 'acurank':
      return ordered(createAcuRank(block), block);
    case 'morph-ucb':
      return ordered(createMorphUcb({ seed, ...block }), block);
    case 'morph-zero-prior':
      return ordered(createMorphZeroPrior({ seed, ...block }), block);
    default:
      requireName((block satisfies never as { driver: string }).driver);
      throw new DocOptError('INTERNAL', 'A listed selector has no factory.');
  }
}

function ordered(selector: Selector | SteppedSelector, { prior }: PriorOption): Selector {
  return prior === 'fusion' ? onFusedOrder(selector) : selector;
}

/** 'bagel' or 'bagel:beta0=0.5': the notation of the command line. USAGE for unknown names, CONFIG for settings that are not. */
export function parseSelector(text: string): SelectorSpec {
  const { name, settings } = splitSettings(text);
  const what = `selector '${text}'`;
  const block = withSettings({ driver: requireName(name) }, settings, selectorSchema, what);
  const parsed = selectorSchema.safeParse(block);
  if (parsed.success) return parsed.data;
  const [{ path, message }] = parsed.error.issues;
  throw new DocOptError('CONFIG', `${what}: ${path.join('.')}: ${message}`, { hint: 'See docs/selection.md.' });
}

function requireName(name: string): SelectorName {
  const known = SELECTORS.find((selector) => selector === name);
  if (known !== undefined) return known;
  const list = SELECTORS.join(', ');
  if (name === 'agentic') {
    throw new DocOptError('USAGE', "'agentic' is a whole system, not a selector.", { hint: `Selectors: ${list}.` });
  }
  throw new DocOptError('USAGE', `There is no selector '${name}'.${didYouMean(name, SELECTORS)}`, {
    hint: `Selectors: ${list}.`,
  });
}
