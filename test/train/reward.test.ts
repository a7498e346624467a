import { describe, expect, it } from 'vitest';
import { createBm25Retriever } from '../../index/retrievers/bm25.ts';
import { arrayCorpus, corpusWithTexts } from '../../src/data/mod.ts';
import { createRng, type Rng } from '../../src/kernels/rng.ts';
import { evaluate, parseMeasure } from '../../src/metrics/mod.ts';
import type { Corpus, Qrels, Query, Ranking } from '../../src/types.ts';
import { PRESETS, type TrainOptions } from '../../train/options.ts';
import { createRewarder } from '../../train/reward.ts';
import { trainingQueries } from '../../train/training-queries.ts';

const retriever = createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'standard', statistics: 'recompute' });
const options = (over: Partial<TrainOptions> = {}): TrainOptions => ({ ...PRESETS.edit, rewardK: 3, ...over });

interface World {
  corpus: Corpus;
  queries: Query[];
  qrels: Qrels;
  ids: string[];
}

/** Few words, so that equal texts, ties, empty documents and queries over many documents all occur. */
function randomWorld(rng: Rng): World {
  const words = (count: number) => Array.from({ length: count }, () => `w${rng.int(9)}`).join(' ');
  const size = 5 + rng.int(8);
  const corpus = arrayCorpus(
    Array.from({ length: size }, (_, i) => ({ id: `d${i}`, title: '', text: words(rng.int(5)) })),
  );
  const queries = Array.from({ length: 4 + rng.int(6) }, (_, i) => ({ id: `q${i}`, text: words(1 + rng.int(3)) }));
  const qrels = new Map(
    queries.map(({ id }) => [
      id,
      new Map(Array.from({ length: rng.int(4) }, () => [`d${rng.int(size)}`, rng.int(5) - 1] as const)),
    ]),
  );
  return { corpus, queries, qrels, ids: queries.map(({ id }) => id) };
}

const randomText = (rng: Rng): string => Array.from({ length: rng.int(6) }, () => `w${rng.int(9)}`).join(' ');

/** Rebuild with the swap, rank everything, evaluate with the project's measures. */
async function slowNdcg(world: World, document: number, text: string | undefined, k: number) {
  const texts = world.corpus.ids.map((_, i) =>
    i === document && text !== undefined ? text : world.corpus.indexText(i),
  );
  const index = await retriever.build(corpusWithTexts(world.corpus, texts));
  const rankings = await index.search(world.queries, world.corpus.size);
  const run = new Map(world.queries.map(({ id }, q) => [id, rankings[q]]));
  const measure = parseMeasure(`nDCG@${k}`);
  return { perQuery: evaluate(run, world.qrels, [measure]).perQuery[measure.name], run };
}

function meanGain(ids: readonly string[], after: Record<string, number>, before: Record<string, number>): number {
  return ids.length === 0 ? 0 : ids.reduce((sum, id) => sum + after[id] - before[id], 0) / ids.length;
}

describe('the ranking reward', () => {
  it('equals rebuilding, searching and evaluating, on random corpora with grades, several relevant documents and ties', async () => {
    const rng = createRng(1);
    let compared = 0;
    let nonZero = 0;
    let several = 0;
    for (let trial = 0; trial < 60; trial++) {
      const world = randomWorld(rng);
      const training = trainingQueries(world.corpus, world.queries, world.qrels, world.ids, 3);
      const rewarder = await createRewarder(await retriever.build(world.corpus), world.corpus, training, options(), 0);
      const candidates = rewarder.eligible.map((document) => ({
        document,
        texts: [randomText(rng), randomText(rng), world.corpus.indexText(document)],
      }));
      const rewarded = await rewarder.reward(candidates);
      const before = (await slowNdcg(world, 0, undefined, 3)).perQuery;
      for (const [i, { document, texts }] of candidates.entries()) {
        const { positive, negative } = rewarder.queriesOf(document);
        if (positive.length > 1) several++;
        for (const [t, text] of texts.entries()) {
          const after = (await slowNdcg(world, document, text, 3)).perQuery;
          const expected =
            meanGain(
              positive.map(({ id }) => id),
              after,
              before,
            ) +
            meanGain(
              negative.map(({ id }) => id),
              after,
              before,
            );
          // Measured, an emptied document would be rewarded for the queries that no longer find it.
          const emptied = text.trim() === '' && world.corpus.indexText(document).trim() !== '';
          expect(rewarded[i].rewards[t]).toBeCloseTo(emptied ? -2 : expected, 12);
          compared++;
          if (Math.abs(expected) > 1e-9) nonZero++;
        }
        // The identity: an unchanged text earns exactly nothing.
        expect(rewarded[i].rewards[2]).toBe(0);
      }
    }
    expect(compared).toBeGreaterThan(300);
    expect(nonZero).toBeGreaterThan(100);
    expect(several).toBeGreaterThan(20);
  });

  it('reports how each query moved', async () => {
    const corpus = arrayCorpus([
      { id: 'a', title: '', text: 'x' },
      { id: 'b', title: '', text: 'y y' },
      { id: 'c', title: '', text: 'y' },
    ]);
    const queries = [
      { id: 'q1', text: 'y' },
      { id: 'q2', text: 'x' },
    ];
    const qrels = new Map([
      ['q1', new Map([['c', 1]])],
      ['q2', new Map([['a', 1]])],
    ]);
    const training = trainingQueries(corpus, queries, qrels, ['q1', 'q2'], 3);
    const rewarder = await createRewarder(await retriever.build(corpus), corpus, training, options(), 0);
    const [rewarded] = await rewarder.reward([{ document: 2, texts: ['y y y y'] }]);
    expect(rewarded.moves[0][0]).toMatchObject({
      queryId: 'q1',
      positive: true,
      rankBefore: 2,
      rankAfter: 1,
      ndcgAfter: 1,
    });
    expect(rewarded.moves[0][1]).toMatchObject({ queryId: 'q2', positive: false, rankBefore: null, rankAfter: null });
    expect(rewarded.rewards[0]).toBeCloseTo(1 - 1 / Math.log2(3), 12);
  });
});

