import type { Rng } from '../src/kernels/rng.ts';
import type { Corpus } from '../src/types.ts';

/** Draws words t0, t1, ... with probability proportional to 1 / rank. */
export function zipfWords(vocabulary: number, rng: Rng): () => string {
  const upTo = new Float64Array(vocabulary);
  let sum = 0;
  for (let rank = 0; rank < vocabulary; rank++) upTo[rank] = sum += 1 / (rank + 1);
  return () => {
    const at = rng.next() * sum;
    let low = 0;
    let high = vocabulary - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (upTo[middle] < at) low = middle + 1;
      else high = middle;
    }
    return `t${low.toString(36)}`;
  };
}

/** `count` different words. */
export function distinctWords(draw: () => string, count: number): string[] {
  const words = new Set<string>();
  while (words.size < count) words.add(draw());
  return [...words];
}

/** A corpus over texts that were made up; ids d0, d1, ... */
export function syntheticCorpus(texts: readonly string[]): Corpus {
  const ids = texts.map((_, i) => `d${i}`);
  return {
    size: texts.length,
    ids,
    positionOf: (id) => {
      const position = Number(id.slice(1));
      return ids[position] === id ? position : undefined;
    },
    original: (position) => ({ id: ids[position], title: '', text: texts[position] }),
    indexText: (position) => texts[position],
  };
}
