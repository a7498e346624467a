/** A random decoder over the letters a to p with a chat template of its own: learns toy rewards in seconds. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedModel } from '../../src/models/lm/load-model.ts';
import { safetensorsChunks } from '../../src/models/lm/safetensors.ts';
import { createTokenizer } from '../../src/models/lm/tokenizer.ts';
import { EMBEDDING, type ModelConfig, modelParameters } from '../../src/nn/model-config.ts';
import { randomWeights, TINY_MODELS } from './tiny-models.ts';

export const LETTERS = 'abcdefghijklmnop';
const END = '<end>';
const TOKENS = [...LETTERS, ' ', END];

export const TOY_CONFIG: ModelConfig = {
  ...TINY_MODELS['llama, tied head'],
  vocabularySize: TOKENS.length,
  hiddenSize: 32,
  intermediateSize: 48,
  heads: 4,
  keyValueHeads: 2,
  headSize: 8,
  maxPositions: 256,
};

export async function toyModel(seed = 1): Promise<LoadedModel> {
  const weights = randomWeights(TOY_CONFIG, seed);
  // An adapter does not reach the head: its rows are long enough for one letter to drown out all others.
  const embedding = weights.get(EMBEDDING)!;
  embedding.set(embedding.map((value) => 1.5 * value));
  const tokenizer = await createTokenizer({
    origin: 'toy',
    json: TOKENIZER_JSON,
    configJson: TOKENIZER_CONFIG,
    endTokens: [TOKENS.indexOf(END)],
  });
  return { path: 'toy', name: 'toy', config: TOY_CONFIG, weights, tokenizer };
}

const TOKENIZER_JSON = {
  version: '1.0',
  added_tokens: [{ id: TOKENS.indexOf(END), content: END, special: true, normalized: false }],
  normalizer: { type: 'Lowercase' },
  pre_tokenizer: { type: 'Split', pattern: { Regex: '.' }, behavior: 'Isolated', invert: false },
  post_processor: null,
  decoder: { type: 'Fuse' },
  model: {
    type: 'BPE',
    vocab: Object.fromEntries(TOKENS.map((token, id) => [token, id])),
    merges: [],
    unk_token: ' ',
    fuse_unk: true,
  },
};
const TOKENIZER_CONFIG = {
  eos_token: END,
  chat_template: "{{ messages[-1]['content'].split('<document>')[1].split('</document>')[0] }}",
};

/** The same model as a Hugging Face folder. */
export async function writeToyFolder(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const { config, weights } = await toyModel();
  const json = (name: string, content: object): void => writeFileSync(join(folder, name), JSON.stringify(content));
  json('config.json', {
    architectures: ['LlamaForCausalLM'],
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    rope_theta: config.ropeTheta,
    rms_norm_eps: config.normEpsilon,
    tie_word_embeddings: true,
    max_position_embeddings: config.maxPositions,
    eos_token_id: TOKENS.indexOf(END),
  });
  json('tokenizer.json', TOKENIZER_JSON);
  json('tokenizer_config.json', TOKENIZER_CONFIG);
  const tensors = modelParameters(config).map(({ name, shape }) => ({ name, shape, values: weights.get(name)! }));
  writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([...safetensorsChunks(tensors)]));
  return folder;
}
