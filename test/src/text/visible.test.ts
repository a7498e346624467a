import { describe, expect, it } from 'vitest';
import { visible } from '../../../src/text/visible.ts';

describe('visible', () => {
  it('shows what a terminal would obey, and leaves everything else', () => {
    expect(visible('\u001b[31mred\u009b0m \u202eabc\u2069\rx\u0000')).toBe(
      '\\u001b[31mred\\u009b0m \\u202eabc\\u2069\\u000dx\\u0000',
    );
    const plain = 'two\nlines\tand a tab, سلام, 日本, 😀, e\u0301, zero\u200bwidth';
    expect(visible(plain)).toBe(plain);
    expect(visible('\ud800')).toBe('\\ud800');
  });

  it('writes the same JSON otherwise', () => {
    const value = { text: '\u001b[1m \u0085 \u202e "quoted" \\ \u2028 \ud800', 'a\u009bb': 1 };
    const written = visible(JSON.stringify(value));
    expect(written).not.toMatch(/[\u0080-\u009f\u202e]/);
    expect(JSON.parse(written)).toEqual(value);
  });
});
