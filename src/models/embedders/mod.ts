/** Embedders by their block, and the ways of having one: ready, fitted on the collection first, or loaded when first needed. */
import type { ArtefactReader, Embedder } from '../../ports.ts';
import type { ModelServices } from '../services.ts';
import { apiEmbedder } from './api/api-embedder.ts';
import type { ApiEmbedderOptions } from './api/options.ts';
import { fitLsa, type LsaOptions, openLsa } from './lsa.ts';
import { type OnnxEmbedderOptions, onnxEmbedder } from './onnx.ts';
import type { Texts } from './term-counts.ts';

export { type EmbeddingEstimate, estimateEmbedding, estimateTokenEmbedding, type TextSource } from './estimate.ts';
export { damaged, readFloat32, writeFloat32 } from './float32-file.ts';
export { fitLsa, type LsaOptions, openLsa } from './lsa.ts';
export type { Texts } from './term-counts.ts';

/** An embedder that exists only once it has seen a collection, and travels inside the index artefact. */
export interface EmbedderFit {
  /** Of the settings: same id and same texts, same embedder. */
  readonly id: string;
  /** Deterministic. `texts` are originals, never rewrites. */
  fit(texts: Texts): Embedder;
  open(artefact: ArtefactReader): Promise<Embedder>;
}

/** An embedder that needs time to be there: a model file to open, a service to be asked for its width. */
export interface EmbedderLoad {
  /** Of the settings, before anything is loaded. */
  readonly id: string;
  /** `dimensions`: known from an index that it made; then nothing has to be asked. */
  load(dimensions?: number): Promise<Embedder>;
}

export type EmbedderSource = Embedder | EmbedderFit | EmbedderLoad;

export type EmbedderBlock =
  | ({ readonly driver: 'lsa' } & LsaOptions)
  | ({ readonly driver: 'onnx' } & OnnxEmbedderOptions)
  | ApiEmbedderOptions;

/** A new driver is a case here; what it needs of the world comes with `services`. */
export function createEmbedder(block: EmbedderBlock, services: ModelServices = {}): EmbedderSource {
  switch (block.driver) {
    case 'lsa': {
      const { driver, ...options } = block;
      const { dimensions = 200, seed = 1, analyzer = 'english' } = options;
      return {
        id: `${driver}(${dimensions},${analyzer},seed=${seed})`,
        fit: (texts) => fitLsa(texts, options),
        open: openLsa,
      };
    }
    case 'onnx':
      return onnxEmbedder(block, services);
    case 'openai':
    case 'cohere':
    case 'voyage':
    case 'jina':
    case 'tei':
      return apiEmbedder(block, services);
    default:
      throw new Error(`unknown embedder ${block satisfies never}`);
  }
}
