/** An index as the commands of this folder use it: opened, with its embedded reranker. */
import { openIndex } from '../../index/mod.ts';
import { describeSpec } from '../../src/config/spec-names.ts';
import { openEmbeddedReranker } from '../../src/models/rerankers/mod.ts';
import type { Reranker } from '../../src/ports.ts';
import { subReader } from '../../src/store/sub-artefact.ts';
import type { ServedIndex } from '../serve/service.ts';

export interface OpenedIndex extends ServedIndex {
  readonly folder: string;
  readonly embedded: Reranker;
}

export async function openServedIndex(folder: string): Promise<OpenedIndex> {
  const { index, corpus, vectors, info, manifest, artefact } = await openIndex(folder);
  const embedded = await openEmbeddedReranker(subReader(artefact, 'reranker'), { index, corpus }, vectors?.embedder);
  return {
    folder,
    index,
    corpus,
    vectors,
    embedded,
    chain: [
      { kind: manifest.kind, fingerprint: manifest.fingerprint },
      // Paths stay here: they are nobody's business beyond this machine.
      ...(info.chain ?? []).map(({ kind, fingerprint }) => ({ kind, fingerprint })),
    ],
    facts: { retriever: describeSpec('retriever', info.retriever), vectors: info.vectors, reranker: info.reranker },
  };
}
