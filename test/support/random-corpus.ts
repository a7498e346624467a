import { arrayCorpus } from '../../src/data/mod.ts';
import type { Rng } from '../../src/kernels/rng.ts';
import type { Corpus, Query } from '../../src/types.ts';

export interface RandomCorpusOptions {
  readonly size: number;
  /** Distinct words; few words make many ties. */
  readonly words: number;
  readonly longest: number;
  /** Share of empty documents and of copies of an earlier one. */
  readonly empty?: number;
  readonly copies?: number;
}

/** Words that no analyzer touches, skewed so that word0 is common and the last ones are rare. */
export function randomWord(rng: Rng, words: number): string {
  return `w${Math.floor(words * rng.next() ** 2).toString(36)}x`;
}

export function randomText(rng: Rng, words: number, longest: number): string {
  return Array.from({ length: rng.int(longest + 1) }, () => randomWord(rng, words)).join(' ');
}

/** Seeded documents with ids in no particular order, empty documents and exact copies among them. */
export function randomCorpus(rng: Rng, options: RandomCorpusOptions): Corpus {
  const { size, words, longest, empty = 0.05, copies = 0.15 } = options;
  const texts: string[] = [];
  for (let i = 0; i < size; i++) {
    const kind = rng.next();
    if (kind < empty) texts.push('');
    else if (kind < empty + copies && i > 0) texts.push(texts[rng.int(i)]);
    else texts.push(randomText(rng, words, longest));
  }
  // Multiplying by a number prime to 10007 scatters the ids without repeating one.
  return arrayCorpus(texts.map((text, i) => ({ id: `d${(i * 7919) % 10007}`, title: '', text })));
}

export function randomQueries(rng: Rng, count: number, words: number, longest: number): Query[] {
  return Array.from({ length: count }, (_, i) => ({ id: `q${i}`, text: randomText(rng, words + 2, longest) }));
}