describe('pessimistic ties', () => {
  /** The definition on whole rankings: order by score, the swapped document after (or before) its equals. */
  function pessimisticNdcg(
    ranking: Ranking,
    grades: ReadonlyMap<string, number>,
    id: string,
    wins: boolean,
    k: number,
  ) {
    const rows = ranking.ids.map((other, i) => ({ other, score: ranking.scores[i] }));
    rows.sort(
      (a, b) =>
        b.score - a.score ||
        (wins ? 1 : -1) * (Number(b.other === id) - Number(a.other === id)) ||
        (a.other < b.other ? -1 : 1),
    );
    const grade = (other: string) => Math.max(0, grades.get(other) ?? 0);
    const ideal = [...grades.keys()]
      .map(grade)
      .sort((a, b) => b - a)
      .slice(0, k);
    const dcg = (gains: number[]) => gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
    return dcg(ideal) === 0 ? 0 : dcg(rows.slice(0, k).map(({ other }) => grade(other))) / dcg(ideal);
  }

  it('equal the definition on whole rankings, and leave an unchanged text at exactly 0', async () => {
    const rng = createRng(7);
    let differs = 0;
    for (let trial = 0; trial < 60; trial++) {
      const world = randomWorld(rng);
      const training = trainingQueries(world.corpus, world.queries, world.qrels, world.ids, 2);
      const index = await retriever.build(world.corpus);
      const strict = await createRewarder(
        index,
        world.corpus,
        training,
        options({ rewardK: 2, rewardTies: 'pessimistic' }),
        0,
      );
      const order = await createRewarder(index, world.corpus, training, options({ rewardK: 2 }), 0);
      for (const document of strict.eligible) {
        const id = world.corpus.ids[document];
        // Copying a competitor makes ties certain.
        const copy = world.corpus.indexText(rng.int(world.corpus.size));
        const texts = [copy, randomText(rng), world.corpus.indexText(document)];
        const [rewarded] = await strict.reward([{ document, texts }]);
        const [plain] = await order.reward([{ document, texts }]);
        const { positive, negative } = strict.queriesOf(document);
        const before = (await slowNdcg(world, document, undefined, 2)).run;
        for (const [t, text] of texts.entries()) {
          const after = (await slowNdcg(world, document, text, 2)).run;
          const gain = (queries: readonly Query[], wins: boolean) =>
            queries.reduce((sum, query) => {
              const grades = world.qrels.get(query.id)!;
              return (
                sum +
                pessimisticNdcg(after.get(query.id)!, grades, id, wins, 2) -
                pessimisticNdcg(before.get(query.id)!, grades, id, wins, 2)
              );
            }, 0) / queries.length;
          const emptied = text.trim() === '' && world.corpus.indexText(document).trim() !== '';
          const expected = emptied ? -2 : gain(positive, false) + gain(negative, true);
          expect(rewarded.rewards[t]).toBeCloseTo(expected, 12);
          if (Math.abs(rewarded.rewards[t] - plain.rewards[t]) > 1e-9) differs++;
        }
        expect(rewarded.rewards[2]).toBe(0);
      }
    }
    expect(differs).toBeGreaterThan(20);
  });
});

