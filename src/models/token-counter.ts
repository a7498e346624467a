/**
 * Tokens of a text, counted by OpenAI's own encoding where that is what the service uses, and estimated elsewhere. The
 * encoder is quadratic in the length of one word, so texts go through it in pieces that end where a word ends (which changes
 * no token), and a run of more than 512 letters or signs without a break is cut there (which may change a few).
 */
export interface TokenCounter {
  /** false: an estimate by length. */
  readonly exact: boolean;
  count(text: string): number;
  /** The first `limit` tokens of a text, and how many it had where that is known. */
  cut(text: string, limit: number): { readonly text: string; readonly tokens: number; readonly wasCut: boolean };
  /** All of it, in parts of at most `limit` tokens. */
  split(text: string, limit: number): readonly { readonly text: string; readonly tokens: number }[];
}

/** Special tokens in a document are text like any other. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** OpenAI's embedding models all use cl100k_base. */
export async function cl100kCounter(): Promise<TokenCounter> {
  return counterOver(await import('gpt-tokenizer/encoding/cl100k_base'));
}

/** OpenAI's chat models since gpt-4o use o200k_base. */
export async function o200kCounter(): Promise<TokenCounter> {
  return counterOver(await import('gpt-tokenizer/encoding/o200k_base'));
}

type Encoder = Pick<typeof import('gpt-tokenizer/encoding/cl100k_base'), 'countTokens' | 'encode' | 'decode'>;

function counterOver({ countTokens, encode, decode }: Encoder): TokenCounter {
  const count = (piece: string): number => countTokens(piece, AS_TEXT);
  const split = (text: string, limit: number, most = Number.POSITIVE_INFINITY) => {
    const parts: { text: string; tokens: number }[] = [];
    let start = 0;
    let tokens = 0;
    let at = 0;
    for (const piece of pieces(text)) {
      let rest = piece;
      let size = count(rest);
      while (tokens + size > limit) {
        // Cut within this piece; decoding leaves half a character out.
        const head = decode(encode(rest, AS_TEXT).slice(0, limit - tokens));
        const taken = head.length > 0 && rest.startsWith(head) ? head.length : 0;
        at += taken;
        if (at > start) parts.push({ text: text.slice(start, at), tokens: limit });
        if (parts.length >= most || (taken === 0 && at === start)) return parts;
        start = at;
        tokens = 0;
        rest = rest.slice(taken);
        size = count(rest);
      }
      tokens += size;
      at += rest.length;
    }
    if (at > start) parts.push({ text: text.slice(start, at), tokens });
    return parts;
  };
  return {
    exact: true,
    count(text) {
      let sum = 0;
      for (const piece of pieces(text)) sum += count(piece);
      return sum;
    },
    cut(text, limit) {
      const [first] = split(text, limit, 1);
      if (first === undefined) return { text: '', tokens: 0, wasCut: text.length > 0 };
      return { ...first, wasCut: first.text.length < text.length };
    },
    split: (text, limit) => split(text, limit),
  };
}

/** Four bytes a token, as English has it; never cuts: services without a public tokenizer cut for themselves. */
export const estimatingCounter: TokenCounter = {
  exact: false,
  count: (text) => Math.ceil(Buffer.byteLength(text) / 4),
  cut: (text) => ({ text, tokens: estimatingCounter.count(text), wasCut: false }),
  split: (text) => [{ text, tokens: estimatingCounter.count(text) }],
};

const PIECE = 1500;
/** A blank between two words: no token of cl100k reaches over its left side. */
const BREAK = /(?<=[\p{L}\p{N}]) (?=\p{L})/gu;
/** What the encoder would take for one word. */
const LONG_RUN = /\p{L}{512}|[^\s\p{L}\p{N}]{512}|\s{512}/gu;

function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    BREAK.lastIndex = start + PIECE;
    const end = start + PIECE < text.length ? (BREAK.exec(text)?.index ?? text.length) : text.length;
    yield* withoutLongRuns(text.slice(start, end));
    start = end;
  }
}

function* withoutLongRuns(text: string): Generator<string> {
  let start = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    yield text.slice(start, index + run.length);
    start = index + run.length;
  }
  if (start < text.length) yield text.slice(start);
}
