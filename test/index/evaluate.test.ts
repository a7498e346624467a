import { describe, expect, it } from 'vitest';
import { evaluateSystems, inEvaluationOrder, type System, truncateRun, withoutSelf } from '../../index/evaluate.ts';
import { evaluationTable } from '../../index/evaluation-table.ts';
import { checkGates, parseGates } from '../../index/gates.ts';
import { createRng } from '../../src/kernels/rng.ts';
import { benjaminiHochberg, pairedT, parseMeasures } from '../../src/metrics/mod.ts';
import type { Qrels, Ranking, Run } from '../../src/types.ts';

const ranking = (...ids: string[]): Ranking => ({ ids, scores: Float64Array.from(ids, (_, i) => ids.length - i) });
const qrels: Qrels = new Map(['q1', 'q2', 'q3', 'q4'].map((id) => [id, new Map([[`d-${id}`, 1]])]));
const system = (name: string, ranks: Record<string, number>): System => ({
  name,
  run: new Map(
    Object.entries(ranks).map(([id, rank]) => [
      id,
      ranking(...Array.from({ length: 5 }, (_, i) => (i + 1 === rank ? `d-${id}` : `x${i}`))),
    ]),
  ),
});
const before = system('before', { q1: 2, q2: 4, q3: 1, q4: 3 });
const after = system('after', { q1: 1, q2: 2, q3: 1 });

