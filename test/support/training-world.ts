/**
 * A small collection on which there is something to learn: documents speak one vocabulary, queries another. Candidate words
 * of class 0 are the document's own query words (worth adding), of class 1 another document's (worth leaving out), of
 * class 2 words that nobody asks for.
 */
import { arrayCorpus } from '../../src/data/mod.ts';
import { createRng } from '../../src/kernels/rng.ts';
import type { Corpus, Qrels, Query } from '../../src/types.ts';
import type { Candidate } from './class-policy.ts';

export interface TrainingWorld {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  readonly splits: { train: string[]; dev: string[]; test: string[] };
  candidatesOf(documentId: string): readonly Candidate[];
}

export function createTrainingWorld(seed: number, documents = 40): TrainingWorld {
  const rng = createRng(seed);
  const corpus = arrayCorpus(
    Array.from({ length: documents }, (_, i) => ({
      id: `d${i}`,
      title: '',
      text: [`thing${i % 7}`, `topic${i % 5}`, `code${i}`, `filler${rng.int(4)}`].join(' '),
    })),
  );
  const queries = Array.from({ length: documents }, (_, i) => ({
    id: `q${i}`,
    text: `ask${i} topic${i % 5} wish${i % 11}`,
  }));
  const qrels = new Map(queries.map(({ id }, i) => [id, new Map([[`d${i}`, 1 + (i % 3)]])]));
  // Some documents answer a second query, less well.
  for (let i = 0; i < documents; i += 4) qrels.get(`q${i}`)!.set(`d${(i + 1) % documents}`, 1);
  const others = Array.from({ length: documents }, () => rng.int(documents));
  return {
    corpus,
    queries,
    qrels,
    splits: {
      train: queries.filter((_, i) => i % 2 === 0).map(({ id }) => id),
      dev: queries.filter((_, i) => i % 4 === 1).map(({ id }) => id),
      test: queries.filter((_, i) => i % 4 === 3).map(({ id }) => id),
    },
    candidatesOf(documentId) {
      const i = Number(documentId.slice(1));
      return [
        { word: `ask${i}`, kind: 0 },
        { word: `wish${i % 11}`, kind: 0 },
        { word: `ask${others[i]}`, kind: 1 },
        { word: `wish${others[i] % 11}`, kind: 1 },
        { word: `noise${i % 3}`, kind: 2 },
      ];
    },
  };
}
