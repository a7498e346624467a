/** Reports of foreign text: whatever documents say, the page has our elements and no others. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { html, latex, markdown } from '../../../project/report/escape.ts';
import { htmlReport } from '../../../project/report/html.ts';
import { latexReport } from '../../../project/report/latex.ts';
import { lengthStatistics } from '../../../project/report/lengths.ts';
import { markdownReport } from '../../../project/report/markdown.ts';
import { SCRIPT, STYLE } from '../../../project/report/style.ts';
import { verdictOf } from '../../../project/report/verdict.ts';
import { NASTY, nastyModel } from './nasty.ts';

const HIDDEN = /(?![\n\t])[\p{Cc}\p{Bidi_C}\p{Cs}]/u;
/** Elements and attributes that the page is made of. */
const TAGS = new Set(
  'html head meta title style body main header footer p h1 h2 h3 section dl dt dd ul li div table thead tbody tr th td button details summary code bdi br span i ins del figure figcaption svg path circle rect text script'.split(
    ' ',
  ),
);
const ATTRIBUTES = new Set(
  'lang charset http-equiv content name class scope type data-v dir open viewBox role aria-label aria-hidden d cx cy r x y width height text-anchor'.split(
    ' ',
  ),
);

describe('the page', () => {
  const page = htmlReport(nastyModel());

  it('has our elements and attributes only, each attribute quoted', () => {
    const body = page.replace(STYLE, '').replace(SCRIPT, '');
    const tags = [...body.matchAll(/<\/?([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*\/?>/g)];
    expect(tags.length).toBeGreaterThan(100);
    for (const [, tag, attributes] of tags) {
      expect(TAGS).toContain(tag);
      for (const [, name] of attributes.replace(/="[^"]*"/g, '=').matchAll(/\s([a-zA-Z-]+)/g))
        expect(ATTRIBUTES).toContain(name);
    }
    // What is left when they are taken away holds nothing that could begin another.
    const rest = body
      .replace('<!doctype html>', '')
      .replace(/<\/?[a-zA-Z][a-zA-Z0-9]*(?:\s+[a-zA-Z-]+(?:="[^"]*")?)*\s*\/?>/g, '');
    expect(rest).not.toMatch(/[<>"'`]/);
  });

  it('has one script and one style, both named by hash, and a policy that allows nothing else', () => {
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page.match(/<style/g)).toHaveLength(1);
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)![1];
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(policy).toBe(
      `default-src 'none'; style-src ${hash(STYLE)}; script-src ${hash(SCRIPT)}; base-uri 'none'; form-action 'none'`,
    );
    expect(/<script>([\s\S]*)<\/script>/.exec(page)![1]).toBe(SCRIPT);
    expect(STYLE).not.toMatch(/url\(|@import/);
    expect(page).not.toMatch(/\s(href|src|style|on[a-z]+)=(?!&)["']/);
  });

  it('hides nothing: control characters and bidi marks are written out', () => {
    expect(page).not.toMatch(HIDDEN);
    expect(page).toContain('\\u202e');
    expect(page).toContain('\\u0000');
  });
});

describe('the other formats', () => {
  it('Markdown keeps foreign text inside its cell, without links, images or HTML', () => {
    const text = markdownReport(nastyModel());
    expect(text).not.toMatch(HIDDEN);
    expect(text).not.toMatch(/(?<!\\)</);
    expect(text).not.toMatch(/:\/\//);
    for (const line of text.split('\n').filter((one) => one.startsWith('| '))) {
      expect(line.replace(/\\[\s\S]/g, '')).not.toMatch(/[[\]`!]/);
    }
  });

  it('LaTeX has no command of a document', () => {
    const text = latexReport(nastyModel());
    const code = text.replace(/^%.*$/gm, '');
    expect(code).not.toMatch(/\\(input|write18)\b/);
    expect(code).not.toMatch(HIDDEN);
    // Every line of a comment stays one: no line begins with what a document said.
    for (const line of text.split('\n')) expect(line === '' || /^[%\\]|^[a-zA-Z/]/.test(line)).toBe(true);
  });

  it('each nasty string alone', () => {
    for (const one of NASTY) {
      expect(html(one)).not.toMatch(/[<>"'`]/);
      expect(markdown(one)).not.toMatch(/(?<!\\)[<[\]`|]/);
      expect(latex(one).replace(/\\text[a-z]+\{\}|\\[{}$&#%_]/g, '')).not.toMatch(/[\\{}$&#%_^~]/);
    }
  });
});

describe('verdictOf', () => {
  const one = (delta: number, interval: [number, number]) =>
    verdictOf(
      [
        {
          baseline: 'original',
          system: 'trained',
          metric: 'nDCG@5',
          n: 9,
          delta,
          interval,
          level: 0.95,
          adjustedP: 1,
          wins: 0,
          losses: 0,
          ties: 9,
        },
      ],
      { original: 0.4, trained: 0.4 + delta },
    );
  it('says no more than the interval does', () => {
    expect(one(0.1, [0.02, 0.2])).toMatchObject({ tone: 'better', text: expect.stringMatching(/^Training helped/) });
    expect(one(-0.1, [-0.2, -0.02])).toMatchObject({ tone: 'worse', text: expect.stringMatching(/^Training harmed/) });
    expect(one(0.1, [-0.02, 0.2])).toMatchObject({
      tone: 'open',
      text: expect.stringMatching(/^No difference is shown.*holds 0/),
    });
    expect(one(0, [0, 0])).toMatchObject({ tone: 'open', text: expect.stringMatching(/^Nothing changed/) });
    expect(verdictOf([], undefined).tone).toBe('open');
  });
});

describe('lengthStatistics', () => {
  it('counts words, each document in one bin', () => {
    const words = (n: number) => Array.from({ length: n }, (_, i) => `w${i}`).join(' ');
    const original = ['', words(8), words(7), words(100)];
    const { edges, systems, changed, documents } = lengthStatistics([
      { name: 'a', texts: original },
      { name: 'b', texts: ['', words(8), words(9), words(100)] },
    ]);
    expect([changed, documents]).toEqual([1, 4]);
    for (const { counts } of systems) expect(counts.reduce((a, b) => a + b)).toBe(4);
    const bin = (n: number) => edges.findLastIndex((edge) => edge <= n);
    expect(systems[0].counts[bin(100)]).toBe(1);
    expect(systems[0].counts[0]).toBe(2);
    expect(systems[0].mean).toBeCloseTo(115 / 4, 12);
    expect(systems[0].quartiles[1]).toBe(7.5);
  });
});
