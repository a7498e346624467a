/** The chat model of a study, from --policy. */
import type { CommandContext } from '../../src/config/command.ts';
import type { PolicySpec } from '../../src/config/specs.ts';
import { arrayCorpus } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { createPolicy } from '../../src/models/policies/mod.ts';
import { type Chat, chatOf } from '../study/chat.ts';

/** Policies that rewrite and do not talk. */
const SILENT: readonly string[] = ['identity', 'edit'];

/**
 * undefined when no policy that speaks chat is configured; then USAGE when `needed` names what cannot be done without, else
 * a line in the log.
 */
export async function openChat(
  policy: string | PolicySpec | undefined,
  needed: string | undefined,
  seed: number,
  context: CommandContext,
): Promise<Chat | undefined> {
  const { log } = context;
  if (policy === undefined || typeof policy === 'string' || SILENT.includes(policy.driver)) {
    const found =
      policy === undefined
        ? 'none is configured'
        : `'${typeof policy === 'string' ? policy : policy.driver}' does not talk`;
    if (needed !== undefined) {
      throw new DocOptError('USAGE', `${needed} needs a policy that speaks chat, and ${found}`, {
        hint: 'Name one with --policy (see docopt doctor for what there is), or leave it out.',
      });
    }
    log.info(`without the agentic loop and the audit of peaks: they need a policy that speaks chat, and ${found}`);
    return undefined;
  }
  return chatOf(
    await createPolicy(policy, {
      corpus: arrayCorpus([]),
      analyzer: 'english',
      trainingPairs: [],
      seed,
      services: context,
    }),
  );
}
