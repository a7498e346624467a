/**
 * Exact flat search through the `dense` retriever: 10,000 x 1,024 and 100,000 x 200 seeded unit vectors, one query at a
 * time and in company, and counterfactual swaps. The vectors come from a table instead of a model, so only search is
 * timed. Every timed ranking at 10,000 is compared with a plain loop and a full sort, whose time is the ratio.
 */
import { flatScores } from '../index/kernels/flat-scores.ts';
import { createDenseRetriever } from '../index/retrievers/dense.ts';
import { compareRanked } from '../src/kernels/compare.ts';
import { createRng, deriveSeed } from '../src/kernels/rng.ts';
import type { Embedder, RetrievalIndex } from '../src/ports.ts';
import type { Corpus, Query, Ranking } from '../src/types.ts';
import type { BenchResult } from './types.ts';

const TOP = 100;

export async function run(): Promise<BenchResult> {
  const wide = await shape(10_000, 1024, 64);
  const large = await shape(100_000, 200, 64);

  const single = await timeSingles(wide);
  let plainMs = 0;
  let checked = 0;
  tableOf(wide.corpus, wide.vectorOf);
  for (let q = 0; q < 16; q++) {
    const from = performance.now();
    const expected = plainSearch(wide, wide.queries[q]);
    plainMs += performance.now() - from;
    expectSame(single.rankings[q], expected);
    checked++;
  }
  const largeSingle = await timeSingles(large);
  const swaps = await timeSwaps(large);
  return {
    name: 'vector-search',
    figures: {
      singleMs10kx1024: median(single.ms),
      batchedMsPerQuery10kx1024: await timeBatch(wide),
      singleMs100kx200: median(largeSingle.ms),
      batchedMsPerQuery100kx200: await timeBatch(large),
      checkedRankings: checked,
      rewardMsPerCandidate100k: 1000 / swaps.perSecond,
      candidatesPerSecond: swaps.perSecond,
      swapsThatMoved: swaps.moved,
    },
    ratio: {
      plain: plainMs / checked / median(single.ms),
      plainKernelOneQuery: kernelRatio(wide, 1),
      plainKernelEightQueries: kernelRatio(wide, 8),
    },
  };
}

interface Shape {
  readonly corpus: Corpus;
  readonly embedder: Embedder;
  readonly queries: readonly Query[];
  readonly vectorOf: (text: string) => Float32Array;
  /** A fresh index: nothing of a query is remembered yet. */
  readonly index: () => Promise<RetrievalIndex>;
}

async function shape(size: number, width: number, queryCount: number): Promise<Shape> {
  const table = new Map<string, Float32Array>();
  const drawn = (text: string): Float32Array => {
    const rng = createRng(deriveSeed(1, text));
    const vector = Float32Array.from({ length: width }, () => rng.next() + rng.next() - 1);
    const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    return vector.map((value) => value / norm);
  };
  const vectorOf = (text: string): Float32Array => {
    const vector = table.get(text) ?? drawn(text);
    if (!text.startsWith('d')) table.set(text, vector);
    return vector;
  };
  const embedder: Embedder = {
    id: 'table',
    dimensions: width,
    async embed(texts) {
      const data = new Float32Array(texts.length * width);
      texts.forEach((text, row) => {
        data.set(vectorOf(text), row * width);
      });
      return { rows: texts.length, columns: width, data };
    },
  };
  const ids = Array.from({ length: size }, (_, i) => `d${i}`);
  const corpus: Corpus = {
    size,
    ids,
    positionOf: (id) => Number(id.slice(1)),
    original: (position) => ({ id: ids[position], title: '', text: ids[position] }),
    indexText: (position) => ids[position],
  };
  const queries = Array.from({ length: queryCount }, (_, i) => ({ id: `q${i}`, text: `query ${i}` }));
  return { corpus, embedder, queries, vectorOf, index: () => createDenseRetriever({ embedder }).build(corpus) };
}

