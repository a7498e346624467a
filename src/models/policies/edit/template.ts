/** A code construct and the words people use for it. */
export interface Template {
  readonly id: string;
  readonly words: readonly string[];
  /** Without the g flag, so that testing leaves no state behind. Linear time on any text. */
  readonly pattern: RegExp;
}

export function template(id: string, words: string, pattern: RegExp): Template {
  return { id, words: words.split(' '), pattern };
}
