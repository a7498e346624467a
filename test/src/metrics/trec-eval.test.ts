import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../src/metrics/evaluate.ts';
import { parseMeasure } from '../../../src/metrics/parse-measure.ts';
import type { Qrels, Run } from '../../../src/types.ts';

const folder = new URL('../../golden/trec_eval/', import.meta.url);
const rows = (file: string) =>
  readFileSync(new URL(file, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

const qrels = new Map<string, Map<string, number>>();
for (const [query, , document, grade] of rows('qrels.test')) {
  if (!qrels.has(query)) qrels.set(query, new Map());
  qrels.get(query)!.set(document, Number(grade));
}
const rankings = new Map<string, { ids: string[]; scores: number[] }>();
for (const [query, , document, , score] of rows('results.test')) {
  if (!rankings.has(query)) rankings.set(query, { ids: [], scores: [] });
  rankings.get(query)!.ids.push(document);
  rankings.get(query)!.scores.push(Number(score));
}
const run: Run = new Map(
  [...rankings].map(([query, r]) => [query, { ids: r.ids, scores: Float64Array.from(r.scores) }]),
);

const CUTS = [5, 10, 15, 20, 30, 100, 200, 500, 1000];
const SHARED = [
  'map ndcg Rprec bpref infAP recip_rank set_P set_relative_P set_recall set_F set_map'.split(' '),
  'num_q num_rel num_ret num_rel_ret'.split(' '),
  ['P', 'recall', 'ndcg_cut', 'map_cut', 'relative_P'].flatMap((name) => CUTS.map((cut) => `${name}_${cut}`)),
  [1, 5, 10].map((cut) => `success_${cut}`),
  Array.from({ length: 11 }, (_, i) => `iprec_at_recall_${(i / 10).toFixed(2)}`),
].flat();

describe('trec_eval 10.0-rc3 golden files', () => {
  const golden = new Map(rows('out.test.aq').map(([name, query, value]) => [`${name} ${query}`, value]));

  it.each(SHARED)('%s agrees per query and over all', (name) => {
    const measure = parseMeasure(name);
    const { mean, perQuery } = evaluate(run, qrels as Qrels, [measure], { ties: 'trec' });
    const digits = name.startsWith('num_') ? 0 : 4;
    expect(mean[measure.name].toFixed(digits)).toBe(golden.get(`${name} all`));
    const queries = name === 'num_q' ? [] : ['301', '302', '303'];
    for (const query of queries) {
      expect(perQuery[measure.name][query].toFixed(digits)).toBe(golden.get(`${name} ${query}`));
    }
  });

  it('rbp (p = .9, binary grades) and the complement of unj_k', () => {
    const measures = ['RBP(p=0.9)', 'Judged@5', 'Judged@10', 'Judged@20'].map(parseMeasure);
    const { perQuery } = evaluate(run, qrels as Qrels, measures, { ties: 'trec' });
    for (const query of ['301', '302', '303']) {
      expect(perQuery['RBP(p=0.9)'][query].toFixed(4)).toBe(golden.get(`rbp ${query}`));
      for (const cut of [5, 10, 20]) {
        expect((1 - perQuery[`Judged@${cut}`][query]).toFixed(4)).toBe(golden.get(`unj_${cut} ${query}`));
      }
    }
  });

  it('covers every measure of the file except those without a counterpart', () => {
    const without = /^(runid|relstring|gm_|G$|binG|Rndcg|ndcg_rel|utility|11pt_avg|Rprec_mult|num_nonrel|rbp|unj_)/;
    const names = new Set([...golden.keys()].map((key) => key.split(' ')[0]).filter((name) => !without.test(name)));
    expect([...names].sort()).toEqual([...SHARED].sort());
  });
});
