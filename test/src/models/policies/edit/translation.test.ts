import { describe, expect, test } from 'vitest';
import { createRng } from '../../../../../src/kernels/rng.ts';
import {
  fitTranslation,
  priorOf,
  type Source,
  TRANSLATION_DEFAULTS,
  type TranslationPair,
  translate,
} from '../../../../../src/models/policies/edit/translation.ts';

const body = (...terms: string[]): Source[] => terms.map((term) => ({ kind: 'body', term, copies: [term] }));

/** The same estimate, written as the formulas read: dense arrays, no cells, all pairs of words. */
function slowFit(pairs: readonly TranslationPair[], smoothing: number, iterations: number) {
  const sources = [...new Set(['', ...pairs.flatMap((pair) => pair.source.map(({ term }) => term))])];
  const targets = [...new Set(pairs.flatMap((pair) => pair.target))];
  const unique = pairs.map((pair) => [...new Set(pair.target)]);
  const tokens = unique.flat().length;
  const prior = targets.map((term) => unique.flat().filter((other) => other === term).length / tokens);
  const kinds = ['null', 'name', 'body', 'abbr', 'verb'];
  let counts = sources.map(() => targets.map(() => 0));
  let copyShares = [0, 0.3, 0.1, 0.3, 0.1];
  for (let iteration = 0; iteration < iterations; iteration++) {
    const next = sources.map(() => targets.map(() => 0));
    const total = kinds.map(() => 0.5);
    const copied = kinds.map(() => 0.05);
    pairs.forEach((pair, i) => {
      const all: Source[] = [{ kind: 'null', term: '', copies: [] }, ...pair.source];
      const classes = new Set(all.map(({ kind }) => kind)).size;
      for (const word of unique[i]) {
        const t = targets.indexOf(word);
        const scores = all.map(({ kind, term, copies }) => {
          const s = sources.indexOf(term);
          const k = kinds.indexOf(kind);
          const expected = (1 - copyShares[k]) * prior[t] + (copies.includes(word) ? copyShares[k] / copies.length : 0);
          const mass = counts[s].reduce((a, b) => a + b, 0);
          const size = all.filter((other) => other.kind === kind).length;
          return ((1 / (classes * size)) * (counts[s][t] + smoothing * expected)) / (mass + smoothing);
        });
        const sum = scores.reduce((a, b) => a + b, 0);
        all.forEach(({ kind, term, copies }, j) => {
          next[sources.indexOf(term)][t] += scores[j] / sum;
          total[kinds.indexOf(kind)] += scores[j] / sum;
          if (copies.includes(word)) copied[kinds.indexOf(kind)] += scores[j] / sum;
        });
      }
    });
    counts = next;
    copyShares = copied.map((n, k) => (k === 0 ? 0 : Math.min(0.95, n / total[k])));
  }
  return { sources, targets, prior, counts, copyShares };
}

describe('translation table', () => {
  test('learns which word stands for which term', () => {
    const table = fitTranslation([
      { source: body('haus', 'das'), target: ['the', 'house'] },
      { source: body('buch', 'das'), target: ['the', 'book'] },
      { source: body('buch', 'ein'), target: ['a', 'book'] },
      { source: body('haus', 'ein'), target: ['a', 'house'] },
    ]);
    const of = (...terms: string[]): string => [...translate(table, body(...terms))].sort((a, b) => b[1] - a[1])[0][0];
    expect(of('haus')).toBe('house');
    expect(of('buch')).toBe('book');
    expect(of('das')).toBe('the');
    expect(of('ein')).toBe('a');
  });

  test('equals the slow estimate', () => {
    const rng = createRng(3);
    const pick = (words: readonly string[], n: number): string[] =>
      Array.from({ length: n }, () => words[rng.int(words.length)]);
    const terms = Array.from({ length: 12 }, (_, i) => `s${i}`);
    const wordsOf = Array.from({ length: 9 }, (_, i) => (i < 4 ? `s${i}` : `t${i}`));
    const pairs = Array.from(
      { length: 15 },
      (): TranslationPair => ({
        source: [
          ...[...new Set(pick(terms, 5))].map(
            (term): Source => ({ kind: rng.int(2) === 0 ? 'name' : 'body', term, copies: [term] }),
          ),
          { kind: 'verb', term: `verb:${rng.int(3)}`, copies: pick(wordsOf, 2) },
        ],
        target: pick(wordsOf, 4),
      }),
    );
    const table = fitTranslation(pairs, { iterations: 4, smoothing: 0.7, keep: 100 });
    const slow = slowFit(pairs, 0.7, 4);
    for (const [k, share] of table.copyShares.entries()) expect(share).toBeCloseTo(slow.copyShares[k], 4);
    for (let s = 0; s < table.sources.length; s++) {
      const row = slow.counts[slow.sources.indexOf(table.sources[s])];
      for (let cell = table.offsets[s]; cell < table.offsets[s + 1]; cell++) {
        expect(table.counts[cell]).toBeCloseTo(row[slow.targets.indexOf(table.targets[table.columns[cell]])], 3);
      }
      expect(table.totals[s]).toBeCloseTo(
        row.reduce((a, b) => a + b, 0),
        3,
      );
    }
  });

  test('probabilities are probabilities, and nothing is proposed below its prior', () => {
    const table = fitTranslation([
      { source: body('a', 'b'), target: ['x', 'y', 'x'] },
      { source: body('b', 'c'), target: ['y', 'z'] },
    ]);
    expect(table.prior.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 4);
    for (const [term, p] of translate(table, body('a', 'c'))) {
      expect(p).toBeGreaterThan(priorOf(table, term));
      expect(p).toBeLessThan(1);
    }
    expect(priorOf(table, 'never')).toBe(0);
  });

  test('a term never seen still copies itself, as often as its class does', () => {
    const named = (term: string): Source => ({ kind: 'name', term, copies: [term] });
    const table = fitTranslation([
      { source: [named('sort'), named('list')], target: ['sort', 'list'] },
      { source: [named('merge'), named('tree')], target: ['merge', 'tree'] },
      { source: body('heap'), target: ['stack', 'queue'] },
    ]);
    // 'queue' was met as a query word only.
    expect(translate(table, [named('queue')]).get('queue')).toBeGreaterThan(
      translate(table, body('queue')).get('queue')!,
    );
  });

  test('an empty table proposes nothing', () => {
    const table = fitTranslation([]);
    expect(translate(table, body('a'))).toEqual(new Map());
    expect(priorOf(table, 'a')).toBe(0);
    expect(translate(fitTranslation([{ source: [], target: [] }]), [])).toEqual(new Map());
  });

  test('survives JSON unchanged', () => {
    const table = fitTranslation([{ source: body('a', 'b'), target: ['x', 'y'] }], TRANSLATION_DEFAULTS);
    const copy = JSON.parse(JSON.stringify(table)) as typeof table;
    expect(copy).toEqual(table);
    expect(translate(copy, body('a'))).toEqual(translate(table, body('a')));
  });

  test('names of built-in properties are words like any other', () => {
    const table = fitTranslation([
      { source: body('constructor', '__proto__'), target: ['hasOwnProperty', 'toString'] },
    ]);
    expect([...translate(table, body('__proto__')).keys()].sort()).toEqual([]);
    expect(table.sources).toEqual(['', 'constructor', '__proto__']);
  });
});
