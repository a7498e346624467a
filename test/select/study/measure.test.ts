import { describe, expect, it } from 'vitest';
import { compareReport } from '../../../select/compare.ts';
import { compareTables } from '../../../select/study/compare-tables.ts';
import { measureGroup, median } from '../../../select/study/measure.ts';
import { parseSystem, type StudySystem } from '../../../select/study/systems.ts';
import { studyGroup } from '../../support/study-group.ts';

const system = (name: string) => parseSystem(name, { seed: 1, sweep: true });

/** nCG and CE-nCG from the definitions: the best k gains of the pool by sorting, what was chosen by adding up. */
function byHand(gains: Float64Array, chosen: readonly number[], k: number): number {
  const best = [...gains]
    .sort((a, b) => b - a)
    .slice(0, k)
    .reduce((sum, gain) => sum + gain, 0);
  return chosen.slice(0, k).reduce((sum, position) => sum + gains[position], 0) / best;
}

describe('measureGroup', () => {
  it('gives every selector the figures that the definitions give its choice', async () => {
    const group = studyGroup(6, 40, 5);
    const report = await measureGroup(group, {
      systems: [system('boundary-morph'), system('single-stage')],
      budgets: [5, 10],
      capacities: [8, 15],
    });
    expect(report).toMatchObject({ collection: 'random', queries: 6, pool: 40, hopeless: 0, failed: 0, callMs: 2 });
    expect(report.cells).toHaveLength(2 * 2 * 2 * 2);
    expect(group.loads).toHaveLength(6);
    for (const query of group.queries) {
      const at = await group.load(query);
      // Single-stage in one line: the top B by score, then the rest as they were.
      const top = [0, 1, 2, 3, 4].sort((a, b) => at.scores[b] - at.scores[a] || a - b);
      const order = [...top, ...Array.from({ length: 35 }, (_, i) => i + 5)];
      for (const [metric, gains] of [
        ['nCG@8', at.relevance],
        ['CE-nCG@8', at.scores],
      ] as const) {
        const cell = report.cells.find((c) => c.selector === 'single-stage' && c.budget === 5 && c.metric === metric)!;
        expect(cell.perQuery[query.id]).toBeCloseTo(byHand(gains, order, 8), 12);
        const values = Object.values(cell.perQuery);
        expect(cell.mean).toBeCloseTo(values.reduce((a, b) => a + b, 0) / values.length, 14);
      }
    }
  });

  it('chooses the settings of a swept system by CE-nCG@50 per budget, and keeps them for every k', async () => {
    const group = studyGroup(8, 70, 9);
    // A sweep whose outcome can be known: each candidate is one selector of the registry, run for itself beside it.
    const names = ['single-stage', 'boundary-morph', 'boundary-morph:gap=additive'];
    const swept: StudySystem = {
      name: 'swept',
      driver: 'swept',
      ignoresCapacity: false,
      candidates: names.map((name) => ({ settings: { name }, selector: system(name).candidates[0].selector })),
    };
    const settings = { budgets: [4, 12], capacities: [10, 50] };
    const report = await measureGroup(group, { systems: [swept, ...names.map(system)], ...settings });
    for (const budget of settings.budgets) {
      const mean = (name: string) =>
        report.cells.find((c) => c.selector === name && c.budget === budget && c.metric === 'CE-nCG@50')!.mean;
      const best = names.reduce((a, b) => (mean(b) > mean(a) ? b : a));
      const own = report.cells.filter((c) => c.selector === 'swept' && c.budget === budget);
      expect(own.map((c) => c.settings)).toEqual(own.map(() => ({ name: best })));
      for (const cell of own) {
        const same = report.cells.find((c) => c.selector === best && c.budget === budget && c.metric === cell.metric)!;
        expect(cell.perQuery).toEqual(same.perQuery);
      }
    }
  });

  it('takes a failed call as no gain and says how many there were', async () => {
    const group = studyGroup(3, 20, 2);
    const failing = {
      ...group,
      load: async (query: { id: string; text: string }) => {
        const at = await group.load(query);
        return { ...at, scores: at.scores.map((score, i) => (i % 5 === 0 ? Number.NaN : score)) };
      },
    };
    const report = await measureGroup(failing, { systems: [system('boundary-morph')], budgets: [20], capacities: [5] });
    expect(report.failed).toBe(12);
    for (const { mean } of report.cells) expect(mean).toBeGreaterThan(0);
  });
});

describe('compareReport', () => {
  it('tests the focus against every other selector in every cell, and adjusts over all of them', async () => {
    const report = compareReport(
      [
        await measureGroup(studyGroup(20, 50, 7), {
          systems: [system('boundary-morph'), system('single-stage')],
          budgets: [6],
          capacities: [10, 20],
        }),
      ],
      { seed: 1 },
    );
    expect(report.focus).toBe('boundary-morph');
    expect(report.tests).toHaveLength(4);
    for (const test of report.tests) {
      expect([test.a, test.b, test.n]).toEqual(['boundary-morph', 'single-stage', 20]);
      const [a, b] = [test.a, test.b].map(
        (name) => report.cells.find((c) => c.selector === name && c.metric === test.metric)!,
      );
      expect(test.delta).toBeCloseTo(a.mean - b.mean, 12);
      expect(test.wins + test.losses + test.ties).toBe(20);
      expect(test.adjustedP).toBeGreaterThanOrEqual(test.p);
      expect(test.interval[0]).toBeLessThanOrEqual(test.delta);
    }
    const text = compareTables(report);
    expect(text).toContain('| nCG@k, %');
    expect(text).toContain('against single-stage');
  });

  it('refuses a focus that did not run', () => {
    expect(() => compareReport([], { focus: 'x', seed: 1 })).not.toThrow();
    const cell = { collection: 'c', retriever: 'r', reranker: 'x', selector: 's', budget: 1, capacity: 1 };
    const group = { cells: [{ ...cell, metric: 'nCG@1', mean: 1, perQuery: { q: 1 }, selectorMs: 1 }] };
    expect(() => compareReport([group as never], { focus: 'x', seed: 1 })).toThrow(/--focus x/);
  });
});

it('median', () => {
  expect(median(Float64Array.from([3, 1, 2]))).toBe(2);
  expect(median(Float64Array.from([4, 1, 2, 3]))).toBe(2.5);
  expect(median(new Float64Array(0))).toBeNaN();
});
