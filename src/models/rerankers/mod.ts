/** Rerankers by their block. */
import { DocOptError } from '../../errors.ts';
import type { Reranker } from '../../ports.ts';
import type { Qrels } from '../../types.ts';
import type { ModelServices } from '../services.ts';
import { type ApiRerankerOptions, createApiReranker } from './api/api-reranker.ts';
import { type ChatRerankerOptions, createChatReranker } from './api/chat-reranker.ts';
import { createOnnxReranker, type OnnxRerankerOptions } from './onnx.ts';
import { createQrelsReranker } from './qrels.ts';
import { createRecordedReranker } from './recorded.ts';

export { type FitEmbeddedInput, type FittedEmbedded, fitEmbeddedReranker, openEmbeddedReranker } from './embedded.ts';
export { createFeaturesReranker } from './features/features.ts';
export { openFeatures, saveFeatures } from './features/features-file.ts';
export type { FirstStage } from './features/first-stage.ts';
export { type FitFeaturesInput, fitFeatures } from './features/fit-features.ts';
export { describeFeatures, type FeaturesModel } from './features/model.ts';
export { createOnnxReranker, type OnnxReranker, type OnnxRerankerOptions } from './onnx.ts';
export { createQrelsReranker } from './qrels.ts';
export { createRecordedReranker } from './recorded.ts';

export type RerankerBlock =
  | { readonly driver: 'features' }
  | { readonly driver: 'recorded' }
  | { readonly driver: 'qrels'; readonly noise: number; readonly seed: number }
  | ({ readonly driver: 'onnx' } & OnnxRerankerOptions)
  | ApiRerankerOptions
  | ChatRerankerOptions;

/** What the drivers draw on, each present where it exists. */
export interface RerankerSources {
  /** The scorer of the index at hand. */
  readonly embedded?: Reranker;
  /** Scores of the pool at hand. */
  readonly scores?: ReadonlyMap<string, number | null>;
  readonly qrels?: Qrels;
  /** For rerankers that are models of their own. */
  readonly services?: ModelServices;
}

/** Throws USAGE when the driver's source is not there, saying what would provide it. */
export function createReranker(block: RerankerBlock, sources: RerankerSources): Reranker {
  switch (block.driver) {
    case 'features':
      if (sources.embedded !== undefined) return sources.embedded;
      throw missing('features', 'an index that holds a fitted scorer', 'Build one with: docopt index --data DATA ...');
    case 'recorded':
      if (sources.scores !== undefined) return createRecordedReranker(sources.scores);
      throw missing('recorded', "a pool whose documents carry a 'score'", 'Give one with --pool FILE.');
    case 'qrels':
      if (sources.qrels !== undefined) return createQrelsReranker({ ...block, qrels: sources.qrels });
      throw missing(
        'qrels',
        'judgements',
        'It is for studies: morph compare --data DATA --retriever R --reranker qrels.',
      );
    case 'onnx':
      return createOnnxReranker(block, sources.services);
    case 'cohere':
    case 'jina':
    case 'voyage':
    case 'tei':
    case 'vllm':
    case 'infinity':
      return createApiReranker(block, sources.services ?? {});
    case 'chat':
      return createChatReranker(block, sources.services ?? {});
    default:
      throw new Error(`unknown reranker ${block satisfies never}`);
  }
}

function missing(driver: string, what: string, hint: string): DocOptError {
  return new DocOptError('USAGE', `reranker '${driver}' needs ${what}.`, { hint });
}
