/** A small real index, open for service: BM25 over rewritten texts, lsa vectors of the originals. */
import { createBm25Retriever } from '../../index/retrievers/bm25.ts';
import type { ServedIndex } from '../../select/serve/service.ts';
import { arrayCorpus, corpusWithTexts } from '../../src/data/mod.ts';
import { fitLsa } from '../../src/models/embedders/mod.ts';
import { createAnalyzer } from '../../src/text/mod.ts';
import type { Corpus, Document } from '../../src/types.ts';

const WORDS = ['night', 'sky', 'lamp', 'street', 'moth', 'bird', 'sleep', 'star', 'glare', 'bat', 'turtle', 'beach'];

export const DOCUMENTS: readonly Document[] = Array.from({ length: 40 }, (_, i) => ({
  id: `doc-${i}`,
  title: i === 3 ? '' : `Note ${i}`,
  text: `${WORDS[i % 12]} ${WORDS[(i * 5 + 1) % 12]} light ${WORDS[(i * 7 + 2) % 12]} <b>${i}</b>`,
  metadata: i % 2 === 0 ? { page: i } : undefined,
}));

export async function servedIndex(): Promise<ServedIndex> {
  const originals = arrayCorpus(DOCUMENTS);
  const corpus: Corpus = corpusWithTexts(
    originals,
    DOCUMENTS.map(({ text }) => `${text} pollution`),
  );
  const index = await createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' }).build(
    corpus,
  );
  const texts = DOCUMENTS.map(({ title, text }) => `${title} ${text}`.trim());
  const embedder = fitLsa(texts, { dimensions: 8 });
  const all = await embedder.embed(texts, 'document');
  return {
    corpus,
    index,
    lexical: {
      analyze: createAnalyzer('english').analyze,
      textOf: (id) => corpus.indexText(corpus.positionOf(id)!),
    },
    vectors: {
      documents: async (ids) => {
        const data = new Float32Array(ids.length * all.columns);
        ids.forEach((id, row) => {
          const position = corpus.positionOf(id)!;
          data.set(all.data.subarray(position * all.columns, (position + 1) * all.columns), row * all.columns);
        });
        return { rows: ids.length, columns: all.columns, data };
      },
      queries: (queries) =>
        embedder.embed(
          queries.map(({ text }) => text),
          'query',
        ),
    },
    chain: [
      { kind: 'index', fingerprint: 'abc' },
      { kind: 'corpus', fingerprint: 'def' },
    ],
    facts: { vectors: 'lsa', retriever: 'bm25' },
  };
}
