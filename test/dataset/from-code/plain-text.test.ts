import { describe, expect, it } from 'vitest';
import { plainText } from '../../../dataset/from-code/plain-text.ts';

describe('plainText', () => {
  it.each([
    [
      'Returns a {@link Vector2}, see {@link Box3#union|the union} or {@linkcode foo bar baz}.',
      'Returns a Vector2, see the union or bar baz.',
    ],
    [
      'The [Addition Law](http://en.wikipedia.org/wiki/Addition_(law)) of [logic][1] and [[Sets]].',
      'The Addition Law of logic and Sets.',
    ],
    [
      'Uses `a * b * c` and ``x`y`` with **bold** and *soft* and _weak_ words.',
      'Uses a * b * c and x`y with bold and soft and weak words.',
    ],
    [
      'Keeps snake_case_name, __init__, 2*3*4 and Array<string>.',
      'Keeps snake_case_name, __init__, 2*3*4 and Array<string>.',
    ],
    [
      'A <b>bold</b> <code>code</code> &lt;tag&gt; &amp; more&nbsp;&unknown; &constructor;.',
      'A bold code <tag> & more &unknown; &constructor;.',
    ],
    ['Calls :func:`foo.bar` or :py:class:`~a.B` or `text <http://x.y/>`_.', 'Calls foo.bar or a.B or text.'],
    ['Parses dates (see https://example.org/a_b(c)).', 'Parses dates.'],
    ['Hashes a string, see https://example.org/x. Fast.', 'Hashes a string. Fast.'],
    ['Calls foo() and bar(a).', 'Calls foo() and bar(a).'],
    ['![logo](a.png) Draws\n  the   logo \\*', 'Draws the logo *'.slice(0, 14)],
    ['Escapes {@code <b>} here', 'Escapes <b> here'],
  ])('%j', (markup, plain) => {
    expect(plainText(markup)).toBe(plain);
  });
});
