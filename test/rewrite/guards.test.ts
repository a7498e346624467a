import { describe, expect, it } from 'vitest';
import { checkRewrite, type GuardOptions, keptShare } from '../../rewrite/guards.ts';

const options: GuardOptions = { onEmpty: 'keep', onOverlong: 'retry', onDropped: 'fail', maxGrowth: 10, minKept: 0.5 };

describe('guards', () => {
  it('let an ordinary rewrite pass', () => {
    expect(checkRewrite('parse the file', 'parse the file and read it', options)).toBeUndefined();
  });
  it('stop an empty rewrite, but not of an empty original', () => {
    expect(checkRewrite('text', ' \n', options)).toMatchObject({ guard: 'empty', action: 'keep' });
    expect(checkRewrite('', '', options)).toBeUndefined();
  });
  it('stop a runaway, but let short documents grow', () => {
    expect(checkRewrite('a b', `a b ${'x'.repeat(2500)}`, options)).toMatchObject({
      guard: 'overlong',
      action: 'retry',
    });
    expect(checkRewrite('a b', `a b ${'x'.repeat(1500)}`, options)).toBeUndefined();
  });
  it('stop a rewrite that lost the original', () => {
    expect(checkRewrite('one two three four', 'five one', options)).toMatchObject({ guard: 'dropped', action: 'fail' });
    expect(checkRewrite('one two three four', 'ONE, two!', options)).toBeUndefined();
    expect(checkRewrite('one two three four', 'five', { ...options, onDropped: 'allow' })).toBeUndefined();
  });
  it('count distinct words of any script', () => {
    expect(keptShare('München ist ist schön', 'münchen schön')).toBeCloseTo(2 / 3, 12);
    expect(keptShare('?!', 'anything')).toBe(1);
  });
});
