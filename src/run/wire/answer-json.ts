/**
 * JSON as services send it. Two things JSON.parse lets pass or refuses badly are told apart here: a key that occurs twice
 * in one object (which of the two is meant?) is no answer, and a bare NaN (which Python writes) becomes null, so that the
 * check of the values can name the text that it stands for.
 */
export type ParsedAnswer =
  /** `mended`: there was a bare NaN. */
  | { readonly ok: true; readonly body: unknown; readonly mended: boolean }
  | { readonly ok: false; readonly reason: string };

export function parseAnswer(bytes: Uint8Array): ParsedAnswer {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { ok: false, reason: 'bytes that are no UTF-8' };
  }
  const trimmed = text.trimStart();
  if (trimmed === '') return { ok: false, reason: 'nothing' };
  if (trimmed.startsWith('<')) return { ok: false, reason: 'a web page where JSON was expected' };
  const plain = tryParse(text);
  const body = plain ?? tryParse(text.replace(BARE, '$1null'));
  if (body === undefined) return { ok: false, reason: 'JSON that is broken or cut off' };
  const twice = duplicateKey(text);
  return twice === undefined
    ? { ok: true, body: body.value, mended: plain === undefined }
    : { ok: false, reason: `JSON in which the key '${twice.slice(0, 40)}' stands twice in one object` };
}

const BARE = /([:[,]\s*)-?(?:NaN|Infinity)(?=\s*[,\]}])/g;

function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const QUOTE = 34;
const BACKSLASH = 92;

/** The first key that one object has twice; `text` parses. Jumps over numbers and texts. */
function duplicateKey(text: string): string | undefined {
  const marks = /["{}[\],]/g;
  /** Keys of the objects around the place, undefined for lists. */
  const around: (Set<string> | undefined)[] = [];
  let expectsKey = false;
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    switch (found[0]) {
      case '{':
        around.push(new Set());
        expectsKey = true;
        break;
      case '[':
        around.push(undefined);
        expectsKey = false;
        break;
      case '}':
      case ']':
        around.pop();
        expectsKey = false;
        break;
      case ',':
        expectsKey = around.at(-1) !== undefined;
        break;
      default: {
        const end = endOfText(text, found.index);
        if (expectsKey) {
          const key = text.slice(found.index + 1, end);
          const keys = around.at(-1);
          if (keys?.has(key) === true) return key;
          keys?.add(key);
          expectsKey = false;
        }
        marks.lastIndex = end + 1;
      }
    }
  }
  return undefined;
}

/** Where the text that opens at `start` closes. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    if (at < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0 && text.charCodeAt(at) === QUOTE) return at;
  }
}
