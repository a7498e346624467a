import { describe, expect, it } from 'vitest';
import { leakedSentences } from '../../../dataset/from-code/leaks.ts';
import { createRng } from '../../../src/kernels/rng.ts';

describe('leakedSentences', () => {
  it('white space, case and the closing stop do not hide a sentence', () => {
    const documents = ['throw new Error("adds  TWO\n numbers!")', 'nothing'];
    expect([...leakedSentences(['Adds two numbers.', 'Adds three numbers.'], documents)]).toEqual([0]);
  });

  it('equals a plain search on random texts', () => {
    const rng = createRng(7);
    const words = ['a', 'ab', 'b', 'ba', 'abc', 'c'];
    const text = (length: number): string => Array.from({ length }, () => words[rng.int(words.length)]).join(' ');
    let hits = 0;
    for (let round = 0; round < 200; round++) {
      const sentences = Array.from({ length: 12 }, () => text(1 + rng.int(5)));
      const documents = Array.from({ length: 4 }, () => `x${text(rng.int(20))}y`);
      const plain = sentences.flatMap((sentence, i) =>
        documents.some((document) => document.includes(sentence)) ? [i] : [],
      );
      const found = [...leakedSentences(sentences, documents)].sort((a, b) => a - b);
      expect(found).toEqual(plain);
      hits += plain.length;
    }
    expect(hits).toBeGreaterThan(200);
    expect(hits).toBeLessThan(2200);
  });
});
