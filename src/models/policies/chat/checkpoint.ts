/** A chat policy in a folder: chat.json with all that it is, and lessons.txt for people. Keys are never in it. */
import { policySchema } from '../../../config/specs.ts';
import { DocOptError } from '../../../errors.ts';
import type { ArtefactReader, ArtefactWriter, Policy } from '../../../ports.ts';
import type { ModelServices } from '../../services.ts';
import { type ChatPolicy, createChatPolicy, type SettledChatSpec } from './chat-policy.ts';

const FILE = 'chat.json';
/** Of the format of that file. */
const FORMAT = 1;

export function isChatPolicy(policy: Policy): policy is ChatPolicy {
  return 'recordKey' in policy && 'lessons' in policy;
}

export async function saveChatPolicy(artefact: ArtefactWriter, policy: ChatPolicy): Promise<void> {
  const { spec, lessons } = policy;
  await artefact.write(FILE, `${JSON.stringify({ format: FORMAT, spec, lessons }, null, 2)}\n`);
  await artefact.write('lessons.txt', lessons.map((lesson) => `${lesson}\n`).join(''));
}

/** undefined when the folder holds no chat policy. Throws ARTEFACT for one that is damaged or newer. */
export async function openChatPolicy(
  artefact: ArtefactReader,
  services: ModelServices,
): Promise<ChatPolicy | undefined> {
  if (!artefact.has(FILE)) return undefined;
  const saved = await artefact.readJson<{ format?: unknown; spec?: unknown; lessons?: unknown }>(FILE);
  const spec = policySchema.safeParse(saved.spec);
  const { lessons } = saved;
  if (
    saved.format !== FORMAT ||
    !spec.success ||
    !('domain' in spec.data) ||
    spec.data.domain === 'auto' ||
    !Array.isArray(lessons) ||
    lessons.some((lesson) => typeof lesson !== 'string')
  ) {
    throw new DocOptError('ARTEFACT', `${artefact.path(FILE)} is no chat policy of this version`, {
      hint: 'It is damaged, or was written by a newer version.',
    });
  }
  return createChatPolicy(spec.data as SettledChatSpec, services, lessons as string[]);
}
