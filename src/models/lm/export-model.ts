/** A model for other tools: an adapter added to its base, and a Hugging Face folder that transformers loads. */
import { join } from 'node:path';
import { writeFileAtomic } from '../../data/atomic.ts';
import { DocOptError } from '../../errors.ts';
import { loraNames, loraOn, loraScale } from '../../nn/lora.ts';
import { hasBias, layerPrefix, linearShape, type ModelConfig, modelParameters } from '../../nn/model-config.ts';
import { readJson } from './hugging-face-folder.ts';
import type { LoadedModel } from './load-model.ts';
import type { Adapter, Weights } from './model-parts.ts';
import { safetensorsChunks } from './safetensors.ts';
import { tokenText } from './tokenizer.ts';

/** The weights with alpha / rank * B A added wherever the adapter stands; the others are the base's own arrays. */
export function mergeAdapter(config: ModelConfig, weights: Weights, adapter: Adapter): Map<string, Float32Array> {
  const { rank, targets } = adapter.config;
  const scale = loraScale(adapter.config);
  const merged = new Map(weights);
  for (let layer = 0; layer < config.layers; layer++) {
    if (!loraOn(adapter.config, layer)) continue;
    for (const linear of targets) {
      const prefix = layerPrefix(layer);
      const name = `${prefix}${linear}.weight`;
      const { a, b } = loraNames(linear);
      const [A, B] = [adapter.weights.get(prefix + a)!, adapter.weights.get(prefix + b)!];
      const [outputs, inputs] = linearShape(config, linear);
      const base = weights.get(name)!;
      const sum = new Float32Array(base.length);
      const row = new Float64Array(inputs);
      for (let o = 0; o < outputs; o++) {
        row.fill(0);
        for (let r = 0; r < rank; r++) {
          const factor = scale * B[o * rank + r];
          for (let i = 0; i < inputs; i++) row[i] += factor * A[r * inputs + i];
        }
        for (let i = 0; i < inputs; i++) sum[o * inputs + i] = base[o * inputs + i] + row[i];
      }
      merged.set(name, sum);
    }
  }
  return merged;
}

/** Writes config.json, generation_config.json, model.safetensors (single precision) and the tokenizer; config.json last. */
export async function writeModelFolder(loaded: LoadedModel, weights: Weights, folder: string): Promise<void> {
  const { config, tokenizer } = loaded;
  const json = (name: string, content: object): Promise<void> =>
    writeFileAtomic(join(folder, name), [`${JSON.stringify(content, null, 2)}\n`]);
  const configJson = huggingFaceConfig(loaded);
  await writeFileAtomic(
    join(folder, 'model.safetensors'),
    safetensorsChunks(modelParameters(config).map(({ name, shape }) => ({ name, shape, values: weights.get(name)! }))),
  );
  await json('tokenizer.json', tokenizer.json);
  await json('tokenizer_config.json', tokenizer.configJson);
  const { bos_token_id, eos_token_id, pad_token_id } = configJson;
  await json('generation_config.json', { bos_token_id, eos_token_id, pad_token_id });
  await json('config.json', configJson);
}

type Json = Record<string, unknown>;

/** The base's own file where it has one, else one that says what its metadata said. */
function huggingFaceConfig({ path, config, tokenizer }: LoadedModel): Json {
  if (!path.endsWith('.gguf')) {
    const { torch_dtype: _, quantization_config: __, ...own } = readJson(join(path, 'config.json')) as Json;
    return { ...own, dtype: 'float32' };
  }
  const ids = new Map(addedTokens(tokenizer.json).map(({ content, id }) => [content, id]));
  const idOf = (key: string): number | undefined => ids.get(tokenText(tokenizer.configJson[key]));
  const ends = [...tokenizer.endTokens];
  return {
    architectures: [ARCHITECTURE[config.family]],
    model_type: config.family,
    hidden_act: 'silu',
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    head_dim: config.headSize,
    rms_norm_eps: config.normEpsilon,
    rope_theta: config.ropeTheta,
    rope_scaling: ropeScaling(config, path),
    max_position_embeddings: config.maxPositions,
    tie_word_embeddings: config.tiedHead,
    attention_bias: hasBias(config, 'self_attn.o_proj'),
    mlp_bias: config.feedForwardBias,
    bos_token_id: idOf('bos_token'),
    eos_token_id: ends.length === 1 ? ends[0] : ends,
    pad_token_id: idOf('pad_token'),
    dtype: 'float32',
  };
}

const ARCHITECTURE: Readonly<Record<ModelConfig['family'], string>> = {
  llama: 'LlamaForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
};

function ropeScaling({ ropeScaling: scaling }: ModelConfig, path: string): Json | null {
  if (scaling === undefined) return null;
  if (scaling.type === 'linear') return { rope_type: 'linear', factor: scaling.factor };
  throw new DocOptError(
    'DATA',
    `${path} gives the scaling of positions as bare factors, which no config.json can say`,
    {
      hint: "Train on the model's Hugging Face folder, or export the adapter alone: --adapter DIR.",
    },
  );
}

function addedTokens(json: object): readonly { readonly content: string; readonly id: number }[] {
  return ((json as Json).added_tokens ?? []) as readonly { content: string; id: number }[];
}
