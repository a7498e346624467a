/**
 * Texts in as few requests as a service takes. What it takes differs from server to server and is seldom said: a refusal
 * for size halves the request, and the half is remembered.
 */
import { DocOptError } from '../../../errors.ts';
import { WireError } from '../../../run/wire/mod.ts';
import { type Part, packBatches } from './parts.ts';

/** What a service takes in one request, lowered by what its refusals teach. */
export interface Caps {
  inputs: number;
  readonly tokens: number;
  /** Whether a full request went through, or a refusal said what would. */
  known: boolean;
}

export function capsOf(limits: { readonly inputs: number; readonly tokens: number }, batchSize?: number): Caps {
  return { inputs: Math.min(batchSize ?? limits.inputs, limits.inputs), tokens: limits.tokens, known: false };
}

/** `ask` answers one thing per part; `take` gets each as it comes. All requests end before the first error passes. */
export async function sendInBatches<P extends Part, A>(
  parts: readonly P[],
  caps: Caps,
  ask: (batch: readonly P[]) => Promise<readonly A[]>,
  take: (part: P, answer: A) => void,
): Promise<void> {
  const send = async (batch: readonly P[]): Promise<void> => {
    try {
      const answers = await ask(batch);
      for (const [i, part] of batch.entries()) take(part, answers[i]);
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      if (batch.length === 1) throw refusedText(error, batch[0].text);
      caps.inputs = Math.min(caps.inputs, Math.ceil(batch.length / 2));
      for (let done = 0; done < batch.length; ) {
        const [next] = packBatches(batch.slice(done), caps);
        await send(next);
        done += next.length;
      }
    }
  };
  const [first, ...others] = packBatches(parts, caps);
  if (first === undefined) return;
  if (others.length === 0 || caps.known) return allOrFirstError([first, ...others].map(send));
  // One request finds out what the server takes; the others are packed by what it taught.
  await send(first);
  caps.known = true;
  await allOrFirstError(packBatches(parts.slice(first.length), caps).map(send));
}

/** A refusal that fewer or shorter texts would not meet. */
function isTooMuch(error: unknown): error is WireError {
  if (!(error instanceof WireError) || error.fault !== 'refused') return false;
  if (error.status === 413) return true;
  return (
    (error.status === 400 || error.status === 422) &&
    /batch|too (many|long|large)|maximum|exceed|limit|length|size|token|at most|inputs?\b/i.test(error.said)
  );
}

function refusedText(error: WireError, text: string): DocOptError {
  const excerpt = JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
  return new DocOptError('UPSTREAM', `${error.message} (for the text ${excerpt} of ${text.length} characters)`, {
    hint: 'Lower maxTokens of the embedder if the text is too long for the model.',
    cause: error,
  });
}

/** All of them end before the first error passes: what they brought is recorded, and nothing runs on unseen. */
async function allOrFirstError(work: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
