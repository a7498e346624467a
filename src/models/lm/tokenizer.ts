/** Text to tokens and back, and chats to text: what a model folder or a GGUF file says of both. */
import { DocOptError } from '../../errors.ts';
import type { Message } from '../../types.ts';

export interface LanguageTokenizer {
  /** Special tokens that stand in the text are recognised; none is added. */
  encode(text: string): Int32Array;
  /** Special tokens are left out; bytes that are no UTF-8 come out as U+FFFD. */
  decode(ids: ArrayLike<number>): string;
  /** The chat as the model was trained to see it, up to where its answer begins. */
  renderChat(messages: readonly Message[]): string;
  /** Tokens that end an answer. */
  readonly endTokens: ReadonlySet<number>;
  readonly size: number;
  /** The files it was made from: a model folder that is written carries them. */
  readonly json: object;
  readonly configJson: Readonly<Record<string, unknown>>;
}

export interface TokenizerFiles {
  /** tokenizer.json. */
  readonly json: object;
  /** tokenizer_config.json: chat_template, bos_token, eos_token. */
  readonly configJson: Readonly<Record<string, unknown>>;
  readonly endTokens: readonly number[];
  /** For messages. */
  readonly origin: string;
}

export async function createTokenizer(files: TokenizerFiles): Promise<LanguageTokenizer> {
  const { json, configJson, origin } = files;
  const [{ Tokenizer }, { Template }] = await Promise.all([
    import('@huggingface/tokenizers'),
    import('@huggingface/jinja'),
  ]);
  let tokenizer: InstanceType<typeof Tokenizer>;
  try {
    tokenizer = new Tokenizer(json, configJson);
  } catch (cause) {
    throw new DocOptError('DATA', `${origin}: the tokenizer is not understood: ${(cause as Error).message}`, { cause });
  }
  const template = chatTemplate(configJson);
  const compiled = template === undefined ? undefined : new Template(template);
  return {
    json,
    configJson,
    encode: (text) => Int32Array.from(tokenizer.encode(text, { add_special_tokens: false }).ids),
    decode: (ids) => (ids.length === 0 ? '' : tokenizer.decode(Array.from(ids), { skip_special_tokens: true })),
    renderChat(messages) {
      if (compiled === undefined) {
        throw new DocOptError('DATA', `${origin} has no chat template`, {
          hint: 'Only models that were trained to follow instructions can rewrite; take the Instruct variant.',
        });
      }
      return compiled.render({
        messages: messages.map(({ role, content }) => ({ role, content })),
        add_generation_prompt: true,
        // Qwen3 and its kin think aloud unless told otherwise; a rewrite is to be the answer alone.
        enable_thinking: false,
        bos_token: tokenText(configJson.bos_token),
        eos_token: tokenText(configJson.eos_token),
      });
    },
    endTokens: new Set(files.endTokens),
    size: tokenizer.get_vocab().size,
  };
}

/** Either one template, or several by name of which `default` is meant. */
export function chatTemplate({ chat_template: given }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof given === 'string') return given;
  if (!Array.isArray(given)) return undefined;
  const named = given as { name?: string; template?: string }[];
  return (named.find(({ name }) => name === 'default') ?? named[0])?.template;
}

/** Special tokens are given as text or as an object with the text in it. */
export function tokenText(token: unknown): string {
  if (typeof token === 'string') return token;
  return typeof token === 'object' && token !== null ? String((token as { content?: unknown }).content ?? '') : '';
}
