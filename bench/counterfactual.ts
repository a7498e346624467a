/**
 * Exact counterfactual swaps and query latency of the bm25 driver at 100,000 documents: a seeded Zipf corpus of 50,000
 * words, 80 a document. What is timed is also checked:
 *
 * - swaps: one candidate text with 6 queries, top 5, one call each. 500 of the timed swaps are compared with
 *   plain-rebuild.ts (all statistics counted again from every word of the swapped corpus), and 3 of those with a real
 *   rebuild of the index; order must be equal, scores within 1e-9.
 * - queries: 200 of 8 words, top 100, analysis included. Every answer is compared with the exhaustive scan, to the bit.
 * - wink-bm25-text-search answers the first 40 of the same queries in the same process, and must agree to 1e-6.
 */

import { createBm25Retriever } from '../index/retrievers/bm25.ts';
import { createRebuildRetriever } from '../index/retrievers/rebuild.ts';
import { buildWink } from '../index/retrievers/wink.ts';
import { createRng, type Rng } from '../src/kernels/rng.ts';
import type { RetrievalIndex } from '../src/ports.ts';
import type { Corpus, IndexText, Query, Ranking } from '../src/types.ts';
import { createPlainRebuild } from './plain-rebuild.ts';
import type { BenchResult } from './types.ts';
import { distinctWords, syntheticCorpus, zipfWords } from './zipf.ts';

const DOCUMENTS = 100_000;
const VOCABULARY = 50_000;
const WORDS = 80;
const SETTINGS = { k1: 0.9, b: 0.4, analyzer: 'standard', statistics: 'recompute' } as const;
const SWAPS = 3000;
const CHECKED = 500;
const REBUILT = 3;
const TRAINING_QUERIES = 1500;
const QUERIES_PER_SWAP = 6;
const TOP = 5;

interface Swap {
  readonly replacement: IndexText;
  readonly position: number;
  readonly queries: readonly Query[];
}

export async function run(): Promise<BenchResult> {
  const rng = createRng(20260401);
  const draw = zipfWords(VOCABULARY, rng);
  const texts = Array.from({ length: DOCUMENTS }, () => Array.from({ length: WORDS }, draw).join(' '));
  const corpus = syntheticCorpus(texts);
  const retriever = createBm25Retriever(SETTINGS);
  const buildStarted = performance.now();
  const index = await retriever.build(corpus);
  const buildSeconds = (performance.now() - buildStarted) / 1000;

  const queries = namedQueries('search', 200, () => distinctWords(draw, 8));
  const latency = await timeQueries(index, queries);
  await checkAgainstScan(index, corpus, queries);

  const swaps = makeSwaps(rng, draw, texts, corpus);
  // Half the swaps of another index warm the code up, so that the timed index itself starts cold.
  const warmUp = await retriever.build(syntheticCorpus(texts.slice(0, 2000)));
  for (const swap of swaps.slice(0, 500)) {
    await warmUp.searchReplacing(
      [{ id: `d${swap.position % 2000}`, text: swap.replacement.text }],
      [swap.queries],
      TOP,
    );
  }
  const started = performance.now();
  const cpuStarted = process.cpuUsage();
  const answers: Ranking[][] = [];
  for (const { replacement, queries: asked } of swaps) {
    const [answer] = await index.searchReplacing([replacement], [asked], TOP);
    answers.push(answer);
  }
  const swapSeconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpuStarted);
  const { moved, secondsPerRebuild } = await checkSwaps(index, corpus, texts, swaps, answers);
  const winkP50Ms = await timeWink(corpus, index, queries.slice(0, 40));

  const candidatesPerSecond = SWAPS / swapSeconds;
  const queryP50Ms = percentile(latency, 0.5);
  return {
    name: 'counterfactual',
    figures: {
      documents: DOCUMENTS,
      buildSeconds,
      candidatesPerSecond,
      // On a machine that does other work at the same time, the figure that does not count the waiting.
      candidatesPerCpuSecond: (SWAPS * 1e6) / (user + system),
      queryP50Ms,
      queryP95Ms: percentile(latency, 0.95),
      winkQueryP50Ms: winkP50Ms,
      secondsPerRebuild,
      swaps: SWAPS,
      checkedSwaps: CHECKED,
      checkedByFullRebuild: REBUILT,
      swapsThatMoved: moved,
    },
    ratio: { rebuild: candidatesPerSecond * secondsPerRebuild, wink: winkP50Ms / queryP50Ms },
  };
}

function namedQueries(prefix: string, count: number, words: () => string[]): Query[] {
  return Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, text: words().join(' ') }));
}

/**
 * Swaps as training makes them: a document loses some words and gains some of a query it should answer, and is asked
 * for by that query and by five others that come up again and again.
 */
