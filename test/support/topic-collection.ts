/** A small collection with judgements that can be learned from: every topic has words, its documents share some of them. */
import { arrayCorpus } from '../../src/data/mod.ts';
import { createRng } from '../../src/kernels/rng.ts';
import type { Corpus, Document, Qrels, Query } from '../../src/types.ts';

export interface TopicCollection {
  readonly documents: readonly Document[];
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
}

/** `topics` topics of 6 documents and 2 queries each; words of other topics and common words are mixed in. */
export function topicCollection(topics: number, seed: number): TopicCollection {
  const rng = createRng(seed);
  const word = (topic: number) => `topic${topic.toString(36)}w${rng.int(12).toString(36)}`;
  const common = () => `common${rng.int(30).toString(36)}`;
  const words = (topic: number, own: number, other: number, plain: number): string[] => [
    ...Array.from({ length: own }, () => word(topic)),
    ...Array.from({ length: other }, () => word(rng.int(topics))),
    ...Array.from({ length: plain }, common),
  ];
  const documents: Document[] = [];
  const queries: Query[] = [];
  const qrels = new Map<string, Map<string, number>>();
  for (let topic = 0; topic < topics; topic++) {
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) {
      const id = `d${topic}-${i}`;
      const title = i % 2 === 0 ? words(topic, 1, 0, 1).join(' ') : '';
      documents.push({ id, title, text: words(topic, 3 + rng.int(5), rng.int(6), 10 + rng.int(20)).join(' ') });
      ids.push(id);
    }
    for (let i = 0; i < 2; i++) {
      const id = `q${topic}-${i}`;
      queries.push({ id, text: words(topic, 2, 1, 2).join(' ') });
      qrels.set(id, new Map(ids.map((document) => [document, 1])));
    }
  }
  return { documents, corpus: arrayCorpus(documents), queries, qrels };
}
