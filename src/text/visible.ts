/** Control characters, of which terminal sequences begin, and the marks that turn the reading direction. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Bidi_C}\p{Cs}]/gu;

/**
 * Text of other people's documents, files and names, fit to be printed: what a terminal would obey becomes a visible
 * \uXXXX. In JSON, where such characters stand in strings only, that is the same string written otherwise.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
