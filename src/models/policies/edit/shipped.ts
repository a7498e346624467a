import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Corpus } from '../../../types.ts';

/** Weights that come with the package, for code without labels. `scripts/train-shipped.mjs` makes them. */
export interface ShippedWeights {
  readonly name: string;
  /** What they were trained on, under which licence. Results on these collections are void. */
  readonly trainedOn: readonly {
    readonly name: string;
    readonly licence: string;
    readonly source: string;
    /** textMark of each document: knows the collection again in any order and file format. */
    readonly documents: readonly string[];
  }[];
  readonly weights: Readonly<Record<string, number>>;
}

let shipped: ShippedWeights | undefined;

export function shippedWeights(): ShippedWeights {
  shipped ??= JSON.parse(readFileSync(fileURLToPath(new URL('./shipped.json', import.meta.url)), 'utf8'));
  return shipped as ShippedWeights;
}

/** Eight hex digits that stand for a text, white space aside. */
export function textMark(text: string): string {
  return createHash('sha256').update(text.replace(/\s+/g, ' ').trim()).digest('hex').slice(0, 8);
}

/** Above this share of a corpus' documents among those trained on, figures measured on it say nothing. */
const VOID_SHARE = 0.1;

/** What must be said of a policy that started from the shipped weights on this corpus: that figures on it are void. */
export function shippedNotes(policyId: string, corpus: Corpus): string[] {
  if (!policyId.startsWith('edit(shipped')) return [];
  const marks = Array.from({ length: corpus.size }, (_, i) => textMark(corpus.indexText(i)));
  return shippedWeights().trainedOn.flatMap(({ name, documents }) => {
    const known = new Set(documents);
    const share = marks.filter((mark) => known.has(mark)).length / Math.max(1, marks.length);
    if (share <= VOID_SHARE) return [];
    const percent = Math.round(100 * share);
    return `the shipped weights were trained on ${name}, and ${percent} % of these documents are from it: figures measured here are void`;
  });
}
