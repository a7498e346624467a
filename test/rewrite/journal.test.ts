import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal, rewriteKey } from '../../rewrite/journal.ts';

const entry = (text: string) => ({ text, status: 'rewritten' as const, reason: '' });
const place = () => join(mkdtempSync(join(tmpdir(), 'journal-')), 'j.jsonl');

describe('the rewrite journal', () => {
  it('gives back what was appended, after reopening too', async () => {
    const path = place();
    const first = await openJournal(path);
    await first.append([
      ['a', entry('one\ntwo')],
      ['b', entry('\u2028 ü')],
    ]);
    expect(first.get('a')?.text).toBe('one\ntwo');
    await first.close();
    const second = await openJournal(path);
    expect(second.recovered).toBe(2);
    expect(second.get('b')).toEqual(entry('\u2028 ü'));
    await second.remove();
  });

  it.each([
    ['half a line', '["c","rewr'],
    ['a line without its line feed', '["c","rewritten","","text"]'],
  ])('survives %s at the end, as kill -9 leaves it', async (_, tail) => {
    const path = place();
    const first = await openJournal(path);
    await first.append([['a', entry('one')]]);
    await first.close();
    appendFileSync(path, tail);
    const second = await openJournal(path);
    expect(second.recovered).toBe(1);
    expect(second.get('c')).toBeUndefined();
    await second.append([['d', entry('four')]]);
    await second.close();
    const third = await openJournal(path);
    expect([third.recovered, third.get('a')?.text, third.get('d')?.text]).toEqual([2, 'one', 'four']);
    await third.close();
  });

  it('keeps lines whole when batches finish at once', async () => {
    const path = place();
    const journal = await openJournal(path);
    await Promise.all(Array.from({ length: 50 }, (_, i) => journal.append([[`k${i}`, entry('x'.repeat(i * 100))]])));
    await journal.close();
    expect(
      readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .every((line) => JSON.parse(line).length === 4),
    ).toBe(true);
  });

  it('an empty file is an empty journal', async () => {
    const path = place();
    writeFileSync(path, '');
    const journal = await openJournal(path);
    expect(journal.recovered).toBe(0);
    await journal.close();
  });

  it('keys differ by policy, settings and text', () => {
    const keys = new Set([
      rewriteKey('p', 's', 't'),
      rewriteKey('q', 's', 't'),
      rewriteKey('p', 'x', 't'),
      rewriteKey('p', 's', 'u'),
      rewriteKey('ps', '', 't'),
    ]);
    expect(keys.size).toBe(5);
  });
});
