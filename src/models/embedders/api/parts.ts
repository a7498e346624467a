/**
 * From texts to what is sent: each distinct text once, with its prompt, well-formed, cut or split to the model's limit. What
 * goes out and what is already on record are decided on these.
 */
import { DocOptError } from '../../../errors.ts';
import type { TokenCounter } from '../../token-counter.ts';
import type { ApiEmbedderOptions } from './options.ts';

/** One text as it is sent. */
export interface Part {
  readonly text: string;
  readonly tokens: number;
}

export interface PreparedTexts {
  /** Distinct, in order of first appearance. */
  readonly parts: readonly Part[];
  /** Per text: positions of its parts; [] = blank, a row of zeros. */
  readonly partsOf: readonly (readonly number[])[];
  readonly blank: number;
  /** How many texts were longer than the limit. */
  readonly overlong: number;
}

/** OpenAI's limit for one input. */
export const MAX_TOKENS = 8192;
const PLACEHOLDER = '[empty]';
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Throws DATA for a blank text under `emptyTexts: error`. */
export function prepareTexts(
  texts: readonly string[],
  role: 'query' | 'document',
  options: ApiEmbedderOptions,
  counter: TokenCounter,
): PreparedTexts {
  const { maxTokens = MAX_TOKENS, overlong: whenOverlong = 'truncate', emptyTexts = 'skip' } = options;
  const prompt = (role === 'query' ? options.queryPrompt : options.documentPrompt) ?? '';
  const parts: Part[] = [];
  const positions = new Map<string, number>();
  let blank = 0;
  let overlong = 0;

  const add = (part: Part): number => {
    const known = positions.get(part.text);
    if (known !== undefined) return known;
    positions.set(part.text, parts.length);
    parts.push(part);
    return parts.length - 1;
  };

  const seen = new Map<string, readonly number[]>();
  const partsOf = texts.map((text, i): readonly number[] => {
    const before = seen.get(text);
    if (before !== undefined) return before;
    const isBlank = text.trim() === '';
    if (isBlank) blank++;
    if (isBlank && emptyTexts === 'error') {
      throw new DocOptError('DATA', `text ${i + 1} of ${texts.length} is empty, and services refuse empty texts`, {
        hint: 'Leave it out, or set emptyTexts to skip (it is never found) or placeholder.',
      });
    }
    if (isBlank && emptyTexts === 'skip') return [];
    // Half a character (a lone surrogate) is no JSON that other languages read.
    const whole = `${prompt}${isBlank ? PLACEHOLDER : text}`.replace(LONE_SURROGATE, '\ufffd');
    const found =
      whenOverlong === 'split' ? counter.split(whole, maxTokens) : [counter.cut(whole, maxTokens)].filter(hasText);
    if (found.length > 1 || (found.length === 1 && found[0].text.length < whole.length)) overlong++;
    const numbers = found.map(add);
    seen.set(text, numbers);
    return numbers;
  });
  return { parts, partsOf, blank, overlong };
}

function hasText({ text }: Part): boolean {
  return text.trim() !== '';
}

/** Parts in as few requests as the limits of inputs and tokens allow, in order. */
export function packBatches<T extends { readonly tokens: number }>(
  parts: readonly T[],
  limits: { readonly inputs: number; readonly tokens: number },
): T[][] {
  const batches: T[][] = [];
  let open: T[] = [];
  let tokens = 0;
  for (const part of parts) {
    if (open.length > 0 && (open.length >= limits.inputs || tokens + part.tokens > limits.tokens)) {
      batches.push(open);
      open = [];
      tokens = 0;
    }
    open.push(part);
    tokens += part.tokens;
  }
  if (open.length > 0) batches.push(open);
  return batches;
}
