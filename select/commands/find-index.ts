/** Which index a command works on: the one that was named, else the latest; made first when only a corpus or a training is there. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { indexCorpus } from '../../index/commands/index.ts';
import { rewriteCorpus } from '../../rewrite/command.ts';
import type { CommandContext } from '../../src/config/command.ts';
import { indexSchema, rewriteCorpusSchema } from '../../src/config/schemas/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { MANIFEST } from '../../src/store/artefact.ts';
import { latest } from '../../src/store/workspace.ts';

/**
 * The folder of --index. Without one: the latest index, unless a corpus was rewritten after it, which is then indexed;
 * with neither, the latest training rewrites its corpus first. Whatever it takes or makes is said aloud. Undefined when
 * there is nothing to start from.
 */
export async function findIndex(given: string | undefined, context: CommandContext): Promise<string | undefined> {
  if (given !== undefined) return given;
  const { projectFolder, log } = context;
  const index = latest(projectFolder, 'index');
  const corpus = latest(projectFolder, 'corpus');
  if (index !== undefined && (corpus === undefined || finishedAt(index) >= finishedAt(corpus))) {
    log.info(`index: ${index} (the latest)`);
    return index;
  }
  if (corpus === undefined) {
    if (latest(projectFolder, 'experiment') === undefined) return undefined;
    log.info('there is no index yet: rewriting the corpus of the latest training first (docopt rewrite-corpus)');
    await rewriteCorpus(rewriteCorpusSchema.parse({}), bare(context));
  }
  log.info('indexing the latest rewritten corpus first (docopt index)');
  return (await indexCorpus(indexSchema.parse({}), bare(context))).folder;
}

export function missingIndex(): DocOptError {
  return new DocOptError('USAGE', 'which index? --index is missing and there is none under .docopt/', {
    hint: 'Build one first: docopt index --data DATA --retriever bm25',
  });
}

/** The same surroundings, without the flags that were meant for this command. */
function bare(context: CommandContext): CommandContext {
  return { ...context, typed: [], given: new Set() };
}

function finishedAt(folder: string): number {
  try {
    return statSync(join(folder, MANIFEST)).mtimeMs;
  } catch {
    return 0;
  }
}
