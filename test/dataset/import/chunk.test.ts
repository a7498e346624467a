import { countTokens as gptTokens } from 'gpt-tokenizer';
import { describe, expect, it } from 'vitest';
import { chunkText } from '../../../dataset/import/chunk.ts';
import { parseChunkSpec } from '../../../dataset/import/chunk-spec.ts';
import { headingPaths, headingsOf } from '../../../dataset/import/headings.ts';
import { createRng } from '../../../src/kernels/rng.ts';

const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
const MARKS = [
  '# A\n',
  '## B c\n',
  'word ',
  'two words. ',
  '\n\n',
  '日本語の文。',
  'x'.repeat(60),
  '😀',
  '```\n# no\n```\n',
  ' \t',
];

function randomText(seed: number): string {
  const rng = createRng(seed);
  return Array.from({ length: 1 + rng.int(60) }, () => MARKS[rng.int(MARKS.length)]).join('');
}

/** Texts of the spans without what each shares with the one before. */
function withoutOverlap(text: string, spans: readonly { start: number; end: number }[]): string {
  let reached = 0;
  let out = '';
  for (const { start, end } of spans) {
    expect(start).toBeLessThanOrEqual(reached);
    expect(end).toBeGreaterThanOrEqual(reached);
    out += text.slice(Math.max(start, reached), end);
    reached = end;
  }
  return out;
}

describe('chunks of any text', () => {
  for (const spec of [
    'headings',
    'sentences:1',
    'sentences:3',
    'tokens:1',
    'tokens:7/3',
    'tokens:40/39',
    'tokens:1000',
  ]) {
    it(`${spec}: cover it in order; without their overlap they are the text`, () => {
      for (let seed = 1; seed <= 60; seed++) {
        const text = randomText(seed);
        const spans = chunkText(text, parseChunkSpec(spec), 'markdown', gptTokens);
        expect(withoutOverlap(text, spans)).toBe(text);
        expect(new Set(spans.map(({ end }) => end)).size).toBe(spans.length);
        for (const { start, end } of spans)
          expect(text.slice(start, end)).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
      }
    });
  }

  it('an empty text is one empty chunk', () => {
    for (const spec of ['headings', 'sentences:2', 'tokens:5/1'])
      expect(chunkText('', parseChunkSpec(spec), 'plain', words)).toMatchObject([{ start: 0, end: 0 }]);
  });

  it('tokens: none has more than it may, by pieces; consecutive ones share at most the overlap', () => {
    const text = Array.from({ length: 300 }, (_, i) => `w${i}`).join(' ');
    const spans = chunkText(text, parseChunkSpec('tokens:40/10'), 'plain', words);
    expect(spans.length).toBe(Math.ceil((300 - 10) / 30));
    for (const [i, { start, end }] of spans.entries()) {
      expect(words(text.slice(start, end))).toBeLessThanOrEqual(40);
      if (i > 0) expect(words(text.slice(start, spans[i - 1].end))).toBe(10);
    }
  });

  it('tokens: a word that is too long is cut, also without spaces', () => {
    for (const text of ['y'.repeat(5000), '日本語の文章です。'.repeat(200)]) {
      const spans = chunkText(text, parseChunkSpec('tokens:16/4'), 'plain', gptTokens);
      // Counted by pieces, so a little above where pieces meet differently than in the whole.
      for (const { start, end } of spans) expect(gptTokens(text.slice(start, end))).toBeLessThanOrEqual(20);
      expect(withoutOverlap(text, spans)).toBe(text);
    }
  });
});

describe('headings', () => {
  it('sections carry their path; titles with nothing between them go together', () => {
    const text = 'before\n# A\n## B\nbody b\n### C\nbody c\n## D\nbody d\n# E\n';
    const spans = chunkText(text, { by: 'headings' }, 'plain', words);
    expect(spans.map(({ start, end, headings }) => [text.slice(start, end), headings])).toEqual([
      ['before\n', []],
      ['# A\n## B\nbody b\n', ['A', 'B']],
      ['### C\nbody c\n', ['A', 'B', 'C']],
      ['## D\nbody d\n', ['A', 'D']],
      ['# E\n', ['E']],
    ]);
  });

  it('reads # and underlined ones, not those in fenced code, lists or tables', () => {
    const text =
      '# One #\nTitle\n===\nSub\r\n---\r\n```sh\n# no\n~~~\n# no\n```\n- item\n---\n| a |\n---\n#no\n####### no\n\n---\n';
    expect(headingsOf(text).map(({ level, text: title }) => [level, title])).toEqual([
      [1, 'One'],
      [1, 'Title'],
      [2, 'Sub'],
    ]);
  });

  it('the path at an offset is that of a search from the start', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const text = randomText(seed);
      const headings = headingsOf(text);
      const at = headingPaths(headings);
      for (let offset = 0; offset <= text.length; offset += 7)
        expect(at(offset)).toEqual(headingPaths(headings)(offset));
    }
  });
});

describe('--chunk', () => {
  it('is read', () => {
    expect(parseChunkSpec('tokens:400/50')).toEqual({ by: 'tokens', tokens: 400, overlap: 50 });
    expect(parseChunkSpec('sentences:3')).toEqual({ by: 'sentences', sentences: 3 });
  });

  it.each(['tokens', 'tokens:0', 'tokens:5/5', 'sentences:2/1', 'pages:3', ''])('%j is refused', (text) => {
    expect(() => parseChunkSpec(text)).toThrowError(/--chunk/);
  });
});
