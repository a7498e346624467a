/** What a user should hear before a long training begins: whether a step fits, how long it takes, what is cut. */
import type { Prompt } from '../src/types.ts';
import { breathe } from './breathe.ts';
import { sampling } from './rollouts.ts';
import type { Session } from './session.ts';

/** A step on the longest documents, tried out by policies that can; throws what `rehearse` of the policy throws. */
export async function rehearse(session: Session): Promise<void> {
  const { policy, options, log, signal } = session;
  if (policy?.rehearse === undefined) return;
  const { documentsPerStep, groupSize, rollout, seed, steps } = options;
  const prompts = promptsOf(session);
  const cut = await truncatedPrompts(session, prompts);
  if (cut !== null && cut > 0) {
    log.warn(`${cut} of ${prompts.length} documents are longer than the policy reads, and are cut at their end`);
  }
  signal?.throwIfAborted();
  log.info('trying a step on the longest documents');
  const tried = await policy.rehearse(prompts, documentsPerStep, sampling(rollout, groupSize, seed));
  const { passes, rows, promptTokens, seconds, estimatedBytes, peakBytes } = tried;
  const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(2);
  const each = passes * seconds;
  log.info(
    `the longest step: ${passes === 1 ? 'one pass' : `${passes} passes`} of up to ${rows} rows, prompts of up to ${promptTokens} tokens; ` +
      `${each.toFixed(1)} s to learn from it, ${gigabytes(estimatedBytes)} GB beside the model estimated, ${gigabytes(peakBytes)} GB the peak of the process; ` +
      `at most ${((each * steps) / 60).toFixed(0)} minutes for ${steps} steps, without writing and indexing`,
  );
}

/** How many documents are longer than the policy reads; null when it does not say. */
export async function truncatedPrompts(session: Session, prompts = promptsOf(session)): Promise<number | null> {
  const { policy } = session.learner;
  if (policy.truncates === undefined) return null;
  let count = 0;
  for (const [i, prompt] of prompts.entries()) {
    if (i % 64 === 0) await breathe();
    if (policy.truncates(prompt)) count++;
  }
  return count;
}

function promptsOf({ corpus, promptFor }: Session): Prompt[] {
  return corpus.ids.map((id, position) => promptFor({ id, text: corpus.indexText(position) }));
}
