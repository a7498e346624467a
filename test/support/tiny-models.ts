/** Random decoders that are small enough for the oracles, one per family. */
import { createRng } from '../../src/kernels/rng.ts';
import { sizeOf } from '../../src/nn/graph.ts';
import { type ModelConfig, modelParameters } from '../../src/nn/model-config.ts';

const LLAMA: ModelConfig = {
  family: 'llama',
  vocabularySize: 23,
  hiddenSize: 8,
  intermediateSize: 12,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headSize: 4,
  ropeTheta: 10_000,
  normEpsilon: 1e-5,
  tiedHead: true,
  queryKeyNorm: false,
  queryKeyValueBias: false,
  outputBias: false,
  feedForwardBias: false,
  maxPositions: 64,
};

export const TINY_MODELS: Readonly<Record<string, ModelConfig>> = {
  'llama, tied head': LLAMA,
  'llama 3: untied head, scaled positions': {
    ...LLAMA,
    tiedHead: false,
    ropeScaling: {
      type: 'llama3',
      factor: 4,
      lowFrequencyFactor: 1,
      highFrequencyFactor: 4,
      originalMaxPositions: 32,
    },
  },
  'qwen 2: biases of q, k and v': { ...LLAMA, family: 'qwen2', queryKeyValueBias: true, headSize: 2, keyValueHeads: 1 },
  'qwen 3: norms of q and k, heads wider than the model': {
    ...LLAMA,
    family: 'qwen3',
    queryKeyNorm: true,
    headSize: 6,
  },
  'llama with every bias': {
    ...LLAMA,
    queryKeyValueBias: true,
    outputBias: true,
    feedForwardBias: true,
    ropeScaling: { type: 'linear', factor: 2 },
  },
};

/** Values as training would see them: norms near 1, matrices that keep the scale of what passes. */
export function randomWeights(config: ModelConfig, seed: number): Map<string, Float32Array> {
  const rng = createRng(seed);
  return new Map(
    modelParameters(config).map(({ name, shape }) => {
      const isNorm = name.endsWith('norm.weight');
      const scale = isNorm ? 0.1 : 1 / Math.sqrt(shape.at(-1)!);
      return [name, Float32Array.from({ length: sizeOf(shape) }, () => (isNorm ? 1 : 0) + scale * rng.normal())];
    }),
  );
}

export function randomTokens(config: ModelConfig, length: number, seed: number): Int32Array {
  const rng = createRng(seed);
  return Int32Array.from({ length }, () => rng.int(config.vocabularySize));
}
