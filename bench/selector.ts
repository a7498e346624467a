/**
 * BoundaryMORPH at N = 10,000 documents of 1,024 dimensions, k = 100, B = 100 and 500, without reranker time: the scores come
 * from a table. Vectors are seeded clusters around topics; scores follow the distance to two of them, with noise. Every run
 * starts from vectors that nothing is known of. Of RUNS runs the fastest counts; other work on the machine only adds to it.
 *
 * `plain` is bench/plain-selector.ts on the first 1,500 documents at B = 60, in the same process; both must ask for the same
 * documents in the same order. `plainLoops` is the posterior and the kernel rows of the B = 100 run in plain float64 loops.
 * components: milliseconds of a run by part. memoryBytesB500: what the process holds more at the end of a B = 500 run than before
 * it, JavaScript heap and all buffers outside it, on top of the embeddings; memory in ratio is both over the embeddings.
 */
import { loadavg } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mostContested, nearBoundary } from '../select/kernels/boundary.ts';
import { medianCosine } from '../select/kernels/cosine-median.ts';
import { createCovariance } from '../select/kernels/covariance.ts';
import { createDenseKernel } from '../select/kernels/dense-kernel.ts';
import { packRows } from '../select/kernels/packed-rows.ts';
import { percentilePrior } from '../select/kernels/percentile-prior.ts';
import { exactProducts } from '../select/kernels/pool-products.ts';
import { createPosterior, QUERY } from '../select/kernels/posterior.ts';
import { plainRowProducts } from '../select/kernels/row-products.ts';
import { createPool } from '../select/pool.ts';
import { createBoundaryMorph } from '../select/selectors/boundary-morph.ts';
import { createRng } from '../src/kernels/rng.ts';
import type { Pool } from '../src/types.ts';
import { plainSelection } from './plain-selector.ts';
import type { BenchResult } from './types.ts';

const SIZE = 10_000;
const WIDTH = 1024;
const CAPACITY = 100;
const TOPICS = 40;
const RUNS = 5;
const PLAIN = { size: 1500, budget: 60, capacity: 50 };

export async function run(): Promise<BenchResult> {
  const { pool, scores } = makePool();
  // Twice: the first run also brings in code and whatever else stays for good.
  play(pool, scores, 500, CAPACITY);
  await collectGarbage();
  const first = play(pool, scores, 500, CAPACITY);

  const small = cut(pool, PLAIN.size);
  const plainStarted = performance.now();
  const expected = plainSelection(small, scores, PLAIN.budget, PLAIN.capacity);
  const plainSeconds = (performance.now() - plainStarted) / 1000;
  const ours = play(small, scores, PLAIN.budget, PLAIN.capacity);
  if (ours.asked.join() !== expected.join()) throw new Error('the selector and the plain algorithm asked differently');

  const hundred = fastest(() => play(pool, scores, 100, CAPACITY));
  const fiveHundred = fastest(() => play(pool, scores, 500, CAPACITY));
  if (fiveHundred.asked.join() !== first.asked.join()) throw new Error('two runs asked differently');
  return {
    name: 'selector',
    figures: {
      secondsB100: hundred.seconds,
      secondsB500: fiveHundred.seconds,
      cpuSecondsB100: hundred.cpuSeconds,
      cpuSecondsB500: fiveHundred.cpuSeconds,
      longestStepMs: fiveHundred.longestStepMs,
      startSeconds: fiveHundred.startSeconds,
      memoryBytesB500: first.memoryBytes,
      componentsB100: components(pool, scores, hundred.asked),
      componentsB500: components(pool, scores, fiveHundred.asked),
      documents: SIZE,
      dimensions: WIDTH,
      capacity: CAPACITY,
      runs: RUNS,
      loadAverage: loadavg()[0],
      plainSeconds,
      plainSize: PLAIN.size,
      plainBudget: PLAIN.budget,
    },
    ratio: {
      memory: 1 + first.memoryBytes / pool.embeddings.data.byteLength,
      plain: plainSeconds / ours.seconds,
      plainLoops: plainLoops(pool, scores, hundred.asked) / hundred.seconds,
    },
  };
}

function fastest(work: () => Played): Played {
  const runs = Array.from({ length: RUNS }, work);
  return runs.reduce((best, next) => (next.seconds < best.seconds ? next : best));
}

/** Seconds for the kernel rows, the posterior and the acquisition of a run in plain loops: float64 products, no SIMD. */
function plainLoops(pool: Pool, scores: Float64Array, asked: readonly number[]): number {
  const { embeddings } = pool;
  const products = exactProducts(embeddings, plainRowProducts(embeddings));
  const covariance = createCovariance(
    'vmf',
    medianCosine(embeddings, { products: packRows(embeddings) }),
    embeddings.data,
  );
  const started = performance.now();
  const kernel = createDenseKernel(embeddings, pool.queryEmbedding, covariance, products);
  const posterior = createPosterior({ size: SIZE, row: kernel.row, simd: false });
  const prior = percentilePrior(SIZE);
  const means = new Float64Array(SIZE);
  const variances = new Float64Array(SIZE);
  const open = new Uint8Array(SIZE).fill(1);
  for (const position of [QUERY, ...asked]) {
    posterior.add(position);
    posterior.settle(position === QUERY ? 0 : scores[position] - prior[position]);
    if (position !== QUERY) open[position] = 0;
    posterior.means(prior, means);
    posterior.variances(variances);
    mostContested({ means, variances, open, capacity: CAPACITY });
  }
  return (performance.now() - started) / 1000;
}

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Twice, with a pause: memory of WebAssembly goes only once its owner has been collected. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 2; i++) {
    collect();
    await setTimeout(100);
  }
}

