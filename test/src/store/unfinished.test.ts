import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockPath } from '../../../src/store/artefact.ts';
import { journalPath, openJournal } from '../../../src/store/journal.ts';
import { acquireLock } from '../../../src/store/lock.ts';
import { findUnfinished } from '../../../src/store/unfinished.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

async function leave(folder: string, name: string, key: string): Promise<void> {
  const journal = await openJournal<string>(journalPath(join(folder, name)));
  await journal.append([[key, 'text']]);
  await journal.close();
}

describe('findUnfinished', () => {
  it('gives the newest of our own work that nobody finished or is at', async () => {
    const folder = temporaryFolder();
    expect(await findUnfinished(join(folder, 'none'), new Set(['k']))).toBeUndefined();
    await leave(folder, '20260101', 'k');
    await leave(folder, '20260102', 'k');
    await leave(folder, '20260103', 'of other work');
    await leave(folder, '20260104', 'k');
    await leave(folder, '20260105', 'k');
    mkdirSync(join(folder, '20260105'));
    const lock = await acquireLock(lockPath(join(folder, '20260104')), 'at it');
    expect(await findUnfinished(folder, new Set(['k', 'l']))).toBe(join(folder, '20260102'));
    await lock.release();
    expect(await findUnfinished(folder, new Set(['k', 'l']))).toBe(join(folder, '20260104'));
    expect(await findUnfinished(folder, new Set(['m']))).toBeUndefined();
  });
});

describe('locks', () => {
  it('asked for by many at once go to one; a dead one is taken over by one', async () => {
    for (const left of [undefined, '', '{"pid":1073741824,"host":', JSON.stringify({ pid: 2 ** 30, host: 'x' })]) {
      const folder = temporaryFolder();
      const path = join(folder, '.lock');
      // A host of another name may be alive for all we know: only what cannot be read is taken over.
      if (left !== undefined) writeFileSync(path, left);
      const all = await Promise.allSettled(Array.from({ length: 20 }, () => acquireLock(path, 'at it')));
      const got = all.filter(({ status }) => status === 'fulfilled');
      expect(got).toHaveLength(left?.endsWith('}') === true ? 0 : 1);
      for (const one of all) if (one.status === 'fulfilled') await one.value.release();
      if (got.length > 0) expect(readdirSync(folder)).toEqual([]);
    }
  });
});
