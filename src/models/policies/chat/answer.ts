/** From what a model said to what may be indexed: the form removed, the thinking removed, the marker lines removed. */
import type { Completion } from '../../../types.ts';

/** One answer of an API, before anything is made of it. */
export interface RawAnswer {
  /** The answer alone: reasoning items and thinking blocks are left behind by the reader of each API. */
  readonly text: string;
  readonly finish: Completion['finish'];
  readonly usage: AnswerUsage;
}

export interface AnswerUsage {
  /** All input tokens, those of the cache among them. */
  readonly input: number;
  /** Of these, read from the vendor's prompt cache. */
  readonly cached: number;
  /** Of these, written to it. */
  readonly cacheWritten: number;
  /** All output tokens, those of thinking among them. */
  readonly output: number;
  readonly thinking: number;
}

/** See prompts.ts; a model that repeats its own fence means nothing by it. */
const MARKER_LINE = /<<<(?:DOCUMENT|END) [0-9a-f]{24}>>>\n?/g;

/** The text that the model meant, '' when there is none. */
export function textOf(said: string, form: { readonly structured: boolean }): string {
  let text = withoutThinking(said).trim();
  // A model that answers in plain words all the same is understood; half an object is not.
  if (form.structured) text = jsonText(text) ?? (text.startsWith('{') ? '' : text);
  text = text.replaceAll(MARKER_LINE, '');
  return withoutFence(text).trim();
}

/**
 * Reasoning models behind a plain server think aloud in tags before they answer. Whatever stands before the last closing tag
 * is thinking; with an opening tag alone, all of it is (it was cut before the answer began).
 */
function withoutThinking(text: string): string {
  for (const tag of ['think', 'thinking', 'reasoning', 'thought']) {
    const opens = text.trimStart().startsWith(`<${tag}>`);
    const close = text.indexOf(`</${tag}>`);
    if (opens && close < 0) return '';
    // Templates that open the tag themselves leave only the closing one in the answer.
    if (close >= 0 && (opens || !text.slice(0, close).includes(`<${tag}>`))) {
      return withoutThinking(text.slice(close + tag.length + 3));
    }
  }
  return text;
}

function jsonText(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(withoutFence(text).trim());
    if (typeof value !== 'object' || value === null) return undefined;
    const found = (value as { text?: unknown }).text;
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** A code fence around the whole answer is form; one within it is content. */
function withoutFence(text: string): string {
  const match = /^\s*```[\w+-]*\n([\s\S]*)\n```\s*$/.exec(text);
  return match === null || match[1].includes('```') ? text : match[1];
}
