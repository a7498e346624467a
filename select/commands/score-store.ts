/** Where the scores of a study are kept: one journal a reranker, `.docopt/scores/DRIVER-FINGERPRINT.jsonl`. */
import { join } from 'node:path';
import type { CommandContext } from '../../src/config/command.ts';
import { makeFolder } from '../../src/data/mod.ts';
import { type CachedReranker, createCachedReranker, type KeptScore } from '../../src/models/rerankers/cached.ts';
import type { Reranker } from '../../src/ports.ts';
import { fingerprintStrings } from '../../src/store/fingerprint.ts';
import { openJournal } from '../../src/store/journal.ts';
import { acquireLock } from '../../src/store/lock.ts';

export interface ScoreStore {
  readonly reranker: CachedReranker;
  /** Says how many calls were made and how many had been paid for. */
  report(): void;
  close(): Promise<void>;
}

/** `scope`: what the scores depend on beside the pair; another scope is another file. One study at a time writes to it. */
export async function openScoreStore(
  scope: readonly string[],
  reranker: Reranker,
  folder: string | undefined,
  { projectFolder, log }: CommandContext,
): Promise<ScoreStore> {
  const place = folder ?? join(projectFolder, '.docopt', 'scores');
  await makeFolder(place);
  const name = reranker.id
    .replace(/[^\w.-]+/g, '_')
    .replace(/^[._-]+|[._-]+$/g, '')
    .slice(0, 40);
  const path = join(place, `${name || 'reranker'}-${fingerprintStrings(scope).slice(0, 16)}.jsonl`);
  const lock = await acquireLock(`${path}.lock`, `scoring with ${reranker.id}`);
  const journal = await openJournal<KeptScore>(path).catch(async (error) => {
    await lock.release();
    throw error;
  });
  if (journal.recovered > 0) log.info(`${journal.recovered} scores of earlier studies in ${path}`);
  const cached = createCachedReranker(reranker, journal);
  return {
    reranker: cached,
    report: () => log.info(`${cached.id}: ${cached.sent} calls made, ${cached.found} scores found`),
    async close() {
      await journal.close();
      await lock.release();
    },
  };
}
