import { describe, expect, it } from 'vitest';
import type { DocOptError } from '../../../src/errors.ts';
import { parseMeasure, parseMeasures } from '../../../src/metrics/parse-measure.ts';

describe('parseMeasure', () => {
  it.each([
    ['nDCG@5', 'nDCG', 5, {}],
    ['nDCG', 'nDCG', undefined, {}],
    ['R@100', 'R', 100, {}],
    ['AP', 'AP', undefined, {}],
    ['AP(rel=2)', 'AP', undefined, { rel: 2 }],
    ['RR@10', 'RR', 10, {}],
    ['Success@1', 'Success', 1, {}],
    ['nCG@50', 'nCG', 50, {}],
    ['Judged@10', 'Judged', 10, {}],
    ["nDCG(dcg='exp-log2')@10", 'nDCG', 10, { dcg: 'exp-log2' }],
    ['IPrec@0.1', 'IPrec', 0.1, {}],
    ['P(rel=2,judged_only=True)@10', 'P', 10, { rel: 2, judged_only: true }],
    ['IPrec@1.0', 'IPrec', 1, {}],
    ['SetF(beta=2.0)', 'SetF', undefined, { beta: 2 }],
    ['RBP(p=0.5)', 'RBP', undefined, { p: 0.5 }],
    ['NumRet(rel=1)', 'NumRet', undefined, { rel: 1 }],
  ])('%s is itself in canonical form', (text, kind, cutoff, params) => {
    const measure = parseMeasure(text);
    expect(measure.name).toBe(text);
    expect(measure.kind).toBe(kind);
    expect(measure.cutoff).toBe(cutoff);
    expect(measure.params).toEqual(params);
  });

  // Canonical names printed by ir_measures 0.4.3 for the same texts (parse_measure and parse_trec_measure).
  it.each([
    ['NDCG@10', 'nDCG@10'],
    ['MAP', 'AP'],
    ['MRR@10', 'RR@10'],
    ['Precision@3', 'P@3'],
    ['Recall@20', 'R@20'],
    ['SetRelP', 'SetP(relative=True)'],
    ['NumRelRet', 'NumRet(rel=1)'],
    ['nDCG(cutoff=5)', 'nDCG@5'],
    ['AP(rel=1)', 'AP'],
    ['nDCG(dcg="exp-log2")@10', "nDCG(dcg='exp-log2')@10"],
    ['AP( rel = 2 )@5', 'AP(rel=2)@5'],
    ['nDCG(gains={0:0, 1:1, 2:3})@5', 'nDCG(gains={2:3})@5'],
    ['ndcg_cut_10', 'nDCG@10'],
    ['ndcg_cut.10', 'nDCG@10'],
    ['recall_100', 'R@100'],
    ['map', 'AP'],
    ['recip_rank', 'RR'],
    ['P_5', 'P@5'],
    ['iprec_at_recall_0.10', 'IPrec@0.1'],
    ['IPrec@0', 'IPrec@0.0'],
  ])('%s means %s', (text, canonical) => {
    expect(parseMeasure(text).name).toBe(canonical);
  });

  it.each([
    ['nDGC@5', /no measure 'nDGC'.*Did you mean 'nDCG'/],
    ['ndcg@5', /no measure 'ndcg'.*Did you mean 'nDCG'/],
    ['Foo', /no measure 'Foo'/],
    ['', /not a measure/],
    ['nDCG@', /not a measure/],
    ['nDCG@0', /cutoff '0'.*whole number/],
    ['nDCG@5.5', /cutoff '5.5'.*whole number/],
    ['nDCG@-5', /cutoff '-5'/],
    ['nDCG@1e3', /cutoff '1e3'/],
    ['IPrec@2', /recall from 0 to 1/],
    ['P', /needs a cutoff/],
    ['Rprec@5', /takes no cutoff/],
    ['AP(rel=x)', /'rel=x'.*whole number of at least 0/],
    ['AP(rel=-1)', /'rel=-1'/],
    ['AP(rell=2)', /no parameter 'rell'.*Did you mean 'rel'/],
    ['AP(2)', /not key=value/],
    ["nDCG(dcg='log3')@5", /one of 'log2', 'exp-log2'/],
    ['RBP(p=1)', /below 1/],
    ['__proto__', /not a measure|no measure/],
    ['constructor', /no measure 'constructor'/],
    ['AP(constructor=1)', /no parameter 'constructor'/],
  ])('%s is refused', (text, message) => {
    expect(() => parseMeasure(text)).toThrow(message);
    try {
      parseMeasure(text);
    } catch (error) {
      expect((error as DocOptError).code).toBe('USAGE');
      expect((error as DocOptError).hint).not.toBe('');
    }
  });
});

describe('parseMeasures', () => {
  it('splits at blanks and commas outside brackets', () => {
    const names = parseMeasures(" nDCG@5 R@100,AP(rel=2, judged_only=True)  nDCG(dcg='exp-log2')@10,").map(
      (m) => m.name,
    );
    expect(names).toEqual(['nDCG@5', 'R@100', 'AP(rel=2,judged_only=True)', "nDCG(dcg='exp-log2')@10"]);
  });

  it('puts a text together again that was cut at every blank and comma', () => {
    const cut = ['nDCG@5', 'AP(rel=2', 'judged_only=True)', 'nDCG(gains={1:2', '2:5})@3'];
    expect(parseMeasures(cut).map((m) => m.name)).toEqual([
      'nDCG@5',
      'AP(rel=2,judged_only=True)',
      'nDCG(gains={1:2,2:5})@3',
    ]);
  });

  it('counts doubles once and refuses none', () => {
    expect(parseMeasures('AP MAP AP(rel=1)').map((m) => m.name)).toEqual(['AP']);
    expect(() => parseMeasures('  ')).toThrow(/no measure was given/);
  });
});
