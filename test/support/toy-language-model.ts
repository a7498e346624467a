/** A random decoder over the letters a to p with a chat template of its own: learns toy rewards in seconds. */
import type { LoadedModel } from '../../src/models/lm/load-model.ts';
import { createTokenizer } from '../../src/models/lm/tokenizer.ts';
import { EMBEDDING, type ModelConfig } from '../../src/nn/model-config.ts';
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
    json: {
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
    },
    configJson: { chat_template: "{{ messages[-1]['content'].split('<document>')[1].split('</document>')[0] }}" },
    endTokens: [TOKENS.indexOf(END)],
  });
  return { path: 'toy', config: TOY_CONFIG, weights, tokenizer };
}
