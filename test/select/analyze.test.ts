import { describe, expect, it } from 'vitest';
import { type AnalyzeSettings, analyze, type FigureName } from '../../select/analyze.ts';
import { chatOf } from '../../select/study/chat.ts';
import type { Audit } from '../../select/study/figures/audit.ts';
import { landscapeOf, type Multimodality } from '../../select/study/figures/multimodality.ts';
import { play } from '../../select/study/play.ts';
import { parseSystem } from '../../select/study/systems.ts';
import type { StudyGroup } from '../../select/study/types.ts';
import { spearman } from '../../src/metrics/mod.ts';
import { scriptedPolicy } from '../support/scripted-policy.ts';
import { studyGroup } from '../support/study-group.ts';

const group = studyGroup(6, 60, 4);
const settings = (figures: FigureName[], more: Partial<AnalyzeSettings> = {}): AnalyzeSettings => ({
  figures,
  systems: ['boundary-morph', 'bagel', 'single-stage'].map((name) => parseSystem(name, { seed: 1, sweep: true })),
  budgets: [10],
  capacities: [8, 20],
  sweep: true,
  seed: 1,
  agentic: { depths: [5], hops: [1] },
  ...more,
});
async function* only(...groups: StudyGroup[]): AsyncGenerator<StudyGroup> {
  yield* groups;
}

