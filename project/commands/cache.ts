/** `docopt cache stats|clear`: the answers of services and the vectors of local models that a project keeps. */
import { existsSync, statSync } from 'node:fs';
import { type CommandContext, defineCommand } from '../../src/config/command.ts';
import { cacheClearSchema, cacheStatsSchema } from '../../src/config/schemas/mod.ts';
import { answersPath, vectorsPath } from '../../src/run/wire/command-wire.ts';
import { openResponseCache } from '../../src/store/response-cache.ts';
import { visible } from '../../src/text/visible.ts';

interface Kept {
  readonly what: 'answers' | 'vectors';
  readonly path: string;
  readonly bytesOnDisk: number;
  readonly models: readonly { readonly model: string; readonly entries: number; readonly bytes: number }[];
}

export const cacheStatsCommand = defineCommand({
  name: 'cache stats',
  summary: 'What the project keeps of services and local models, by model.',
  details:
    'Answers of services were paid for; vectors of local models were computed. Both are kept by a hash of what was asked.',
  schema: cacheStatsSchema,
  examples: [
    ['docopt cache stats', 'entries and bytes, by model'],
    ['docopt cache stats --json', 'for scripts'],
    ['docopt cache clear --yes', 'forget the answers'],
  ],
  async run(_options, context) {
    const kept = [await contents('answers', context), await contents('vectors', context)];
    return { json: { caches: kept }, text: visible(kept.map(statsText).join('\n')) };
  },
});

export const cacheClearCommand = defineCommand({
  name: 'cache clear',
  summary:
    'Forgets the answers of services, which will be paid for again; with --vectors also what local models computed.',
  details:
    'Without --yes it only says what would go. The file is rewritten, so that no page of it keeps what was removed.',
  schema: cacheClearSchema,
  examples: [
    ['docopt cache clear', 'what would go'],
    ['docopt cache clear --yes', 'forget the answers'],
    ['docopt cache clear --vectors --yes', 'and the vectors'],
  ],
  async run({ vectors, yes }, context) {
    const kept = [await contents('answers', context), ...(vectors ? [await contents('vectors', context)] : [])];
    for (const { path, models } of yes ? kept : []) {
      if (models.length === 0) continue;
      const cache = await openResponseCache(path, context.log);
      cache.clear();
      cache.close();
    }
    const text = kept.map(statsText).join('\n');
    return {
      json: { cleared: yes, caches: kept },
      text: visible(`${text}\n${yes ? 'cleared' : 'nothing cleared; --yes does it'}`),
    };
  },
});

/** Nothing is made where there is nothing. */
async function contents(what: Kept['what'], { projectFolder, log }: CommandContext): Promise<Kept> {
  const path = what === 'answers' ? answersPath(projectFolder) : vectorsPath(projectFolder);
  if (!existsSync(path)) return { what, path, bytesOnDisk: 0, models: [] };
  const cache = await openResponseCache(path, log);
  try {
    return { what, path, bytesOnDisk: statSync(path).size, models: cache.contents() };
  } finally {
    cache.close();
  }
}

function statsText({ what, path, models }: Kept): string {
  if (models.length === 0) return `${what}: none`;
  const lines = models.map(
    ({ model, entries, bytes }) => `  ${model}: ${entries} entries, ${(bytes / 1e6).toFixed(2)} MB`,
  );
  return [`${what}: ${path}`, ...lines].join('\n');
}
