/**
 * What may not replace a document in the index: nothing at all, a runaway, a text that lost most of the original, or one in
 * another language.
 * Guards see texts only; they hold for every policy.
 */
import { languageChange } from '../src/text/language.ts';

export type GuardAction = 'keep' | 'retry' | 'fail' | 'allow';

export interface GuardOptions {
  readonly onEmpty: GuardAction;
  readonly onOverlong: GuardAction;
  readonly onDropped: GuardAction;
  /** A link or an address that the original does not have; default: keep. */
  readonly onLinks?: GuardAction;
  /** The rewrite, or what it adds, is in another language, as far as script and common words tell; default: keep. */
  readonly onLanguage?: GuardAction;
  /** The policy was cut off at its limit; a retry has twice the room. Default: allow, judged by its text. */
  readonly onTruncated?: GuardAction;
  /** The policy refused, or its service's filter did; default: retry. */
  readonly onRefused?: Exclude<GuardAction, 'allow'>;
  /** Overlong = more than this many times the original's characters, and more than `overlongFloor`. */
  readonly maxGrowth: number;
  /** Dropped = fewer than this share of the original's distinct words are left. */
  readonly minKept: number;
}

export interface Violation {
  readonly guard: 'empty' | 'overlong' | 'language' | 'dropped' | 'links';
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
  const { onLanguage = 'keep' } = options;
  if (onLanguage !== 'allow') {
    const reason = languageChange(original, rewrite);
    if (reason !== undefined) return { guard: 'language', action: onLanguage, reason };
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
  const { onLinks = 'keep' } = options;
  if (onLinks !== 'allow') {
    const link = newLink(original, rewrite);
    if (link !== undefined)
      return { guard: 'links', action: onLinks, reason: 'a link that the original does not have' };
  }
  return undefined;
}

const LINK = /\b(?:https?:\/\/|www\.)[^\s<>"'`)\]}]+|\b[\w.+-]+@[\w-]+\.[\w.-]*\w/gi;

/** The first link or mail address of `rewrite` that does not occur in `original`. */
export function newLink(original: string, rewrite: string): string | undefined {
  const known = original.toLowerCase();
  for (const [link] of rewrite.matchAll(LINK)) {
    const bare = link.toLowerCase().replace(/[.,;:!?]+$/, '');
    if (!known.includes(bare)) return bare;
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