describe('analyze', () => {
  it('coverage: what the pools hold of what is relevant', async () => {
    const { json, text } = await analyze(only(group), settings(['coverage']));
    const figure = json.analyses[0].figures.coverage as Record<string, { min: number; max: number; mean: number }>;
    const shares: number[] = [];
    for (const query of group.queries) {
      const at = await group.load(query);
      shares.push(at.relevance.reduce((a, b) => a + b, 0) / at.relevant);
    }
    expect(figure.coverage.mean).toBeCloseTo(shares.reduce((a, b) => a + b, 0) / 6, 12);
    expect(figure.coverage.max).toBe(Math.max(...shares));
    expect(figure.words).toMatchObject({ min: 2, max: 2 });
    expect(text).toContain('relevant documents');
  });

  it('capacity: each selector that looks at k, told one and judged at another', async () => {
    const { json } = await analyze(only(group), settings(['capacity']));
    const rows = json.analyses[0].figures.capacity as {
      selector: string;
      optimised: number;
      evaluated: number;
      ceNCG: number;
    }[];
    // bagel and single-stage do not look at k.
    expect(rows.map((row) => [row.selector, row.optimised, row.evaluated])).toEqual([
      ['boundary-morph', 8, 8],
      ['boundary-morph', 8, 20],
      ['boundary-morph', 20, 8],
      ['boundary-morph', 20, 20],
    ]);
  });

  it('allocation: the two parts of CE-nCG, and who was scored', async () => {
    const { json } = await analyze(only(group), settings(['allocation', 'frontier']));
    const { allocation } = json.analyses[0].figures as {
      allocation: {
        selector: string;
        capacity: number;
        fromScored: number;
        fromEstimated: number;
        scoredInSet: number;
        calls: number;
      }[];
    };
    for (const row of allocation) expect(row.calls).toBeCloseTo(10, 9);
    const single = allocation.find((row) => row.selector === 'single-stage' && row.capacity === 8)!;
    // It returns the best of what it scored, so nothing of its set is estimated.
    expect([single.fromEstimated, single.scoredInSet]).toEqual([0, expect.closeTo(8, 9)]);
    const morph = allocation.find((row) => row.selector === 'boundary-morph' && row.capacity === 20)!;
    const sums = { scored: 0, estimated: 0 };
    for (const query of group.queries) {
      const at = await group.load(query);
      const { order, scored } = await play(at, settings([]).systems[0].candidates[0].selector, 10, 20);
      const ideal = [...at.scores]
        .sort((a, b) => b - a)
        .slice(0, 20)
        .reduce((a, b) => a + b, 0);
      for (const position of order.slice(0, 20)) {
        sums[scored[position] === 1 ? 'scored' : 'estimated'] += at.scores[position] / ideal / 6;
      }
    }
    expect(morph.fromScored).toBeCloseTo(sums.scored, 12);
    expect(morph.fromEstimated).toBeCloseTo(sums.estimated, 12);
  });

  it('multimodality: peaks of every query, and their correlation with the advantage', async () => {
    const { json } = await analyze(only(group), settings(['multimodality']));
    const { queries, correlations } = json.analyses[0].figures.multimodality as Multimodality;
    for (const [i, query] of group.queries.entries()) {
      const { peaks, mass } = landscapeOf(await group.load(query));
      expect(queries[i]).toMatchObject({ query: query.id, peaks: peaks.length, mass });
      expect(peaks.reduce((sum, { members }) => sum + members.length, 0)).toBe(60);
    }
    expect(new Set(correlations.map(({ a, b }) => `${a} ${b}`))).toEqual(
      new Set(['boundary-morph bagel', 'boundary-morph single-stage']),
    );
    expect(correlations).toHaveLength(2 * 2 * 2);
    expect(spearman([1, 2, 3], [1, 2, 3]).rho).toBe(1);
  });

  it('latency and frontier: calls times their time, and no point that another beats', async () => {
    const { json } = await analyze(only(group), settings(['latency', 'frontier'], { budgets: [5, 10] }));
    const { latency, frontier } = json.analyses[0].figures as {
      latency: { budget: number; rerankerMs: number; algorithmMs: number; totalMs: number }[];
      frontier: { capacity: number; cost: number; nCG: number; efficient: boolean }[];
    };
    for (const row of latency) {
      // The median of 1, 2 and 3 ms.
      expect(row.rerankerMs).toBe(2 * row.budget);
      expect(row.totalMs).toBe(row.rerankerMs + row.algorithmMs);
    }
    expect(frontier.some(({ efficient }) => efficient)).toBe(true);
    for (const point of frontier) {
      const beaten = frontier.some(
        (o) =>
          o.capacity === point.capacity &&
          o.cost <= point.cost &&
          o.nCG >= point.nCG &&
          (o.cost < point.cost || o.nCG > point.nCG),
      );
      expect(point.efficient).toBe(!beaten);
    }
  });

  it('kernels, noise and robustness: over all groups', async () => {
    const plain = { ...group, lexical: false, retriever: 'other' };
    const { json, text } = await analyze(only(group, plain), settings(['kernels', 'robustness'], { capacities: [8] }));
    expect(json.analyses).toHaveLength(3);
    const { kernels, robustness } = json.analyses[2].figures as {
      kernels: { effects: { selector: string; kernel: string; n: number }[]; noise: { selector: string }[] };
      robustness: { retriever: string; selector: string; lift: number }[];
    };
    expect(new Set(kernels.effects.map(({ selector, kernel }) => `${selector} ${kernel}`)).size).toBe(4);
    for (const { n } of kernels.effects) expect(n).toBe(6);
    expect(new Set(kernels.noise.map(({ selector }) => selector))).toEqual(new Set(['morph-hybrid', 'dense-log']));
    expect(new Set(robustness.map(({ retriever }) => retriever))).toEqual(new Set(['order', 'other']));
    expect(text).toContain('## Kernels');
  });

  it('audit: perfect for a judge that knows, unreadable for one that rambles', async () => {
    // Two islands far apart: everything high on one side or the other.
    const vectors = Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? [1, i / 1e4] : [i / 1e4, 1]));
    const base = await group.load(group.queries[0]);
    const islands: StudyGroup = {
      ...group,
      queries: group.queries.slice(0, 1),
      load: async () => ({
        ...base,
        pool: { ...base.pool, embeddings: { rows: 60, columns: 2, data: Float64Array.from(vectors.flat()) } },
        scores: Float64Array.from({ length: 60 }, (_, i) => 0.9 - i / 1000),
        textAt: (position) => (position % 2 === 0 ? 'of north' : 'of east'),
      }),
    };
    const knowing = scriptedPolicy((prompt) => {
      const sides = [...prompt.matchAll(/number="(\d+)">\nof (north|east)/g)];
      const of = (side: string) => sides.filter((match) => match[2] === side).map((match) => Number(match[1]));
      return JSON.stringify({ groups: [of('north'), of('east')] });
    });
    const audit = async (policy: typeof knowing) =>
      (await analyze(only(islands), settings(['audit'], { chat: chatOf(policy) }))).json.analyses[0].figures
        .audit as Audit;
    const right = await audit(knowing);
    expect(right.pairs).toEqual([{ query: 'q0', peaks: [0, 1], documents: 16, agreement: 1 }]);
    expect([right.mean, right.aboveChance, right.clean]).toEqual([1, 1, 1]);
    for (const answer of ['{"groups": [[1], [2]]}', '{"groups": [[1, 1]]}', 'I cannot', '{"groups": [[1, 99], []]}']) {
      const wrong = await audit(scriptedPolicy(() => answer));
      expect([wrong.pairs[0].agreement, wrong.mean]).toEqual([null, null]);
    }
  });
});
