import { describe, expect, it } from 'vitest';
import { dedent, indentationAt, withoutSpans } from '../../../dataset/from-code/strip.ts';

/** Removes every /* ... *\/ of a text that has no strings. */
function strip(text: string): string {
  const spans = [...text.matchAll(/\/\*[\s\S]*?\*\//g)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  return withoutSpans(text, 0, text.length, spans);
}

describe('withoutSpans', () => {
  it.each([
    ['a /* x */ + b', 'a + b'],
    ['a /* x */', 'a'],
    ['return/* x */y', 'return y'],
    ['f(a/* x */, b)', 'f(a, b)'],
    ['f(/* x */a)', 'f(a)'],
    ['a\n  /* x\n  y */\n  b', 'a\n  b'],
    ['a\n\n/* x */\n\nb', 'a\n\nb'],
    ['/* x */ a', 'a'],
    ['{\n  /* x */\n  /* y */\n}', '{\n}'],
    ['a;   /* x */\nb', 'a;\nb'],
    ['a /* x */ /* y */ b', 'a b'],
    ['/* x */', ''],
  ])('%j', (text, stripped) => {
    expect(strip(text)).toBe(stripped);
  });

  it('keeps to its range', () => {
    const text = 'x /* a */ y /* b */ z';
    expect(
      withoutSpans(text, 10, 19, [
        { start: 2, end: 9 },
        { start: 12, end: 19 },
      ]),
    ).toBe('y');
  });

  it('a thousand comments in one line take no time', () => {
    const text = 'a /* x */ '.repeat(40_000);
    const started = performance.now();
    expect(strip(text).length).toBe(2 * 40_000 - 1);
    expect(performance.now() - started).toBeLessThan(8000);
  });
});

it('dedent takes away what the first line stood at', () => {
  const text = '    foo() {\n      bar\n    }';
  expect(dedent(text.slice(4), indentationAt(text, 4))).toBe('foo() {\n  bar\n}');
  expect(indentationAt('\tx = y', 3)).toBe('\t');
});