describe('evaluateSystems', () => {
  const report = evaluateSystems([before, after], qrels, {
    measures: parseMeasures('RR Success@1 NumRel'),
    split: 'test',
    test: 't',
    resamples: 500,
    seed: 7,
  });

  it('has exactly the keys that scripts read', () => {
    expect(Object.keys(report)).toEqual(['metrics', 'split', 'queries', 'systems', 'comparisons']);
    expect(Object.keys(report.systems[0])).toEqual(['name', 'mean', 'perQuery']);
    expect(Object.keys(report.comparisons[0])).toEqual(
      'baseline system metric n delta interval level p adjustedP test exact resamples seed wins losses ties'.split(' '),
    );
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it('means and values per query', () => {
    expect(report.metrics).toEqual(['RR', 'Success@1', 'NumRel']);
    expect([report.split, report.queries]).toEqual(['test', 4]);
    expect(report.systems[0].perQuery.RR).toEqual({ q1: 1 / 2, q2: 1 / 4, q3: 1, q4: 1 / 3 });
    expect(report.systems[1].mean).toEqual({ RR: 2.5 / 4, 'Success@1': 1 / 2, NumRel: 4 });
  });

  it('compares with the first system, counts not', () => {
    expect(report.comparisons.map(({ metric }) => metric)).toEqual(['RR', 'Success@1']);
    const [rr] = report.comparisons;
    const differences = [1 / 2, 1 / 4, 0, -1 / 3];
    expect(rr).toMatchObject({ baseline: 'before', system: 'after', n: 4, wins: 2, losses: 1, ties: 1, level: 0.95 });
    expect(rr.delta).toBeCloseTo(differences.reduce((a, b) => a + b) / 4, 15);
    expect(rr.p).toBe(pairedT(differences).p);
    expect(rr.interval[0]).toBeLessThan(rr.delta);
    expect(rr.interval[1]).toBeGreaterThan(rr.delta);
    expect(report.comparisons.map((c) => c.adjustedP)).toEqual(benjaminiHochberg(report.comparisons.map((c) => c.p)));
  });

  it('same seed, same report', () => {
    const rng = createRng(3);
    const many = new Map(Array.from({ length: 60 }, (_, i) => [`q${i}`, new Map([[`d-q${i}`, 1]])]));
    const random = (name: string) =>
      system(name, Object.fromEntries([...many.keys()].map((id) => [id, 1 + rng.int(5)])));
    const systems = [random('a'), random('b')];
    const settings = { measures: parseMeasures('RR'), resamples: 200 };
    const first = evaluateSystems(systems, many, settings);
    expect(evaluateSystems(systems, many, settings)).toEqual(first);
    expect(first.comparisons[0].exact).toBe(false);
    expect(evaluateSystems(systems, many, { ...settings, seed: 2 }).comparisons[0].interval).not.toEqual(
      first.comparisons[0].interval,
    );
  });

  it('a system against itself: nothing changes, p = 1', () => {
    const same = evaluateSystems([before, { ...before, name: 'again' }], qrels, { measures: parseMeasures('RR') });
    expect(same.comparisons[0]).toMatchObject({ delta: 0, interval: [0, 0], p: 1, adjustedP: 1, wins: 0, ties: 4 });
  });

  it('keeps to the wanted queries and to those with enough relevant documents', () => {
    const graded: Qrels = new Map([
      [
        'q1',
        new Map([
          ['a', 1],
          ['b', 2],
        ]),
      ],
      [
        'q2',
        new Map([
          ['a', 1],
          ['b', 0],
          ['c', -1],
        ]),
      ],
      ['q3', new Map([['a', 0]])],
    ]);
    const run = [{ name: 'empty', run: new Map() as Run }];
    const count = (settings: { queries?: string[]; minRelevant?: number }) =>
      evaluateSystems(run, graded, { measures: parseMeasures('AP'), ...settings }).queries;
    expect(count({})).toBe(3);
    expect(count({ queries: ['q1', 'q3', 'none'] })).toBe(2);
    expect(count({ minRelevant: 1 })).toBe(2);
    expect(count({ minRelevant: 2 })).toBe(1);
    expect(() => count({ minRelevant: 3 })).toThrow('no query has 3 or more relevant documents');
    expect(() => count({ queries: ['none'] })).toThrow('no query has judgements');
  });

  it('refuses two systems of one name', () => {
    expect(() => evaluateSystems([before, before], qrels, { measures: parseMeasures('AP') })).toThrow(
      "two systems are called 'before'",
    );
  });
});

describe('runs', () => {
  it('withoutSelf drops the document whose id is the query id, and its score', () => {
    const run: Run = new Map([
      ['a', ranking('x', 'a', 'y')],
      ['b', ranking('x', 'y')],
    ]);
    const clean = withoutSelf(run);
    expect(clean.get('a')).toEqual({ ids: ['x', 'y'], scores: Float64Array.of(3, 1) });
    expect(clean.get('b')).toBe(run.get('b'));
  });
  it('truncateRun', () => {
    const cut = truncateRun(new Map([['a', ranking('x', 'y', 'z')]]), 2);
    expect(cut.get('a')).toEqual({ ids: ['x', 'y'], scores: Float64Array.of(3, 2) });
  });
  it('inEvaluationOrder writes what is evaluated', () => {
    const run: Run = new Map([['q', { ids: ['b', 'a', 'c'], scores: Float64Array.of(1, 1, 2) }]]);
    expect(inEvaluationOrder(run, 'id').get('q')!.ids).toEqual(['c', 'a', 'b']);
    expect(inEvaluationOrder(run, 'trec').get('q')!.ids).toEqual(['c', 'b', 'a']);
    expect([...inEvaluationOrder(run, 'trec').get('q')!.scores]).toEqual([2, 1, 1]);
  });
});

describe('gates', () => {
  const report = evaluateSystems([before, after], qrels, { measures: parseMeasures('RR AP(rel=1)') });
  it('hold the last system against each bound; reaching it passes', () => {
    expect(checkGates(report, parseGates(['RR=0.625', 'AP(rel=1)=0.7']))).toEqual([
      { system: 'after', metric: 'RR', minimum: 0.625, value: 0.625, passed: true },
      { system: 'after', metric: 'AP', minimum: 0.7, value: 0.625, passed: false },
    ]);
  });
  it('come apart at blanks and commas', () => {
    expect(
      parseGates(['RR=0.5,nDCG@5=0', 'AP(rel=2', 'judged_only=True)=1e-1']).map((g) => [g.measure.name, g.minimum]),
    ).toEqual([
      ['RR', 0.5],
      ['nDCG@5', 0],
      ['AP(rel=2,judged_only=True)', 0.1],
    ]);
  });
  it.each(['nDCG@5', 'nDCG@5=', 'nDCG@5=high', '=0.5', 'AP(rel=2)', 'nDCG@5=NaN'])('%s is refused', (text) => {
    expect(() => parseGates([text])).toThrow('expected MEASURE=NUMBER');
  });
});

describe('evaluationTable', () => {
  it('is what people read', () => {
    const report = evaluateSystems([before, after], qrels, { measures: parseMeasures('RR NumRel'), split: 'test' });
    const [interval] = report.comparisons.map((c) =>
      c.interval.map((x) => `${x < 0 ? '-' : '+'}${Math.abs(x).toFixed(4)}`),
    );
    expect(evaluationTable(report)).toBe(
      [
        'split test: 4 queries',
        '',
        'system      RR  NumRel',
        'before  0.5208       4',
        'after   0.6250       4',
        '',
        'against before (randomisation test, exact)',
        '',
        'system  metric   change       95 % interval       p  adjusted p  better  worse  same',
        `after   RR      +0.1042  [${interval.join(', ')}]  0.7500      0.7500       2      1     1`,
        '',
      ].join('\n'),
    );
  });
});
