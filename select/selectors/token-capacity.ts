/**
 * A capacity in tokens around any selector. While calls are placed, k is how many documents of the first stage would fit; in
 * the end the capacity is filled from the estimates:
 *   density  by value / sqrt(length), skipping what no longer fits (default)
 *   skip     by value, skipping what no longer fits
 *   stop     by value, until the first that does not fit
 * A document without an estimate counts as worth nothing and keeps its place among those.
 */
import { DocOptError } from '../../src/errors.ts';
import type { Selector } from '../../src/ports.ts';
import type { Pool, SelectedDocument, Selection } from '../../src/types.ts';
import { beginInSteps, type SteppedSelector, steppedSelector } from './stepped.ts';

export const TOKEN_FILLS = ['density', 'skip', 'stop'] as const;
export type TokenFill = (typeof TOKEN_FILLS)[number];

export interface TokenCapacity {
  readonly tokens: number;
  readonly fill?: TokenFill;
}

export function withTokenCapacity(selector: Selector, { tokens, fill = 'density' }: TokenCapacity): SteppedSelector {
  if (!Number.isInteger(tokens) || tokens < 0) {
    throw new DocOptError('USAGE', `The capacity is ${tokens} tokens; it must be a whole number of at least 0.`);
  }
  return steppedSelector(selector.name, function* (pool, limits) {
    const counts = requireTokenCounts(pool);
    const capacity = fitting(counts.keys(), counts, tokens, 'skip').length;
    const run = yield* beginInSteps(selector, pool, { budget: limits.budget, capacity });
    return { ask: run.ask, tell: run.tell, result: () => filled(run.result(), counts, tokens, fill) };
  });
}

/** The order with what fits in front, both parts in the order of the selection. */
function filled({ order }: Selection, counts: Int32Array, tokens: number, fill: TokenFill): Selection {
  const byPosition = new Map(order.map((document) => [document.position, document]));
  const positions = order.map(({ position }) => position);
  if (fill === 'density') {
    const worth = (position: number): number => {
      const { relevanceScore } = byPosition.get(position)!;
      const value = Number.isFinite(relevanceScore) ? Math.max(0, relevanceScore) : 0;
      return value / Math.sqrt(Math.max(1, counts[position]));
    };
    positions.sort((a, b) => worth(b) - worth(a));
  }
  const inside = new Set(fitting(positions, counts, tokens, fill));
  const parts = [
    order.filter(({ position }) => inside.has(position)),
    order.filter(({ position }) => !inside.has(position)),
  ];
  return {
    order: parts.flat().map((document, index): SelectedDocument => ({ ...document, rank: index + 1 })),
    capacity: inside.size,
  };
}

function fitting(positions: Iterable<number>, counts: Int32Array, tokens: number, fill: TokenFill): number[] {
  const inside: number[] = [];
  let left = tokens;
  for (const position of positions) {
    if (counts[position] <= left) {
      left -= counts[position];
      inside.push(position);
    } else if (fill === 'stop') break;
  }
  return inside;
}

function requireTokenCounts(pool: Pool): Int32Array {
  if (pool.tokenCounts?.length === pool.ids.length) return pool.tokenCounts;
  throw new DocOptError('USAGE', 'A capacity in tokens needs the length of every document, and this pool has none.', {
    hint: 'Give every document a text, or a capacity in documents.',
  });
}
