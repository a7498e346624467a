/** The index library: retrievers by their block, and what evaluates them. */
import type { RetrieverSpec } from '../src/config/specs.ts';
import type { Embedder, Retriever } from '../src/ports.ts';
import { createBm25Retriever } from './retrievers/bm25.ts';
import { createWinkRetriever } from './retrievers/wink.ts';

export { createBm25Retriever } from './retrievers/bm25.ts';
export { createRebuildRetriever } from './retrievers/rebuild.ts';

/** What a driver needs and cannot make itself. */
export interface RetrieverDeps {
  /** For `dense`: the embedder that its block names. */
  readonly embedder?: Embedder;
}

export function createRetriever(spec: RetrieverSpec, _deps: RetrieverDeps = {}): Retriever {
  switch (spec.driver) {
    case 'bm25':
      return createBm25Retriever(spec);
    case 'wink':
      return createWinkRetriever(spec);
    case 'dense':
      throw new Error(`${spec.driver} is not wired yet`);
    default:
      throw new Error(`unknown retriever ${spec satisfies never}`);
  }
}
