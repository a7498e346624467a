import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openScoreStore } from '../../../select/commands/score-store.ts';
import { createStudyGroup } from '../../../select/commands/study-group.ts';
import { openSubjects } from '../../../select/commands/study-subjects.ts';
import type { SubjectOptions } from '../../../select/commands/subject-options.ts';
import { measureGroup } from '../../../select/study/measure.ts';
import { parseSystem } from '../../../select/study/systems.ts';
import type { CommandContext } from '../../../src/config/command.ts';
import { morphDoctorSchema } from '../../../src/config/schemas/study.ts';
import type { Reranker } from '../../../src/ports.ts';
import { silentLog } from '../../../src/run/log.ts';
import { studyCollection } from '../../support/study-collection.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const POOL = 30;

/** A reranker whose every pair costs: it counts them, and stops the study after so many. */
function costlyReranker(stopAfter: number, stop: () => void): Reranker & { readonly pairs: string[] } {
  const pairs: string[] = [];
  return {
    id: 'costly',
    pairs,
    async score(query, documents) {
      for (const { id } of documents) pairs.push(`${query.id} ${id}`);
      if (pairs.length >= stopAfter) stop();
      return Float64Array.from(documents, ({ id }) => (id.length + Number(id.slice(-1))) / 20);
    },
  };
}

it('a study that is stopped goes on from its scores, pays for each pair once, and ends as the straight one does', async () => {
  const data = studyCollection();
  const project = temporaryFolder();
  const options = morphDoctorSchema.parse({ data, retriever: [{ driver: 'bm25' }], pool: POOL }) as SubjectOptions;
  const study = async (reranker: Reranker, signal: AbortSignal, cache: string | undefined) => {
    const context = { log: silentLog, signal, projectFolder: project, env: {} } as unknown as CommandContext;
    for await (const subject of openSubjects(options, context)) {
      const store = await openScoreStore(['costly'], reranker, cache, context);
      try {
        const queries = subject.dataset.queries.slice(0, 5);
        const group = createStudyGroup(
          subject,
          queries,
          { name: 'costly', reranker: store.reranker, timed: true },
          { ...options, batchSize: 8 },
          context,
        );
        const systems = [parseSystem('boundary-morph', { seed: 1, sweep: false })];
        return (await measureGroup(group, { systems, budgets: [6], capacities: [5] })).cells;
      } finally {
        await store.close();
      }
    }
    return [];
  };
  const plain = (cells: Awaited<ReturnType<typeof study>>) =>
    cells.map(({ metric, perQuery }) => ({ metric, perQuery }));

  const controller = new AbortController();
  const first = costlyReranker(70, () => controller.abort());
  await expect(study(first, controller.signal, undefined)).rejects.toMatchObject({
    code: 'INTERRUPTED',
    hint: /again/,
  });
  expect(first.pairs.length).toBeLessThan(5 * POOL);

  const second = costlyReranker(Number.POSITIVE_INFINITY, () => {});
  const resumed = await study(second, new AbortController().signal, undefined);
  expect(new Set([...first.pairs, ...second.pairs]).size).toBe(first.pairs.length + second.pairs.length);
  expect(readdirSync(join(project, '.docopt', 'scores'))).toEqual([
    expect.stringMatching(/^costly-[0-9a-f]{16}\.jsonl$/),
  ]);

  const straight = costlyReranker(Number.POSITIVE_INFINITY, () => {});
  const whole = await study(straight, new AbortController().signal, temporaryFolder());
  expect(straight.pairs.length).toBe(first.pairs.length + second.pairs.length);
  expect(plain(resumed)).toEqual(plain(whole));

  const third = costlyReranker(Number.POSITIVE_INFINITY, () => {});
  await study(third, new AbortController().signal, undefined);
  expect(third.pairs).toEqual([]);
});
