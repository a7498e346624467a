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

  it('a rewrite in another language', () => {
    const german = 'Die Pumpe muss vor dem ersten Heizen entlüftet werden, weil die Luft in den Rohren laut ist.';
    const english = 'How is the air in the pipes let out of the pump before it is used for the first time?';
    for (const onLanguage of ['keep', 'retry', 'fail'] as const) {
      const violation = checkRewrite(german, `${german}\n${english}`, { ...options, onLanguage });
      expect(violation).toMatchObject({ guard: 'language', action: onLanguage });
      expect(violation?.reason).toBe('written in English, the original in German');
    }
    expect(checkRewrite(german, `${german}\n${english}`, options)?.action).toBe('keep');
    expect(checkRewrite(german, `${german}\n${english}`, { ...options, onLanguage: 'allow' })).toBeUndefined();
    expect(checkRewrite(german, `${german}\nWie wird die Luft aus den Rohren gelassen?`, options)).toBeUndefined();
  });
});
