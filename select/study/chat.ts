/** A chat model as studies use one: a prompt in, a text out. Any policy that speaks chat is one. */
import { DocOptError } from '../../src/errors.ts';
import type { Policy } from '../../src/ports.ts';

export type Chat = (prompt: string, options: { readonly maxTokens: number; readonly seed: number }) => Promise<string>;

/** Greedy, one answer. UPSTREAM when there is none. */
export function chatOf(policy: Policy): Chat {
  return async (content, { maxTokens, seed }) => {
    const document = { id: 'study', text: '' };
    const prompts = [{ document, messages: [{ role: 'user' as const, content }] }];
    const [[answer]] = await policy.generate(prompts, { samples: 1, temperature: 0, maxNewTokens: maxTokens, seed });
    if (answer === undefined || answer.finish === 'error') {
      throw new DocOptError('UPSTREAM', `policy '${policy.id}' gave no answer.`, {
        hint: 'Try it alone: docopt doctor.',
      });
    }
    return answer.text;
  };
}

/** The first JSON object of an answer, whatever stands around it; undefined when there is none that parses. */
export function jsonOf(answer: string): Record<string, unknown> | undefined {
  const start = answer.indexOf('{');
  const end = answer.lastIndexOf('}');
  if (start < 0 || end <= start) return undefined;
  try {
    const value: unknown = JSON.parse(answer.slice(start, end + 1));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Documents are data: numbered, cut to size, and fenced so that what they say is not taken for an order. */
export function numbered(texts: readonly string[], characters: number): string {
  return texts
    .map(
      (text, i) =>
        `<document number="${i + 1}">\n${text.slice(0, characters).replaceAll('</document', '<_document')}\n</document>`,
    )
    .join('\n');
}
