import { describe, expect, it } from 'vitest';
import { formatDiff, wordDiff } from '../../rewrite/word-diff.ts';
import { createRng } from '../../src/kernels/rng.ts';

const side = (before: string, after: string, without: 'added' | 'removed') =>
  wordDiff(before, after)
    .filter((part) => part.kind !== without)
    .map((part) => part.text)
    .join('');

describe('word diff', () => {
  it('marks what was added and removed', () => {
    expect(formatDiff(wordDiff('read the file', 'read a text file'))).toBe('read [-the-]{+a text+} file');
    expect(formatDiff(wordDiff('a b c', 'a b c d e'))).toBe('a b c {+d e+}');
    expect(formatDiff(wordDiff('b c', 'a b c'))).toBe('{+a+} b c');
    expect(formatDiff(wordDiff('a b c', 'a b'))).toBe('a b [-c-]');
    expect(formatDiff(wordDiff('one two three', 'one four five six'))).toBe('one [-two three-]{+four five six+}');
    expect(wordDiff('same', 'same')).toEqual([{ kind: 'same', text: 'same' }]);
    expect(wordDiff('', '')).toEqual([]);
  });
  it('both sides can be rebuilt from it, on random texts', () => {
    const rng = createRng(7);
    const text = () => Array.from({ length: rng.int(30) }, () => ['a', 'b', 'c\n', '  d', 'e'][rng.int(5)]).join(' ');
    for (let i = 0; i < 300; i++) {
      const [before, after] = [text(), text()];
      expect(side(before, after, 'added')).toBe(before);
      expect(side(before, after, 'removed')).toBe(after);
    }
  });
  it('stays fast on texts too long for the table', () => {
    const before = Array.from({ length: 50_000 }, (_, i) => `w${i}`).join(' ');
    expect(side(before, `x ${before} y`, 'removed')).toBe(`x ${before} y`);
  });
});
