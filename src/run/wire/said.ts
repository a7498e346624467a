/** What a service said, fit to be shown: the message out of whatever shape of error it has, short, and without any key. */
import { redact } from '../redact.ts';

const LONGEST = 300;

/** The one sentence of an error body: `error.message` and its relatives, a web page's title, or the beginning of the text. */
export function saidBy(bytes: Uint8Array, secrets: readonly string[]): string {
  const text = new TextDecoder().decode(bytes.subarray(0, 100_000)).trim();
  if (text === '') return '';
  return shorten(scrub(messageOf(text), secrets));
}

function messageOf(text: string): string {
  if (text.startsWith('<')) {
    const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
    return title === undefined || title === '' ? 'a web page' : `a web page titled '${title}'`;
  }
  try {
    return messageIn(JSON.parse(text)) ?? text;
  } catch {
    return text;
  }
}

/** OpenAI, Anthropic, Cohere: error.message or message; FastAPI: detail (text, or a list of {msg}); TEI: error. */
function messageIn(body: unknown, depth = 0): string | undefined {
  if (typeof body === 'string') return body;
  if (typeof body !== 'object' || body === null || depth > 3) return undefined;
  if (Array.isArray(body)) return messageIn(body[0], depth + 1);
  for (const key of ['message', 'error', 'detail', 'msg', 'title', 'error_message']) {
    const found = messageIn((body as Record<string, unknown>)[key], depth + 1);
    if (found !== undefined && found !== '') return found;
  }
  return undefined;
}

/** `error.code` or `error.type`, where a body has one: 'insufficient_quota'. */
export function errorCodeIn(bytes: Uint8Array): string {
  try {
    const body = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const error = (typeof body.error === 'object' && body.error !== null ? body.error : body) as Record<
      string,
      unknown
    >;
    return String(error.code ?? error.type ?? '');
  } catch {
    return '';
  }
}

/** Values of this request, what is registered, and whatever looks like a key even in part (services quote half of one). */
export function scrub(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
      if (form.length >= 4) clean = clean.replaceAll(form, '[redacted]');
    }
  }
  return redact(clean)
    .replace(/\bBearer\s+[^\s"',;]+/gi, 'Bearer [redacted]')
    .replace(/\b(?:sk|pk|rk|pa|hf|jina|co)[-_][\w*.-]{6,}/g, '[redacted]');
}

/** Header values that are nobody's business: keys, and what stands behind `Bearer`. */
export function secretsIn(headers: Headers): string[] {
  const found: string[] = [];
  for (const [name, value] of headers) {
    if (!/authorization|key|token|secret|cookie/i.test(name)) continue;
    found.push(value, value.replace(/^(Bearer|Basic|Token)\s+/i, ''));
  }
  return found.filter((value) => value !== '');
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 3)}...` : line;
}
