/** Retrievers by their block: the one table of drivers. */
import type { RetrieverSpec } from '../src/config/specs.ts';
import type { Retriever } from '../src/ports.ts';
import { createBm25Retriever } from './retrievers/bm25.ts';
import { createWinkRetriever } from './retrievers/wink.ts';

export function createRetriever(spec: RetrieverSpec): Retriever {
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