interface Played {
  readonly asked: number[];
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly startSeconds: number;
  readonly longestStepMs: number;
  readonly memoryBytes: number;
}

function play(pool: Pool, scores: Float64Array, budget: number, capacity: number): Played {
  const fresh = { ...pool, embeddings: { ...pool.embeddings } };
  const before = heldBytes();
  const cpu = process.cpuUsage();
  const started = performance.now();
  const run = createBoundaryMorph().begin(fresh, { budget, capacity });
  const startSeconds = (performance.now() - started) / 1000;
  const asked: number[] = [];
  let longestStepMs = 0;
  for (;;) {
    const stepStarted = performance.now();
    const next = run.ask();
    if (next.length === 0) break;
    for (const position of next) {
      asked.push(position);
      run.tell(position, scores[position]);
    }
    longestStepMs = Math.max(longestStepMs, performance.now() - stepStarted);
  }
  run.result();
  const seconds = (performance.now() - started) / 1000;
  const used = process.cpuUsage(cpu);
  const memoryBytes = heldBytes() - before;
  return { asked, seconds, cpuSeconds: (used.user + used.system) / 1e6, startSeconds, longestStepMs, memoryBytes };
}

/** The parts of one run, each timed over the same documents in the same order. Milliseconds. */
function components(pool: Pool, scores: Float64Array, asked: readonly number[]): Record<string, number> {
  const { embeddings } = pool;
  const parts = { pack: 0, medianCosine: 0, kernelRows: 0, posterior: 0, means: 0, acquisition: 0, result: 0 };
  const time = <T>(part: keyof typeof parts, work: () => T): T => {
    const from = performance.now();
    const result = work();
    parts[part] += performance.now() - from;
    return result;
  };
  const products = time('pack', () => packRows(embeddings));
  const median = time('medianCosine', () => medianCosine(embeddings, { products }));
  const covariance = createCovariance('vmf', median, embeddings.data);
  const kernel = createDenseKernel(embeddings, pool.queryEmbedding, covariance, products);
  let rows = 0;
  const posterior = createPosterior({
    size: SIZE,
    row: (position, out) => time('kernelRows', () => kernel.row(position, out)),
    rows: (positions, outs) => {
      rows += positions.length;
      time('kernelRows', () => kernel.rows!(positions, outs));
    },
  });
  const prior = percentilePrior(SIZE);
  const means = new Float64Array(SIZE);
  const variances = new Float64Array(SIZE);
  const open = new Uint8Array(SIZE).fill(1);
  const input = { means, variances, open, capacity: CAPACITY };
  for (const position of [QUERY, ...asked]) {
    time('posterior', () => {
      posterior.add(position, (count) => nearBoundary(input, count));
      posterior.settle(position === QUERY ? 0 : scores[position] - prior[position]);
    });
    if (position !== QUERY) open[position] = 0;
    time('means', () => {
      posterior.means(prior, means);
      posterior.variances(variances);
      for (let d = 0; d < SIZE; d++) {
        if (open[d] === 1) continue;
        means[d] = scores[d];
        variances[d] = 0;
      }
    });
    time('acquisition', () => mostContested(input));
  }
  time('result', () => Int32Array.from({ length: SIZE }, (_, d) => d).sort((a, b) => means[b] - means[a] || a - b));
  parts.posterior -= parts.kernelRows;
  return { ...Object.fromEntries(Object.entries(parts).map(([part, ms]) => [part, Math.round(ms)])), rows };
}

/** The first `size` documents of a pool. */
function cut(pool: Pool, size: number): Pool {
  const { columns, data } = pool.embeddings;
  return {
    ...pool,
    ids: pool.ids.slice(0, size),
    embeddings: { rows: size, columns, data: data.subarray(0, size * columns) },
  };
}

function makePool(): { pool: Pool; scores: Float64Array } {
  const rng = createRng(20260911);
  const topics = new Float32Array(TOPICS * WIDTH);
  for (let i = 0; i < topics.length; i++) topics[i] = rng.normal();
  const unsorted = new Float32Array(SIZE * WIDTH);
  const relevance = new Float64Array(SIZE);
  const query = Float64Array.from({ length: WIDTH }, (_, i) => topics[i] + 0.7 * topics[WIDTH + i] + rng.normal());
  const closeness = new Float64Array(SIZE);
  for (let d = 0; d < SIZE; d++) {
    const topic = rng.int(TOPICS);
    for (let i = 0; i < WIDTH; i++)
      unsorted[d * WIDTH + i] = topics[topic * WIDTH + i] + 1.2 * (2 * rng.next() - 1) + 0.6;
    relevance[d] = 1 / (1 + Math.exp(-((topic === 0 || topic === 7 ? 2 : -3) + rng.normal())));
  }
  for (let d = 0; d < SIZE; d++) {
    let square = 0;
    for (let i = 0; i < WIDTH; i++) {
      const x = unsorted[d * WIDTH + i];
      closeness[d] += x * query[i];
      square += x * x;
    }
    closeness[d] /= Math.sqrt(square);
  }
  const order = [...closeness.keys()].sort((a, b) => closeness[b] - closeness[a] || a - b);
  const data = new Float32Array(SIZE * WIDTH);
  order.forEach((d, position) => {
    data.set(unsorted.subarray(d * WIDTH, (d + 1) * WIDTH), position * WIDTH);
  });
  return {
    pool: createPool({
      query: { id: 'q' },
      ids: order.map((d) => `d${d}`),
      embeddings: { rows: SIZE, columns: WIDTH, data },
      queryEmbedding: query,
    }),
    scores: Float64Array.from(order, (d) => relevance[d]),
  };
}
