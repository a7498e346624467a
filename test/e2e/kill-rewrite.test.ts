/**
 * kill -9 at random points of a rewrite of 200 documents by a chat server: the resumed corpus is the straight one, byte for byte, and
 * at most what was in flight is asked again. DOCOPT_KILLS=50 for more of them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createRng } from '../../src/kernels/rng.ts';
import { answersPath } from '../../src/run/wire/command-wire.ts';
import { openResponseCache } from '../../src/store/response-cache.ts';
import { finished, run, start, tempFolder } from '../support/cli.ts';
import { startChatService } from '../support/servers/chat-apis.ts';
import type { Service } from '../support/servers/service.ts';

const KILLS = Number(process.env.DOCOPT_KILLS ?? 4);
const DOCUMENTS = 200;
const IN_FLIGHT = 4;

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

it(`a rewrite killed ${KILLS} times goes on from what was recorded`, { timeout: 60_000 + 30_000 * KILLS }, async () => {
  const asked: string[] = [];
  const service = await startChatService(async ({ document }) => {
    asked.push(document);
    await new Promise((resolve) => setTimeout(resolve, 10));
    return { text: `About boats: ${document}` };
  });
  services.push(service);
  const cwd = tempFolder();
  mkdirSync(join(cwd, 'in'));
  const rows = Array.from(
    { length: DOCUMENTS },
    (_, i) => `${JSON.stringify({ _id: `d${i}`, title: '', text: `number ${i} speaks of boats` })}\n`,
  );
  writeFileSync(join(cwd, 'in', 'corpus.jsonl'), rows.join(''));
  const argv = [
    ...['docopt', 'rewrite-corpus', '--corpus', '../in/corpus.jsonl', '--policy', `chat:${service.url}#m`],
    ...[
      '--out',
      'out',
      '--concurrency',
      '1',
      '--batch-size',
      '16',
      '--set',
      `policy.concurrency=${IN_FLIGHT}`,
      '--json',
    ],
  ];
  const recorded = async (project: string): Promise<number> => {
    if (!existsSync(answersPath(join(cwd, project)))) return 0;
    const cache = await openResponseCache(answersPath(join(cwd, project)), { warn: () => {} });
    const entries = cache.contents().reduce((sum, { entries }) => sum + entries, 0);
    cache.close();
    return entries;
  };

  for (const project of ['straight', 'killed']) mkdirSync(join(cwd, project));
  const straight = await run(argv, { cwd: join(cwd, 'straight') });
  expect(straight.stderr).not.toMatch(/^error/im);
  expect(straight.status).toBe(0);
  expect(asked.length).toBe(DOCUMENTS);

  asked.length = 0;
  const rng = createRng(7);
  let killed = 0;
  for (; killed < KILLS; killed++) {
    // The kills share what is left, so that all of them find work to interrupt.
    const before = asked.length;
    const left = DOCUMENTS - (await recorded('killed'));
    const share = Math.max(1, Math.floor((2 * left) / (KILLS - killed + 1)));
    const at = before + 1 + Math.floor(rng.next() * share);
    const child = start(argv, { cwd: join(cwd, 'killed') });
    const end = finished(child);
    let over = false;
    void end.then(() => {
      over = true;
    });
    while (asked.length < at && !over) await new Promise((resolve) => setTimeout(resolve, 1));
    child.kill('SIGKILL');
    if ((await end).signal !== 'SIGKILL') break;
    expect(new Set(asked).size - (await recorded('killed'))).toBeLessThanOrEqual(IN_FLIGHT);
  }
  expect(killed).toBe(KILLS);
  const before = asked.length;
  const left = DOCUMENTS - (await recorded('killed'));
  const resumed = await run(argv, { cwd: join(cwd, 'killed') });
  expect(resumed.status).toBe(0);
  expect(asked.length - before).toBe(left);
  expect(asked.length).toBeLessThanOrEqual(DOCUMENTS + IN_FLIGHT * KILLS);
  const bytes = (project: string): string => readFileSync(join(cwd, project, 'out', 'corpus.jsonl'), 'utf8');
  expect(bytes('killed')).toBe(bytes('straight'));
});
