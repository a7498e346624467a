import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../../src/store/ledger.ts';
import { cacheKey, memoryCache, openResponseCache } from '../../../src/store/response-cache.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const quiet = { warn: () => {} };
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('answers on record', () => {
  it('are there for whoever opens the file next, and for others at the same time', async () => {
    const path = join(temporaryFolder(), 'cache', 'answers.db');
    const first = await openResponseCache(path, quiet);
    const second = await openResponseCache(path, quiet);
    first.put(
      [
        ['a', bytes(1, 2)],
        ['b', bytes()],
      ],
      'model-x',
    );
    expect([...second.get('a')!]).toEqual([1, 2]);
    expect(second.get('b')!.length).toBe(0);
    expect(second.get('c')).toBeUndefined();
    second.put([['a', bytes(3)]], 'model-y');
    first.close();
    second.close();
    const third = await openResponseCache(path, quiet);
    expect([...third.get('a')!]).toEqual([3]);
    expect(third.contents()).toEqual([
      { model: 'model-x', entries: 1, bytes: 0 },
      { model: 'model-y', entries: 1, bytes: 1 },
    ]);
    third.clear();
    expect(third.get('a')).toBeUndefined();
    third.close();
  });

  it('begin anew beside a damaged file, with a warning', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'answers.db');
    writeFileSync(path, 'this is no database at all. '.repeat(200));
    const warnings: string[] = [];
    const cache = await openResponseCache(path, { warn: (message) => void warnings.push(message) });
    cache.put([['a', bytes(1)]], 'm');
    expect([...cache.get('a')!]).toEqual([1]);
    cache.close();
    expect(warnings.join()).toMatch(/damaged/);
    expect(readdirSync(folder).some((name) => name.startsWith('answers.db.damaged-'))).toBe(true);
  });

  it.skipIf(process.getuid?.() === 0)('last for the run where nothing can be written', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o500);
    const warnings: string[] = [];
    const cache = await openResponseCache(join(folder, 'x', 'answers.db'), { warn: (m) => void warnings.push(m) });
    cache.put([['a', bytes(1)]], 'm');
    expect([...cache.get('a')!]).toEqual([1]);
    expect(warnings).toHaveLength(1);
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });

  it('have keys that depend on every part and where it ends', () => {
    const keys = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['a', 'b', 'c'], [1, 'x'], [11, 'x']].map((parts) =>
      cacheKey(...parts),
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(cacheKey('é')).toBe(cacheKey(new TextEncoder().encode('é')));
    expect(memoryCache().contents()).toEqual([]);
  });
});

describe('the ledger of a project', () => {
  it('holds a cap over several processes, and counts what a dead one had reserved', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const [first, second] = [await openLedger(path), await openLedger(path)];
    const one = first.reserve(0.6, 'a', 1)!;
    expect(second.reserve(0.6, 'b', 1)).toBeUndefined();
    first.settle(one, 0.1);
    const two = second.reserve(0.6, 'b', 1)!;
    expect(two).toBeDefined();
    expect(first.total()).toBeCloseTo(0.7, 12);
    second.close();
    expect(first.reserve(0.4, 'c', 1)).toBeUndefined();
    first.settle(two, 0);
    expect(first.total()).toBeCloseTo(0.1, 12);
    first.close();
  });
});
