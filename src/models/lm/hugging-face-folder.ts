/** A decoder from a Hugging Face folder: config.json, one or more safetensors files, tokenizer.json. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DocOptError } from '../../errors.ts';
import type { ModelConfig, RopeScaling } from '../../nn/model-config.ts';
import { openSafetensors } from './safetensors.ts';
import { type TokenizerFiles, tokenText } from './tokenizer.ts';

type Json = Readonly<Record<string, unknown>>;

const ARCHITECTURES: Readonly<Record<string, ModelConfig['family']>> = {
  LlamaForCausalLM: 'llama',
  Qwen2ForCausalLM: 'qwen2',
  Qwen3ForCausalLM: 'qwen3',
};

export function readJson(path: string): Json {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json;
  } catch (cause) {
    throw new DocOptError('DATA', `${path} does not parse: ${(cause as Error).message}`, {
      hint: 'Get the model folder again.',
      cause,
    });
  }
}

/** Throws DATA for architectures and scalings that are not read. */
export function folderConfig(folder: string): ModelConfig {
  const path = join(folder, 'config.json');
  const json = readJson(path);
  const architecture = String((json.architectures as readonly unknown[] | undefined)?.[0]);
  const family = ARCHITECTURES[architecture];
  if (family === undefined) {
    throw new DocOptError('DATA', `${path}: the architecture '${architecture}' is not read`, {
      hint: `Known: ${Object.keys(ARCHITECTURES).join(', ')}.`,
    });
  }
  const number = (key: string, fallback?: number): number => {
    const value = json[key] ?? fallback;
    if (typeof value === 'number') return value;
    throw new DocOptError('DATA', `${path} lacks ${key}`, { hint: 'Get the model folder again.' });
  };
  const heads = number('num_attention_heads');
  // Newer files keep everything about positions in one block.
  const rope = (json.rope_parameters ?? json.rope_scaling ?? undefined) as Json | undefined;
  return {
    family,
    vocabularySize: number('vocab_size'),
    hiddenSize: number('hidden_size'),
    intermediateSize: number('intermediate_size'),
    layers: number('num_hidden_layers'),
    heads,
    keyValueHeads: number('num_key_value_heads', heads),
    headSize: number('head_dim', number('hidden_size') / heads),
    ropeTheta: Number(json.rope_theta ?? rope?.rope_theta ?? 10_000),
    ropeScaling: scalingOf(rope, path),
    normEpsilon: number('rms_norm_eps', 1e-6),
    tiedHead: json.tie_word_embeddings === true,
    queryKeyNorm: family === 'qwen3',
    queryKeyValueBias: family === 'qwen2' || json.attention_bias === true,
    outputBias: family !== 'qwen2' && json.attention_bias === true,
    feedForwardBias: json.mlp_bias === true,
    maxPositions: number('max_position_embeddings', 2048),
  };
}

function scalingOf(rope: Json | undefined, path: string): RopeScaling | undefined {
  const type = rope?.rope_type ?? rope?.type ?? 'default';
  if (rope === undefined || type === 'default') return undefined;
  if (type === 'linear') return { type, factor: Number(rope.factor) };
  if (type === 'llama3') {
    return {
      type,
      factor: Number(rope.factor),
      lowFrequencyFactor: Number(rope.low_freq_factor),
      highFrequencyFactor: Number(rope.high_freq_factor),
      originalMaxPositions: Number(rope.original_max_position_embeddings),
    };
  }
  throw new DocOptError('DATA', `${path}: positions scaled by '${type}' are not read`, {
    hint: 'Linear scaling and that of Llama 3 are.',
  });
}

/** Paths of the files with the weights. Throws DATA when there is none. */
export function weightFiles(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors') && !name.startsWith('adapter_'));
  if (files.length === 0) {
    throw new DocOptError('DATA', `${folder} holds no safetensors file`, {
      hint: 'Weights in .bin or .pt files are not read: save the model with save_pretrained(..., safe_serialization=True).',
    });
  }
  return files.sort().map((name) => join(folder, name));
}

/** Weights by name, from every safetensors file of the folder; names that `wanted` lacks are skipped unread. */
export async function folderWeights(folder: string, wanted: ReadonlySet<string>): Promise<Map<string, Float32Array>> {
  const weights = new Map<string, Float32Array>();
  for (const path of weightFiles(folder)) {
    const file = await openSafetensors(path);
    try {
      for (const tensor of file.shapes.keys()) if (wanted.has(tensor)) weights.set(tensor, await file.read(tensor));
    } finally {
      await file.close();
    }
  }
  return weights;
}

export function folderTokenizer(folder: string): TokenizerFiles {
  const path = join(folder, 'tokenizer.json');
  if (!existsSync(path)) {
    throw new DocOptError('DATA', `${folder} holds no tokenizer.json`, {
      hint: 'Save it with tokenizer.save_pretrained() of a fast tokenizer.',
    });
  }
  const json = readJson(path);
  const optional = (name: string): Json => (existsSync(join(folder, name)) ? readJson(join(folder, name)) : {});
  const configJson = { ...optional('tokenizer_config.json') };
  const templateFile = join(folder, 'chat_template.jinja');
  if (configJson.chat_template === undefined && existsSync(templateFile)) {
    configJson.chat_template = readFileSync(templateFile, 'utf8');
  }
  const added = (json.added_tokens ?? []) as readonly { id: number; content: string }[];
  const ends = [optional('generation_config.json').eos_token_id, optional('config.json').eos_token_id].flat();
  const named = added.find(({ content }) => content === tokenText(configJson.eos_token))?.id;
  const endTokens = [...ends, named].filter((id): id is number => typeof id === 'number');
  return { origin: folder, json, configJson, endTokens };
}
