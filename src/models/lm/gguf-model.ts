/** A decoder from a GGUF file: its configuration from the metadata, its weights dequantised and under Hugging Face names. */
import { DocOptError } from '../../errors.ts';
import { EMBEDDING, FINAL_NORM, HEAD, layerPrefix, type ModelConfig, type RopeScaling } from '../../nn/model-config.ts';
import type { GgufFile, GgufValue } from './gguf.ts';

const FAMILIES: Readonly<Record<string, ModelConfig['family']>> = { llama: 'llama', qwen2: 'qwen2', qwen3: 'qwen3' };

/** Throws DATA for architectures that are not read. `ropeFactors` are those of a Llama 3 file. */
export function ggufConfig({ path, metadata, tensors }: GgufFile, ropeFactors?: Float32Array): ModelConfig {
  const architecture = String(metadata.get('general.architecture'));
  const family = FAMILIES[architecture];
  if (family === undefined) {
    throw new DocOptError('DATA', `${path}: the architecture '${architecture}' is not read`, {
      hint: `Decoders of the families ${Object.keys(FAMILIES).join(', ')} are.`,
    });
  }
  const optional = (key: string): GgufValue | undefined => metadata.get(`${architecture}.${key}`);
  const required = (key: string): number => {
    const value = optional(key);
    if (typeof value === 'number') return value;
    throw new DocOptError('DATA', `${path}: the metadata lack ${architecture}.${key}`, { hint: 'Get the file again.' });
  };
  const heads = required('attention.head_count');
  const hiddenSize = required('embedding_length');
  return {
    family,
    vocabularySize: tensors.get('token_embd.weight')?.shape[0] ?? 0,
    hiddenSize,
    intermediateSize: required('feed_forward_length'),
    layers: required('block_count'),
    heads,
    keyValueHeads: Number(optional('attention.head_count_kv') ?? heads),
    headSize: Number(optional('attention.key_length') ?? hiddenSize / heads),
    ropeTheta: Number(optional('rope.freq_base') ?? 10_000),
    ropeScaling: scalingOf(optional('rope.scaling.type'), optional('rope.scaling.factor'), ropeFactors, path),
    // The file has single precision; the shortest decimal that rounds to it is what the model's authors wrote.
    normEpsilon: Number(required('attention.layer_norm_rms_epsilon').toPrecision(7)),
    tiedHead: !tensors.has('output.weight'),
    queryKeyNorm: tensors.has('blk.0.attn_q_norm.weight'),
    queryKeyValueBias: tensors.has('blk.0.attn_q.bias'),
    outputBias: tensors.has('blk.0.attn_output.bias'),
    feedForwardBias: tensors.has('blk.0.ffn_up.bias'),
    maxPositions: required('context_length'),
  };
}

function scalingOf(
  type: GgufValue | undefined,
  factor: GgufValue | undefined,
  ropeFactors: Float32Array | undefined,
  path: string,
): RopeScaling | undefined {
  if (ropeFactors !== undefined) return { type: 'factors', factors: [...ropeFactors] };
  if (type === undefined || type === 'none') return undefined;
  if (type === 'linear') return { type: 'linear', factor: Number(factor) };
  throw new DocOptError('DATA', `${path}: positions scaled by '${type}' are not read`, {
    hint: 'Linear scaling and that of Llama 3 are.',
  });
}

const LAYER_NAMES: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  ffn_norm: 'post_attention_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
};
const TOP_NAMES: Readonly<Record<string, string>> = {
  'token_embd.weight': EMBEDDING,
  'output_norm.weight': FINAL_NORM,
  'output.weight': HEAD,
};

/** Hugging Face's name of a tensor; undefined for tensors that are no weights. */
export function huggingFaceName(name: string): string | undefined {
  const [, layer, part, kind] = /^blk\.(\d+)\.(\w+)\.(weight|bias)$/.exec(name) ?? [];
  if (layer === undefined) return TOP_NAMES[name];
  const known = LAYER_NAMES[part];
  return known === undefined ? undefined : `${layerPrefix(Number(layer))}${known}.${kind}`;
}

/**
 * llama.cpp turns neighbouring dimensions of q and k with each other where Hugging Face turns the two halves of a head, and
 * stores the rows of its `llama` architecture accordingly: here they are put back. In place of a copy: one head at a time.
 */
export function restoreRowOrder(name: string, values: Float32Array | Uint8Array, config: ModelConfig): void {
  if (config.family !== 'llama' || !/self_attn\.[qk]_proj/.test(name)) return;
  const { headSize } = config;
  const heads = name.includes('q_proj') ? config.heads : config.keyValueHeads;
  const width = values.length / (heads * headSize);
  const half = headSize / 2;
  for (let head = 0; head < heads; head++) {
    const start = head * headSize * width;
    const stored = values.slice(start, start + headSize * width);
    for (let i = 0; i < half; i++) {
      for (let j = 0; j < 2; j++) {
        const from = (2 * i + j) * width;
        values.set(stored.subarray(from, from + width), start + (j * half + i) * width);
      }
    }
  }
}
