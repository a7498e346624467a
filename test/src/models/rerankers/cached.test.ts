import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createCachedReranker, type KeptScore } from '../../../../src/models/rerankers/cached.ts';
import { openJournal } from '../../../../src/store/journal.ts';
import { scoreTableReranker } from '../../../support/score-table-reranker.ts';
import { temporaryFolder } from '../../../support/temp-folder.ts';

const query = { id: 'q', text: 'boats' };
const document = (id: string, text = id) => ({ id, title: '', text });

it('sends each pair once, in this run and in the next ones', async () => {
  const path = join(temporaryFolder(), 'scores.jsonl');
  const table = scoreTableReranker({ a: 0.1, b: 0.2, c: 0.3 });
  const journal = await openJournal<KeptScore>(path);
  const cached = createCachedReranker(table, journal);
  expect(cached.missing(query, [document('a'), document('b')])).toBe(2);
  expect([...(await cached.score(query, [document('a'), document('b')]))]).toEqual([0.1, 0.2]);
  expect([...(await cached.score(query, [document('c'), document('b'), document('a')]))]).toEqual([0.3, 0.2, 0.1]);
  expect(table.calls).toEqual([['a', 'b'], ['c']]);
  expect([cached.sent, cached.found, cached.milliseconds.length]).toEqual([3, 2, 5]);
  await journal.close();

  const again = await openJournal<KeptScore>(path);
  const later = createCachedReranker(table, again);
  expect([...(await later.score(query, [document('a'), document('c')]))]).toEqual([0.1, 0.3]);
  expect([later.sent, later.found]).toEqual([0, 2]);
  expect(table.calls).toHaveLength(2);
  await again.close();
});

it('tells pairs apart by ids and texts, and does not keep what failed or is no probability', async () => {
  const journal = await openJournal<KeptScore>(join(temporaryFolder(), 'scores.jsonl'));
  const table = scoreTableReranker({ a: 0.1, b: null, c: 7 });
  const cached = createCachedReranker(table, journal);
  await cached.score(query, [document('a')]);
  await cached.score(query, [document('a', 'another text')]);
  await cached.score({ id: 'q', text: 'ships' }, [document('a')]);
  await cached.score({ id: 'p', text: 'boats' }, [document('a')]);
  expect(table.calls).toHaveLength(4);
  expect((await cached.score(query, [document('b'), document('c')]))[0]).toBeNaN();
  expect(cached.missing(query, [document('a'), document('b'), document('c')])).toBe(2);
  await journal.close();
});

it('goes on from what a kill left, a line cut in the middle included', async () => {
  const path = join(temporaryFolder(), 'scores.jsonl');
  const table = scoreTableReranker({ a: 0.1, b: 0.2 });
  const journal = await openJournal<KeptScore>(path);
  await createCachedReranker(table, journal).score(query, [document('a')]);
  await journal.close();
  appendFileSync(path, readFileSync(path, 'utf8').slice(0, 20));
  const again = await openJournal<KeptScore>(path);
  const cached = createCachedReranker(table, again);
  expect([...(await cached.score(query, [document('a'), document('b')]))]).toEqual([0.1, 0.2]);
  expect(table.calls).toEqual([['a'], ['b']]);
  await again.close();
});
