/**
 * What may not replace a document in the index: nothing at all, a runaway, or a text that lost most of the original.
 * Guards see texts only; they hold for every policy.
 */
export type GuardAction = 'keep' | 'retry' | 'fail' | 'allow';

export interface GuardOptions {
  readonly onEmpty: GuardAction;
  readonly onOverlong: GuardAction;
  readonly onDropped: GuardAction;
  /** Overlong = more than this many times the original's characters, and more than `overlongFloor`. */
  readonly maxGrowth: number;
  /** Dropped = fewer than this share of the original's distinct words are left. */
  readonly minKept: number;
}

export interface Violation {
  readonly guard: 'empty' | 'overlong' | 'dropped';
  readonly action: GuardAction;
  /** For the report: 'empty rewrite', '23 times as long as the original', ... */
  readonly reason: string;
}

/** Short documents may grow a lot in proportion without being runaways. */
const OVERLONG_FLOOR = 2_000;

/** The first guard that `rewrite` violates, or undefined. An empty original may stay empty. */
export function checkRewrite(original: string, rewrite: string, options: GuardOptions): Violation | undefined {
  if (rewrite.trim() === '') {
    if (original.trim() === '' || options.onEmpty === 'allow') return undefined;
    return { guard: 'empty', action: options.onEmpty, reason: 'empty rewrite' };
  }
  if (
    options.onOverlong !== 'allow' &&
    rewrite.length > OVERLONG_FLOOR &&
    rewrite.length > options.maxGrowth * original.length
  ) {
    const times = (rewrite.length / Math.max(1, original.length)).toFixed(0);
    return { guard: 'overlong', action: options.onOverlong, reason: `${times} times as long as the original` };
  }
  if (options.onDropped !== 'allow') {
    const kept = keptShare(original, rewrite);
    if (kept < options.minKept) {
      return {
        guard: 'dropped',
        action: options.onDropped,
        reason: `only ${(100 * kept).toFixed(0)} % of the original's words are left`,
      };
    }
  }
  return undefined;
}

/** Share of the original's distinct words that occur in the rewrite; 1 when the original has none. */
export function keptShare(original: string, rewrite: string): number {
  const wanted = words(original);
  if (wanted.size === 0) return 1;
  const present = words(rewrite);
  let kept = 0;
  for (const word of wanted) if (present.has(word)) kept++;
  return kept / wanted.size;
}

function words(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
}
