import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/store/journal.ts';

const entry = (text: string) => ({ text, status: 'rewritten' as const, reason: '' });
const place = () => join(mkdtempSync(join(tmpdir(), 'journal-')), 'j.jsonl');

describe('the journal', () => {
  it('gives back what was appended, after reopening too', async () => {
    const path = place();
    const first = await openJournal<ReturnType<typeof entry>>(path);
    await first.append([
      ['a', entry('one\ntwo')],
      ['b', entry('\u2028 ü')],
    ]);
    expect(first.get('a')?.text).toBe('one\ntwo');
    await first.close();
    const second = await openJournal<ReturnType<typeof entry>>(path);
    expect(second.recovered).toBe(2);
    expect(second.get('b')).toEqual(entry('\u2028 ü'));
    await second.remove();
  });

  it.each([
    ['half a line', '["c","rewr'],
    ['a line without its line feed', '["c",{"text":"t"}]'],
  ])('survives %s at the end, as kill -9 leaves it', async (_, tail) => {
    const path = place();
    const first = await openJournal<ReturnType<typeof entry>>(path);
    await first.append([['a', entry('one')]]);
    await first.close();
    appendFileSync(path, tail);
    const second = await openJournal<ReturnType<typeof entry>>(path);
    expect(second.recovered).toBe(1);
    expect(second.get('c')).toBeUndefined();
    await second.append([['d', entry('four')]]);
    await second.close();
    const third = await openJournal<ReturnType<typeof entry>>(path);
    expect([third.recovered, third.get('a')?.text, third.get('d')?.text]).toEqual([2, 'one', 'four']);
    await third.close();
  });

  it('keeps lines whole when batches finish at once', async () => {
    const path = place();
    const journal = await openJournal<ReturnType<typeof entry>>(path);
    await Promise.all(Array.from({ length: 50 }, (_, i) => journal.append([[`k${i}`, entry('x'.repeat(i * 100))]])));
    await journal.close();
    expect(
      readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .every((line) => JSON.parse(line).length === 2),
    ).toBe(true);
  });

  it('an empty file is an empty journal', async () => {
    const path = place();
    writeFileSync(path, '');
    const journal = await openJournal<ReturnType<typeof entry>>(path);
    expect(journal.recovered).toBe(0);
    await journal.close();
  });
});
