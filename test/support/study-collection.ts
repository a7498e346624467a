/** A judged collection on disk whose queries have many relevant documents: topics of twelve, asked for in several words. */
import { createRng } from '../../src/kernels/rng.ts';
import { folderWith, jsonl } from './temp-folder.ts';

export const STUDY_TOPICS = 8;
export const DOCUMENTS_PER_TOPIC = 12;

/** Folder in BEIR layout: 96 documents, two queries a topic with 12 relevant documents each. */
export function studyCollection(seed = 1): string {
  const rng = createRng(seed);
  const word = (topic: number): string => `topic${topic}word${rng.int(10)}`;
  const common = (): string => `common${rng.int(40)}`;
  const text = (topic: number, own: number): string =>
    Array.from({ length: 24 }, (_, i) =>
      i < own ? word(topic) : rng.int(5) === 0 ? word(rng.int(STUDY_TOPICS)) : common(),
    ).join(' ');
  const documents: unknown[] = [];
  const queries: unknown[] = [];
  const judgements = ['query-id\tcorpus-id\tscore'];
  for (let topic = 0; topic < STUDY_TOPICS; topic++) {
    for (let i = 0; i < DOCUMENTS_PER_TOPIC; i++) {
      documents.push({ _id: `d${topic}x${i}`, title: '', text: text(topic, 1 + rng.int(7)) });
    }
    for (let q = 0; q < 2; q++) {
      queries.push({ _id: `q${topic}x${q}`, text: `${word(topic)} ${word(topic)} ${common()}` });
      for (let i = 0; i < DOCUMENTS_PER_TOPIC; i++) judgements.push(`q${topic}x${q}\td${topic}x${i}\t1`);
    }
  }
  return folderWith({
    'corpus.jsonl': jsonl(...documents),
    'queries.jsonl': jsonl(...queries),
    'qrels/test.tsv': `${judgements.join('\n')}\n`,
  });
}
