import { describe, expect, test } from 'vitest';
import { MAX_WORD, tokenize, words } from '../../../src/text/tokenize.ts';

describe('tokenize', () => {
  test.each([
    ['Hello, World 42!', ['hello', 'world', '42']],
    ['snake_case kebab-case a.b', ['snake', 'case', 'kebab', 'case', 'a', 'b']],
    ["don't", ['don', 't']],
    ['', []],
    ['!?  \n\t', []],
    ['Ünïcode STRAẞE', ['ünïcode', 'straße']],
    ['café', ['café']],
    ['ﬁnd ²', ['find', '2']],
    ['co­operate', ['cooperate']],
    ['東京タワー', ['東', '京', 'タワー']],
    ['한국어 문서', ['한국어', '문서']],
    ['हिन्दी', ['हिन्दी']],
    ['a\u0000b\ud800c', ['a', 'b', 'c']],
    ['\ufeffbom\r\nend', ['bom', 'end']],
  ])('%j', (text, expected) => {
    expect(tokenize(text)).toEqual(expected);
  });

  test('composed and decomposed letters are one word', () => {
    expect(tokenize('cafe\u0301')).toEqual(tokenize('caf\u00e9'));
  });

  test('words keep their case', () => {
    expect(words('Hello WORLD')).toEqual(['Hello', 'WORLD']);
  });

  test('a word longer than the limit is cut, never inside a character', () => {
    expect(tokenize('a'.repeat(600)).map((word) => word.length)).toEqual([255, 255, 90]);
    // Each of these letters takes two code units, so no cut may fall on 255.
    const wide = tokenize('\u{10400}'.repeat(300));
    expect(wide.map((word) => word.length)).toEqual([254, 254, 92]);
    expect(wide.join('')).toBe('\u{10428}'.repeat(300));
  });

  test('ASCII and Unicode texts are cut alike', () => {
    const text = "It's a_b C3PO x-1, (y); z";
    expect(tokenize(`${text} é`)).toEqual([...tokenize(text), 'é']);
  });

  test('two megabytes on one line take their time only once', () => {
    const started = performance.now();
    expect(tokenize('x'.repeat(2_000_000))).toHaveLength(Math.ceil(2_000_000 / MAX_WORD));
    expect(tokenize(`${'ab_'.repeat(700_000)}é`)).toHaveLength(700_001);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
