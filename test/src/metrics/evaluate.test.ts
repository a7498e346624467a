import { describe, expect, it } from 'vitest';
import { createRng } from '../../../src/kernels/rng.ts';
import { evaluate } from '../../../src/metrics/evaluate.ts';
import { dcg, discount, idealDcg, ndcg } from '../../../src/metrics/ndcg.ts';
import { parseMeasures } from '../../../src/metrics/parse-measure.ts';
import type { Qrels, Ranking, Run } from '../../../src/types.ts';

const ranking = (...pairs: [string, number][]): Ranking => ({
  ids: pairs.map(([id]) => id),
  scores: Float64Array.from(pairs, ([, score]) => score),
});
const judge = (table: Record<string, Record<string, number>>): Qrels =>
  new Map(Object.entries(table).map(([query, grades]) => [query, new Map(Object.entries(grades))]));

describe('nDCG', () => {
  it('is the worked example: grades 3 2 3 0 1 2 retrieved, 3 2 left out', () => {
    // 3 + 2/log2(3) + 3/2 + 0 + 1/log2(6) + 2/log2(7) = 6.861126688593501;
    // ideal 3 3 3 2 2 2 (1): 3 + 3/log2(3) + 3/2 + 2/log2(5) + 2/log2(6) + 2/log2(7) = 8.740262365546284.
    const retrieved = [3, 2, 3, 0, 1, 2];
    const all = [...retrieved, 3, 2];
    expect(dcg(retrieved)).toBeCloseTo(6.861126688593501, 12);
    expect(idealDcg(all, 6)).toBeCloseTo(8.740262365546284, 12);
    expect(ndcg(retrieved, all, 6)).toBeCloseTo(6.861126688593501 / 8.740262365546284, 12);
  });

  it('discounts by 1/log2(rank + 1) and sees no gain in grades <= 0 or NaN', () => {
    expect([1, 2, 3, 7].map(discount)).toEqual([1, 1 / Math.log2(3), 0.5, 1 / 3]);
    expect(dcg([-2, 0, Number.NaN, 4])).toBe(4 / Math.log2(5));
    expect(idealDcg([-1, 0, 2, 1])).toBe(2 + 1 / Math.log2(3));
    expect(idealDcg([-1, 0])).toBe(0);
    expect(ndcg([0, 0], [0, -1])).toBe(0);
  });
});

describe('evaluate', () => {
  it('counts unanswered queries and queries without a relevant document as 0, and ignores queries without judgements', () => {
    const qrels = judge({ a: { x: 1 }, b: { x: 1 }, c: { x: 0 } });
    const run: Run = new Map([
      ['a', ranking(['x', 2], ['y', 1])],
      ['c', ranking(['x', 2])],
      ['z', ranking(['x', 2])],
    ]);
    const { mean, perQuery } = evaluate(run, qrels, parseMeasures('nDCG@5 NumQ NumRel NumRet'));
    expect(perQuery['nDCG@5']).toEqual({ a: 1, b: 0, c: 0 });
    expect(mean).toEqual({ 'nDCG@5': 1 / 3, NumQ: 3, NumRel: 2, NumRet: 3 });
  });

  it('looks at the wanted queries only', () => {
    const qrels = judge({ a: { x: 1 }, b: { x: 1 } });
    const run: Run = new Map([['a', ranking(['x', 2])]]);
    expect(evaluate(run, qrels, parseMeasures('AP'), { queries: ['a', 'nowhere'] })).toEqual({
      mean: { AP: 1 },
      perQuery: { AP: { a: 1 } },
    });
  });

  it('breaks ties by id ascending, or like trec_eval by id descending on 32-bit scores', () => {
    const qrels = judge({ q: { b: 1 } });
    const tied: Run = new Map([['q', ranking(['b', 1], ['c', 1], ['a', 1])]]);
    expect(evaluate(tied, qrels, parseMeasures('RR')).mean.RR).toBe(1 / 2);
    expect(evaluate(tied, qrels, parseMeasures('RR'), { ties: 'trec' }).mean.RR).toBe(1 / 2);
    const near: Run = new Map([['q', ranking(['b', 1 + 1e-12], ['c', 1])]]);
    expect(evaluate(near, qrels, parseMeasures('RR')).mean.RR).toBe(1);
    expect(evaluate(near, qrels, parseMeasures('RR'), { ties: 'trec' }).mean.RR).toBe(1 / 2);
  });

  it('orders ids by code point for trec (a pair of surrogates above U+FFFD)', () => {
    const qrels = judge({ q: { '\u{1F600}': 1 } });
    const run: Run = new Map([['q', ranking(['\u{1F600}', 1], ['\uFFFD', 1])]]);
    expect(evaluate(run, qrels, parseMeasures('RR'), { ties: 'trec' }).mean.RR).toBe(1);
    expect(evaluate(run, qrels, parseMeasures('RR'), { ties: 'id' }).mean.RR).toBe(1);
  });

  it('negative grades: judged, not relevant, no gain', () => {
    const qrels = judge({ q: { a: -1, b: 2, c: 1 } });
    const run: Run = new Map([['q', ranking(['a', 3], ['b', 2], ['c', 1], ['u', 0.5])]]);
    const { mean } = evaluate(run, qrels, parseMeasures('nDCG AP P@2 Judged@4 NumRel AP(judged_only=True) P(rel=0)@4'));
    expect(mean.nDCG).toBeCloseTo((2 / Math.log2(3) + 1 / 2) / (2 + 1 / Math.log2(3)), 12);
    expect(mean.AP).toBeCloseTo((1 / 2 + 2 / 3) / 2, 12);
    expect(mean).toMatchObject({
      'P@2': 0.5,
      'Judged@4': 0.75,
      NumRel: 2,
      'AP(judged_only=True)': 1,
      'P(rel=0)@4': 0.5,
    });
  });

  it('gains and exponential gains', () => {
    const qrels = judge({ q: { a: 1, b: 2 } });
    const run: Run = new Map([['q', ranking(['a', 2], ['b', 1])]]);
    const { mean } = evaluate(run, qrels, parseMeasures("nDCG(dcg='exp-log2')@2 nDCG(gains={1:0,2:5})@2"));
    expect(mean["nDCG(dcg='exp-log2')@2"]).toBeCloseTo((1 + 3 / Math.log2(3)) / (3 + 1 / Math.log2(3)), 12);
    expect(mean['nDCG(gains={1:0,2:5})@2']).toBeCloseTo(1 / Math.log2(3), 12);
  });

  it('refuses a document twice, a score that is no number, and arrays that do not fit', () => {
    const qrels = judge({ q7: { a: 1 } });
    const measure = parseMeasures('AP');
    const twice: Run = new Map([['q7', ranking(['a', 2], ['b', 2], ['a', 1])]]);
    expect(() => evaluate(twice, qrels, measure)).toThrow("query 'q7' ranks document 'a' twice");
    const bad: Run = new Map([['q7', ranking(['a', 2], ['b', Number.NaN])]]);
    expect(() => evaluate(bad, qrels, measure)).toThrow("the score of document 'b' is not a number");
    const short: Run = new Map([['q7', { ids: ['a'], scores: new Float64Array(2) }]]);
    expect(() => evaluate(short, qrels, measure)).toThrow('1 documents but 2 scores');
  });

  it('ids that are names of object properties are ids like any other', () => {
    const qrels = judge(JSON.parse('{"__proto__": {"constructor": 1}}'));
    const run: Run = new Map([['__proto__', ranking(['constructor', 1])]]);
    const { perQuery } = evaluate(run, qrels, parseMeasures('AP'));
    expect(Object.entries(perQuery.AP)).toEqual([['__proto__', 1]]);
  });
});

