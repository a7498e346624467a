/** Token embedders by their block, for late interaction. */
import type { TokenEmbedder } from '../../ports.ts';
import type { ModelServices } from '../services.ts';
import { type ApiTokenEmbedderOptions, apiTokenEmbedder } from './api.ts';
import { type OnnxTokenEmbedderOptions, onnxTokenEmbedder } from './onnx.ts';

export { type OnnxTokenEmbedder, type OnnxTokenEmbedderOptions, openOnnxTokenEmbedder } from './onnx.ts';

export interface TokenEmbedderLoad {
  /** Of the settings, before anything is loaded. */
  readonly id: string;
  load(): Promise<TokenEmbedder>;
}

export type TokenEmbedderBlock = ({ readonly driver: 'onnx' } & OnnxTokenEmbedderOptions) | ApiTokenEmbedderOptions;

export function createTokenEmbedder(block: TokenEmbedderBlock, services: ModelServices = {}): TokenEmbedderLoad {
  switch (block.driver) {
    case 'onnx':
      return onnxTokenEmbedder(block, services);
    case 'tei':
    case 'jina':
      return apiTokenEmbedder(block, services);
    default:
      throw new Error(`unknown token embedder ${block satisfies never}`);
  }
}
