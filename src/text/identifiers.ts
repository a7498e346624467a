/**
 * Identifiers to the words inside them: 'parseHTTPResponse2_json' -> parse, HTTP, Response, 2, json. Boundaries are
 * underscores and other signs, lower to upper case, the last capital of a run before a lower-case letter, and letters
 * to digits. A plural of an acronym stays whole: 'userIDs' -> user, IDs.
 */
const PART =
  /\p{Lu}{2,}s(?![\p{Ll}])|\p{Lu}+(?!\p{Ll})\p{M}*|\p{Lu}?(?:\p{Ll}\p{M}*)+|(?:[\p{Lo}\p{Lt}\p{Lm}]\p{M}*)+|\p{N}+|\p{Lu}/gu;
const ASCII_PART = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[A-Z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly ASCII
const NOT_ASCII = /[^\x00-\x7f]/;

/** The parts in order, in the case they were written in; [] when there is no letter or digit. */
export function splitIdentifier(identifier: string): string[] {
  return identifier.match(NOT_ASCII.test(identifier) ? PART : ASCII_PART) ?? [];
}