describe('a slow oracle on random runs with ties, negative grades, unjudged and missing documents', () => {
  // Written from the definitions, in another way than the kernels: everything by sorting and summing over sets.
  const oracle = (run: Run, qrels: Qrels, query: string, ties: 'id' | 'trec', k: number) => {
    const judged = qrels.get(query)!;
    const found = run.get(query);
    const rows = (found?.ids ?? []).map((id, i) => ({
      id,
      score: ties === 'trec' ? Math.fround(found!.scores[i]) : found!.scores[i],
    }));
    const direction = ties === 'trec' ? -1 : 1;
    rows.sort((a, b) => b.score - a.score || (a.id < b.id ? -direction : direction));
    const ranked = rows.map(({ id }) => Math.max(0, judged.get(id) ?? 0));
    const ideal = [...judged.values()].filter((g) => g > 0).sort((a, b) => b - a);
    const total = (grades: number[]) =>
      grades.slice(0, k).reduce((sum, g, i) => sum + (g * Math.LN2) / Math.log(i + 2), 0);
    const relevant = ideal.length;
    const precisions = ranked.map((g, i) => (g > 0 ? ranked.slice(0, i + 1).filter((x) => x > 0).length / (i + 1) : 0));
    const hits = ranked.slice(0, k).filter((g) => g > 0).length;
    const first = ranked.findIndex((g) => g > 0);
    return {
      [`nDCG@${k}`]: relevant === 0 ? 0 : total(ranked) / total(ideal),
      AP: relevant === 0 ? 0 : precisions.reduce((a, b) => a + b, 0) / relevant,
      RR: first === -1 ? 0 : 1 / (first + 1),
      [`P@${k}`]: hits / k,
      [`R@${k}`]: relevant === 0 ? 0 : hits / relevant,
      [`nCG@${k}`]: relevant === 0 ? 0 : hits / Math.min(k, relevant),
      [`Success@${k}`]: hits > 0 ? 1 : 0,
    };
  };

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %i', (seed) => {
    const rng = createRng(seed);
    const qrels = new Map<string, Map<string, number>>();
    const run = new Map<string, Ranking>();
    for (let q = 0; q < 40; q++) {
      const pool = Array.from({ length: 30 }, (_, i) => `d${i}`);
      qrels.set(`q${q}`, new Map(pool.filter(() => rng.next() < 0.4).map((id) => [id, rng.int(5) - 1])));
      if (qrels.get(`q${q}`)!.size === 0) qrels.get(`q${q}`)!.set('d0', 1);
      if (rng.next() < 0.1) continue;
      const ids = pool.filter(() => rng.next() < 0.7);
      run.set(`q${q}`, { ids, scores: Float64Array.from(ids, () => rng.int(6) / 3 + rng.int(2) * 1e-10) });
    }
    for (const ties of ['id', 'trec'] as const) {
      for (const k of [1, 3, 10, 100]) {
        const names = `nDCG@${k} AP RR P@${k} R@${k} nCG@${k} Success@${k}`;
        const { perQuery } = evaluate(run, qrels, parseMeasures(names), { ties });
        for (const query of qrels.keys()) {
          for (const [name, value] of Object.entries(oracle(run, qrels, query, ties, k))) {
            expect(perQuery[name][query], `${ties} ${name} ${query}`).toBeCloseTo(value, 12);
          }
        }
      }
    }
  });
});
