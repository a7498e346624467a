/** An index as the commands of this folder use it: opened, with its embedded reranker. */
import { type OpenIndex, openIndex } from '../../index/mod.ts';
import { describeSpec } from '../../src/config/spec-names.ts';
import { openEmbeddedReranker } from '../../src/models/rerankers/mod.ts';
import type { ModelServices } from '../../src/models/services.ts';
import type { Reranker } from '../../src/ports.ts';
import { subReader } from '../../src/store/sub-artefact.ts';
import { type AnalyzerName, createAnalyzer } from '../../src/text/mod.ts';
import type { LexicalSource } from '../pool.ts';
import type { ServedIndex } from '../serve/service.ts';

export interface OpenedIndex extends ServedIndex {
  readonly folder: string;
  readonly embedded: Reranker;
  /** Of the words in `lexical`. */
  readonly analyzer?: AnalyzerName;
}

export async function openServedIndex(folder: string, services: ModelServices = {}): Promise<OpenedIndex> {
  const open = await openIndex(folder, services);
  const { index, corpus, vectors, info, manifest, artefact } = open;
  const embedded = await openEmbeddedReranker(subReader(artefact, 'reranker'), { index, corpus }, vectors?.embedder);
  return {
    folder,
    index,
    corpus,
    vectors,
    lexical: lexicalOf(open),
    analyzer: open.lexical?.analyzer,
    embedded,
    chain: [
      { kind: manifest.kind, fingerprint: manifest.fingerprint },
      // Paths stay here: they are nobody's business beyond this machine.
      ...(info.chain ?? []).map(({ kind, fingerprint }) => ({ kind, fingerprint })),
    ],
    facts: { retriever: describeSpec('retriever', info.retriever), vectors: info.vectors, reranker: info.reranker },
  };
}

/** The words of a collection: of its own lexical retriever, else of the BM25 index that lies beside a dense one. */
function lexicalOf({ index, lexical, corpus }: OpenIndex): LexicalSource | undefined {
  if (lexical === undefined) return undefined;
  return {
    index: lexical.index === index ? undefined : lexical.index,
    analyze: createAnalyzer(lexical.analyzer).analyze,
    textOf: (id) => corpus.indexText(corpus.positionOf(id)!),
  };
}
