/** How long documents are before and after, in words (DocOpt Fig. 3). */
import type { LengthStatistics } from './types.ts';

/** Lengths are spread over orders of magnitude: bins grow by half of the last. */
const FIRST_EDGE = 8;
const GROWTH = 1.5;

export interface NamedTexts {
  readonly name: string;
  readonly texts: readonly string[];
}

/** `systems[0]` are the originals. */
export function lengthStatistics(systems: readonly NamedTexts[]): LengthStatistics {
  const lengths = systems.map(({ texts }) => Float64Array.from(texts, wordCount));
  let longest = 0;
  for (const one of lengths) for (const value of one) longest = Math.max(longest, value);
  const edges = [0];
  for (let edge = FIRST_EDGE; edge <= longest; edge *= GROWTH) edges.push(Math.round(edge));
  const last = systems.at(-1)!.texts;
  return {
    edges,
    systems: systems.map(({ name }, i) => {
      const sorted = lengths[i].slice().sort();
      const counts = new Array<number>(edges.length).fill(0);
      let bin = 0;
      for (const value of sorted) {
        while (bin + 1 < edges.length && value >= edges[bin + 1]) bin++;
        counts[bin]++;
      }
      const mean = sorted.reduce((sum, value) => sum + value, 0) / Math.max(1, sorted.length);
      return { name, mean, quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)], counts };
    }),
    changed: last.reduce((count, text, i) => count + (text === systems[0].texts[i] ? 0 : 1), 0),
    documents: last.length,
  };
}

/** Runs of anything but white space. */
function wordCount(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(/\S+/gu)) count++;
  return count;
}

/** By linear interpolation between the neighbours. */
function quantile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return 0;
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  return sorted[below] + (at - below) * (sorted[Math.ceil(at)] - sorted[below]);
}