describe('similarity and hybrid rewards', () => {
  it('measure scores under the swap in units of the spread of all similarities', async () => {
    const rng = createRng(3);
    let compared = 0;
    for (let trial = 0; trial < 20; trial++) {
      const world = randomWorld(rng);
      const training = trainingQueries(world.corpus, world.queries, world.qrels, world.ids, 3);
      const index = await retriever.build(world.corpus);
      const make = (reward: TrainOptions['reward']) =>
        createRewarder(index, world.corpus, training, options({ reward }), 0);
      const [ranking, similarity, hybrid] = [await make('ranking'), await make('similarity'), await make('hybrid')];
      const matrix = await index.similarities(training.queries, world.corpus.ids);
      const mean = [...matrix.data].reduce((a, b) => a + b, 0) / matrix.data.length;
      const spread = Math.sqrt([...matrix.data].reduce((sum, v) => sum + (v - mean) ** 2, 0) / matrix.data.length);
      for (const document of similarity.eligible) {
        const id = world.corpus.ids[document];
        const texts = [randomText(rng), world.corpus.indexText(document)];
        const { positive, negative } = similarity.queriesOf(document);
        const scoreIn = (run: Map<string, Ranking>, query: Query) => {
          const { ids, scores } = run.get(query.id)!;
          return ids.includes(id) ? scores[ids.indexOf(id)] : 0;
        };
        const before = (await slowNdcg(world, document, undefined, 3)).run;
        const after = (await slowNdcg(world, document, texts[0], 3)).run;
        const gain = (queries: readonly Query[]) =>
          queries.reduce((sum, query) => sum + scoreIn(after, query) - scoreIn(before, query), 0) / queries.length;
        const expected = (gain(positive) - gain(negative)) / spread;
        const emptied = texts[0].trim() === '' && texts[1].trim() !== '';
        const candidates = [{ document, texts }];
        const [[byRank], [bySimilarity], [byBoth]] = await Promise.all(
          [ranking, similarity, hybrid].map((rewarder) => rewarder.reward(candidates)),
        );
        expect(bySimilarity.rewards[0]).toBeCloseTo(emptied ? -2 : expected, 9);
        expect(byBoth.rewards[0]).toBeCloseTo(emptied ? -2 : (byRank.rewards[0] + expected) / 2, 9);
        expect(bySimilarity.rewards[1]).toBe(0);
        expect(byBoth.rewards[1]).toBe(0);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(50);
  });
});

describe('a similarity far down a large collection', () => {
  it('is found by looking deeper, where it is needed and no further', async () => {
    const corpus = arrayCorpus(
      Array.from({ length: 3000 }, (_, i) => ({ id: `d${i}`, title: '', text: `w ${'x '.repeat(i % 50)}` })),
    );
    const queries = ['w', 'y'].map((text, i) => ({ id: `q${i}`, text }));
    const qrels = new Map(queries.map(({ id }) => [id, new Map([['d7', 1]])]));
    const inner = await retriever.build(corpus);
    const asked: [depth: number, queries: number][] = [];
    const index: typeof inner = {
      ...inner,
      size: inner.size,
      search: (...args) => inner.search(...args),
      similarities: (...args) => inner.similarities(...args),
      searchReplacing: (replacements, rows, depth) => {
        asked.push([depth, rows.flat().length]);
        return inner.searchReplacing(replacements, rows, depth);
      },
    };
    const training = trainingQueries(corpus, queries, qrels, ['q0', 'q1'], 3);
    const over = { reward: 'similarity', negatives: 'none' } as const;
    const rewarder = await createRewarder(index, corpus, training, options(over), 0);
    const far = `w ${'x '.repeat(49)}`;
    const [{ rewards }] = await rewarder.reward([{ document: 7, texts: [far, corpus.indexText(7)] }]);
    const scoreOf = async (text: string) =>
      (await inner.searchReplacing([{ id: 'd7', text }], [queries], 3000))[0].map(({ ids, scores }) =>
        ids.includes('d7') ? scores[ids.indexOf('d7')] : 0,
      );
    const [after, before] = [await scoreOf(far), await scoreOf(corpus.indexText(7))];
    const all = [...(await inner.similarities(queries, corpus.ids)).data];
    const mean = all.reduce((a, b) => a + b, 0) / all.length;
    const spread = Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / all.length);
    expect(rewards[0]).toBeLessThan(0);
    expect(rewards[0]).toBeCloseTo((after[0] - before[0] + after[1] - before[1]) / 2 / spread, 9);
    expect(rewards[1]).toBe(0);
    // Both texts on both queries; then q0 alone, which both are deep in; then the one that lies deeper still.
    expect(asked).toEqual([
      [3, 4],
      [800, 2],
      [6400, 1],
    ]);
  });
});

describe('which documents can be trained on', () => {
  const corpus = arrayCorpus(['a', 'b', 'c'].map((id) => ({ id, title: '', text: id })));
  const queries = ['a', 'b'].map((text, i) => ({ id: `q${i}`, text }));
  const both = new Map([
    ['q0', new Map([['a', 1]])],
    ['q1', new Map([['b', 1]])],
  ]);
  const eligible = async (qrels: Qrels, over: Partial<TrainOptions>) => {
    const training = trainingQueries(corpus, queries, qrels, ['q0', 'q1'], 3);
    return (await createRewarder(await retriever.build(corpus), corpus, training, options(over), 0)).eligible;
  };

  it('skips those without positive or without negative queries', async () => {
    expect(await eligible(both, {})).toEqual([0, 1]);
    expect(await eligible(new Map([['q0', new Map([['a', 1]])]]), {})).toEqual([]);
  });

  it('needs no negatives when none are used', async () => {
    expect(await eligible(new Map([['q0', new Map([['a', 1]])]]), { negatives: 'none' })).toEqual([0]);
    expect(await eligible(both, { negativesPerDocument: 0 })).toEqual([0, 1]);
  });

  it('emptySet zero: a missing set counts 0, so documents without positive queries take part', async () => {
    expect(await eligible(both, { emptySet: 'zero' })).toEqual([0, 1, 2]);
  });
});
