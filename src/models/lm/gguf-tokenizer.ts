/** The tokenizer of a GGUF file, from its metadata, as the tokenizer.json that Hugging Face would have for it. */
import { DocOptError } from '../../errors.ts';
import type { GgufFile, GgufValue } from './gguf.ts';
import type { TokenizerFiles } from './tokenizer.ts';

const LETTERS = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]";
const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };

/** GPT-4's rule, with digits in runs of at most `digits`. */
const splitLikeGpt4 = (digits: string): object => ({
  type: 'Sequence',
  pretokenizers: [
    {
      type: 'Split',
      behavior: 'Isolated',
      invert: false,
      pattern: {
        Regex: `(?:${LETTERS})|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
      },
    },
    { ...BYTE_LEVEL, use_regex: false },
  ],
});

/** By llama.cpp's name of the rule that cuts text before merging. */
const PRE_TOKENIZERS: Readonly<Record<string, object>> = {
  'gpt-2': { ...BYTE_LEVEL, use_regex: true },
  default: { ...BYTE_LEVEL, use_regex: true },
  smollm: {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Digits', individual_digits: true },
      { ...BYTE_LEVEL, use_regex: true },
    ],
  },
  'llama-bpe': splitLikeGpt4('{1,3}'),
  qwen2: splitLikeGpt4(''),
};

/** llama.cpp's token types. */
const CONTROL = 3;
const USER_DEFINED = 4;

/** Throws DATA for tokenizers that are not byte-level BPE, or cut text by a rule that is not known here. */
export function ggufTokenizer({ path, metadata }: GgufFile): TokenizerFiles {
  const get = (key: string): GgufValue | undefined => metadata.get(`tokenizer.ggml.${key}`);
  const model = get('model');
  const pre = String(get('pre') ?? 'default');
  const preTokenizer = PRE_TOKENIZERS[pre];
  if (model !== 'gpt2' || preTokenizer === undefined) {
    throw new DocOptError('DATA', `${path}: the tokenizer '${model}' with the rule '${pre}' is not read`, {
      hint: `Byte-level BPE with one of the rules ${Object.keys(PRE_TOKENIZERS).join(', ')} is; else take the model's Hugging Face folder.`,
    });
  }
  const tokens = get('tokens') as readonly string[];
  const types = get('token_type') as readonly number[] | undefined;
  const added = tokens.flatMap((content, id) => {
    const type = types?.[id];
    if (type !== CONTROL && type !== USER_DEFINED) return [];
    return [
      { id, content, special: type === CONTROL, normalized: false, lstrip: false, rstrip: false, single_word: false },
    ];
  });
  const tokenAt = (key: string): string | undefined => {
    const id = get(key);
    return typeof id === 'number' ? tokens[id] : undefined;
  };
  const end = ['eos_token_id', 'eot_token_id'].map(get).filter((id): id is number => typeof id === 'number');
  return {
    origin: path,
    json: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: pre === 'qwen2' ? { type: 'NFC' } : null,
      pre_tokenizer: preTokenizer,
      post_processor: null,
      decoder: BYTE_LEVEL,
      model: {
        type: 'BPE',
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: get('merges'),
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: pre === 'llama-bpe',
      },
    },
    configJson: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      clean_up_tokenization_spaces: false,
      bos_token: tokenAt('bos_token_id'),
      eos_token: tokenAt('eos_token_id'),
      pad_token: tokenAt('padding_token_id'),
      chat_template: metadata.get('tokenizer.chat_template'),
    },
    endTokens: end,
  };
}
