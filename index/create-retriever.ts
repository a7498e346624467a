/** Retrievers by their block: the one table of drivers. */
import type { RetrieverSpec } from '../src/config/specs.ts';
import { createEmbedder } from '../src/models/embedders/mod.ts';
import type { ModelServices } from '../src/models/services.ts';
import { createTokenEmbedder } from '../src/models/token-embedders/mod.ts';
import type { Retriever } from '../src/ports.ts';
import { createBm25Retriever } from './retrievers/bm25.ts';
import { createDenseRetriever } from './retrievers/dense.ts';
import { createFusionRetriever } from './retrievers/fusion.ts';
import { createHttpRetriever } from './retrievers/http.ts';
import { createLateInteractionRetriever } from './retrievers/late-interaction.ts';
import { createWinkRetriever } from './retrievers/wink.ts';

export function createRetriever(spec: RetrieverSpec, services: ModelServices = {}): Retriever {
  switch (spec.driver) {
    case 'bm25':
      return createBm25Retriever(spec);
    case 'wink':
      return createWinkRetriever(spec);
    case 'dense':
      return createDenseRetriever({ embedder: createEmbedder(spec.embedder, services) });
    case 'late-interaction':
      return createLateInteractionRetriever({
        embedder: createTokenEmbedder(spec.embedder, services),
        log: services.log,
      });
    case 'http':
      return createHttpRetriever(spec, services);
    case 'fusion':
      return createFusionRetriever({
        ...spec,
        retrievers: spec.retrievers.map((one) => createRetriever(one, services)),
      });
    default:
      throw new Error(`unknown retriever ${spec satisfies never}`);
  }
}