async function timeSingles({ index, queries }: Shape): Promise<{ ms: number[]; rankings: Ranking[] }> {
  const built = await index();
  await built.embedQueries!(queries);
  await built.search(queries.slice(0, 4), TOP);
  const ms: number[] = [];
  const rankings: Ranking[] = [];
  for (const query of queries) {
    const from = performance.now();
    rankings.push((await built.search([query], TOP))[0]);
    ms.push(performance.now() - from);
  }
  return { ms, rankings };
}

/** The plain scoring loop against the SIMD one, taking turns. */
function kernelRatio({ corpus, vectorOf, queries }: Shape, count: number): number {
  const rows = tableOf(corpus, vectorOf);
  const width = rows.length / corpus.size;
  const asked = Float64Array.from(queries.slice(0, count).flatMap(({ text }) => [...vectorOf(text)]));
  const out = new Float64Array(count * corpus.size);
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < 12; round++) {
    for (const [i, simd] of [false, true].entries()) {
      const from = performance.now();
      flatScores(rows, corpus.size, asked, width, out, simd);
      times[i].push(performance.now() - from);
    }
  }
  return median(times[0]) / median(times[1]);
}

async function timeBatch({ index, queries }: Shape): Promise<number> {
  const built = await index();
  await built.search(queries, TOP);
  const from = performance.now();
  await built.search(queries, TOP);
  return (performance.now() - from) / queries.length;
}

/** One candidate with 6 queries each, heads known: what a training step pays beside embedding. */
async function timeSwaps({ index, queries, corpus, vectorOf }: Shape): Promise<{ perSecond: number; moved: number }> {
  const built = await index();
  const rng = createRng(3);
  const count = 2000;
  const replacements = Array.from({ length: count }, (_, i) => ({
    id: corpus.ids[rng.int(corpus.size)],
    // Every fourth candidate is a query's own text, and so lands at its top.
    text: i % 4 === 0 ? queries[i % queries.length].text : `candidate ${i}`,
  }));
  const asked = replacements.map((_, i) => Array.from({ length: 6 }, (_, q) => queries[(i + q) % queries.length]));
  for (const { text } of replacements) vectorOf(text);
  const base = await built.search(queries, 5);
  await built.searchReplacing(replacements.slice(0, 10), asked.slice(0, 10), 5);
  await built.searchReplacing([replacements[0]], [[...queries]], 5);
  const from = performance.now();
  const answers = await built.searchReplacing(replacements, asked, 5);
  const seconds = (performance.now() - from) / 1000;
  const topOf = new Map(queries.map(({ text }, q) => [text, base[q].ids.join()]));
  let moved = 0;
  answers.forEach((rankings, i) => {
    if (rankings.some(({ ids }, q) => ids.join() !== topOf.get(asked[i][q].text))) moved++;
  });
  return { perSecond: count / seconds, moved };
}

function plainSearch({ corpus, vectorOf }: Shape, query: Query): { id: string; score: number }[] {
  const asked = vectorOf(query.text);
  const all = tableOf(corpus, vectorOf);
  const width = asked.length;
  return corpus.ids
    .map((id, i) => {
      let score = 0;
      for (let j = 0; j < width; j++) score += all[i * width + j] * asked[j];
      return { id, score };
    })
    .sort((a, b) => compareRanked(a.score, a.id, b.score, b.id))
    .slice(0, TOP);
}

const tables = new WeakMap<Corpus, Float32Array>();

function tableOf(corpus: Corpus, vectorOf: (text: string) => Float32Array): Float32Array {
  let table = tables.get(corpus);
  if (table === undefined) {
    const width = vectorOf('').length;
    table = new Float32Array(corpus.size * width);
    for (let i = 0; i < corpus.size; i++) table.set(vectorOf(corpus.ids[i]), i * width);
    tables.set(corpus, table);
  }
  return table;
}

function expectSame(ranking: Ranking, expected: readonly { id: string; score: number }[]): void {
  const same = expected.every(({ id, score }, i) => ranking.ids[i] === id && ranking.scores[i] === score);
  if (!same || ranking.ids.length !== expected.length) throw new Error('flat search differs from the plain loop');
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