function makeSwaps(rng: Rng, draw: () => string, texts: readonly string[], corpus: Corpus): Swap[] {
  const sources = Array.from({ length: TRAINING_QUERIES }, () => rng.int(texts.length));
  let next = 0;
  const training = namedQueries('train', TRAINING_QUERIES, () => {
    const words = texts[sources[next++]].split(' ');
    return [...new Set([...Array.from({ length: 5 }, () => words[rng.int(words.length)]), ...distinctWords(draw, 3)])];
  });
  return Array.from({ length: SWAPS }, () => {
    const own = rng.int(TRAINING_QUERIES);
    const position = sources[own];
    const kept = texts[position].split(' ').filter(() => rng.next() > 0.1);
    const gained = training[own].text.split(' ').filter(() => rng.next() < 0.5);
    const text = [...kept, ...gained, ...Array.from({ length: rng.int(10) }, draw)].join(' ');
    const others = Array.from({ length: QUERIES_PER_SWAP - 1 }, () => training[rng.int(TRAINING_QUERIES)]);
    return { replacement: { id: corpus.ids[position], text }, position, queries: [training[own], ...others] };
  });
}

/** Milliseconds per query, one query a call, after a warm-up with the same queries at another depth. */
async function timeQueries(index: RetrievalIndex, queries: readonly Query[]): Promise<number[]> {
  await index.search(queries, 10);
  const times: number[] = [];
  for (const query of queries) {
    const started = performance.now();
    await index.search([query], 100);
    times.push(performance.now() - started);
  }
  return times;
}

/** similarities over all ids goes through the exhaustive scan: its top 100 must be the search's, bit for bit. */
async function checkAgainstScan(index: RetrievalIndex, corpus: Corpus, queries: readonly Query[]): Promise<void> {
  for (const query of queries) {
    const [{ ids, scores }] = await index.search([query], 100);
    const { data } = await index.similarities([query], corpus.ids);
    let above = 0;
    for (let d = 0; d < data.length; d++) if (data[d] > scores[scores.length - 1]) above++;
    ids.forEach((id, i) => {
      if (data[corpus.positionOf(id)!] !== scores[i]) throw new Error(`query ${query.id}: ${id} differs from the scan`);
    });
    const listed = scores.filter((score) => score > scores[scores.length - 1]).length;
    if (ids.length !== 100 || above !== listed) throw new Error(`query ${query.id}: the search missed a document`);
  }
}

async function checkSwaps(
  index: RetrievalIndex,
  corpus: Corpus,
  texts: readonly string[],
  swaps: readonly Swap[],
  answers: readonly (readonly Ranking[])[],
): Promise<{ moved: number; secondsPerRebuild: number }> {
  const plain = createPlainRebuild(corpus.ids, texts, SETTINGS);
  const rebuild = await createRebuildRetriever(createBm25Retriever(SETTINGS)).build(corpus);
  let moved = 0;
  let rebuildMs = 0;
  for (let c = 0; c < CHECKED; c++) {
    // Spread over the whole run.
    const s = Math.floor((c * SWAPS) / CHECKED);
    const { replacement, position, queries } = swaps[s];
    const asked = queries.map((query) => query.text);
    expectSame(answers[s], plain.rank(position, replacement.text, asked, TOP), `swap ${s}`);
    if (c < REBUILT) {
      const started = performance.now();
      const [real] = await rebuild.searchReplacing([replacement], [queries], TOP);
      rebuildMs += performance.now() - started;
      expectSame(answers[s], real, `swap ${s}, rebuilt`);
    }
    const before = await index.search(queries, TOP);
    if (before.some((ranking, q) => ranking.ids.join() !== answers[s][q].ids.join())) moved++;
  }
  return { moved, secondsPerRebuild: rebuildMs / REBUILT / 1000 };
}

function expectSame(
  actual: readonly Ranking[],
  expected: readonly { readonly ids: readonly string[]; readonly scores: ArrayLike<number> }[],
  what: string,
): void {
  expected.forEach(({ ids, scores }, q) => {
    const same =
      actual[q].ids.join() === ids.join() && ids.every((_, i) => Math.abs(actual[q].scores[i] - scores[i]) <= 1e-9);
    if (!same) throw new Error(`${what}, query ${q}: ${actual[q].ids.join()} where the oracle has ${ids.join()}`);
  });
}

/** Wink's own search call, bare, top 100. */
async function timeWink(corpus: Corpus, index: RetrievalIndex, queries: readonly Query[]): Promise<number> {
  const engine = await buildWink(corpus, SETTINGS);
  const times: number[] = [];
  for (const query of queries) {
    const started = performance.now();
    const hits = engine.search(query.text, 100);
    times.push(performance.now() - started);
    const { data } = await index.similarities(
      [query],
      hits.map(([position]) => corpus.ids[Number(position)]),
    );
    hits.forEach(([, score], i) => {
      if (Math.abs(score / (SETTINGS.k1 + 1) - data[i]) > 1e-6) throw new Error(`wink disagrees on query ${query.id}`);
    });
  }
  return percentile(times, 0.5);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
