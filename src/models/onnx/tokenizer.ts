/**
 * The tokenizer of a model folder (`tokenizer.json`). Only its cutting into pieces and its special tokens are used: files
 * carry padding and truncation of whoever exported them (128 or 512 tokens), and here the caller decides on both.
 */
import { DocOptError } from '../../errors.ts';
import { readFolderJson } from './folder-json.ts';

export interface TextTokenizer {
  /** Ids of a text without special tokens, at most `limit` of them; `cut` tells whether there are more. */
  pieces(text: string, limit: number): { readonly ids: readonly number[]; readonly cut: boolean };
  idOf(token: string): number | undefined;
  readonly padId: number;
  /** Special tokens around one text. */
  readonly single: Frame;
  /** And around two: first text between before and between, second between between and after. */
  readonly pair: Frame & { readonly between: readonly SpecialToken[]; readonly secondType: number };
}

export interface SpecialToken {
  readonly id: number;
  readonly type: number;
}

export interface Frame {
  readonly before: readonly SpecialToken[];
  readonly after: readonly SpecialToken[];
  /** Token type of the first text. */
  readonly firstType: number;
}

/** Characters that are tokenized per token that is wanted, before looking further. */
const CHARACTERS_PER_TOKEN = 16;

export async function openTokenizer(folder: string): Promise<TextTokenizer> {
  const json = readFolderJson(folder, 'tokenizer.json');
  if (json === undefined) {
    throw new DocOptError('DATA', `${folder} holds no tokenizer.json`, {
      hint: 'Fast tokenizers only: export it with tokenizer.save_pretrained(), or take it from the model repository.',
    });
  }
  const config = readFolderJson(folder, 'tokenizer_config.json') ?? {};
  const { Tokenizer } = await import('@huggingface/tokenizers');
  let tokenizer: InstanceType<typeof Tokenizer>;
  try {
    tokenizer = new Tokenizer(json, config);
  } catch (cause) {
    throw new DocOptError('DATA', `${folder}/tokenizer.json is not understood: ${(cause as Error).message}`, { cause });
  }
  const encode = (text: string): readonly number[] => {
    const { ids, tokens } = tokenizer.encode(text, { add_special_tokens: false });
    const unknown = ids.findIndex((id: unknown) => typeof id !== 'number');
    if (unknown === -1) return ids;
    throw new DocOptError('DATA', `${folder}/tokenizer.json has no id for '${tokens[unknown]}' and no unknown token`);
  };
  const idOf = (token: string): number | undefined => tokenizer.token_to_id(token);
  return {
    pieces: (text, limit) => piecesOf(encode, text, limit),
    idOf,
    padId: padIdOf(json, config, idOf),
    ...framesOf(tokenizer, folder),
  };
}

/**
 * Long texts are cut at white space first, so that a book costs no more than the tokens that are wanted of it. The pieces of
 * the words before a white space do not depend on what follows it; the last ones are left out of account to be safe.
 */
function piecesOf(
  encode: (text: string) => readonly number[],
  text: string,
  limit: number,
): { readonly ids: readonly number[]; readonly cut: boolean } {
  for (let length = (limit + 16) * CHARACTERS_PER_TOKEN; ; length *= 4) {
    const end = length >= text.length ? -1 : text.slice(length).search(/\s/);
    if (end === -1) {
      const ids = encode(text);
      return { ids: ids.length > limit ? ids.slice(0, limit) : ids, cut: ids.length > limit };
    }
    const ids = encode(text.slice(0, length + end));
    if (ids.length > limit + 8) return { ids: ids.slice(0, limit), cut: true };
  }
}

type LoadedTokenizer = {
  readonly post_processor: unknown;
  token_to_id(token: string): number | undefined;
};

interface PostProcessed {
  readonly tokens: readonly string[];
  readonly token_type_ids?: readonly number[];
}

/** Placeholders for the texts, which no vocabulary holds. */
const FIRST = '\u0000first';
const SECOND = '\u0000second';

/** The special tokens, read off by running the post-processor on placeholders. */
function framesOf(tokenizer: LoadedTokenizer, folder: string): Pick<TextTokenizer, 'single' | 'pair'> {
  const process = tokenizer.post_processor as
    | ((first: string[], second: string[] | null, special: boolean) => PostProcessed)
    | null;
  const special = (token: string, type: number): SpecialToken => {
    const id = tokenizer.token_to_id(token);
    if (id !== undefined) return { id, type };
    throw new DocOptError('DATA', `${folder}/tokenizer.json: its post-processor adds '${token}', which has no id`);
  };
  const run = (second: string[] | null): { tokens: readonly string[]; types: readonly number[] } => {
    const { tokens, token_type_ids } = process?.([FIRST], second, true) ?? { tokens: [FIRST, ...(second ?? [])] };
    return { tokens, types: token_type_ids ?? tokens.map(() => 0) };
  };
  const part = ({ tokens, types }: ReturnType<typeof run>, start: number, end: number): SpecialToken[] =>
    tokens.slice(start, end).map((token, i) => special(token, types[start + i]));
  const one = run(null);
  const two = run([SECOND]);
  const at = one.tokens.indexOf(FIRST);
  const a = two.tokens.indexOf(FIRST);
  const b = two.tokens.indexOf(SECOND);
  return {
    single: { before: part(one, 0, at), after: part(one, at + 1, one.tokens.length), firstType: one.types[at] },
    pair: {
      before: part(two, 0, a),
      between: part(two, a + 1, b),
      after: part(two, b + 1, two.tokens.length),
      firstType: two.types[a],
      secondType: two.types[b],
    },
  };
}

function padIdOf(
  json: Readonly<Record<string, unknown>>,
  config: Readonly<Record<string, unknown>>,
  idOf: (token: string) => number | undefined,
): number {
  const stated = (json.padding as { pad_id?: unknown } | null | undefined)?.pad_id;
  if (typeof stated === 'number') return stated;
  const token = config.pad_token;
  const name = typeof token === 'string' ? token : (token as { content?: unknown } | undefined)?.content;
  return (typeof name === 'string' ? idOf(name) : undefined) ?? idOf('[PAD]') ?? idOf('<pad>') ?? 0;
}
