/**
 * The service over a socket: POST /v1/select with N = 1,000 candidates of a BM25 index of 5,000 seeded Zipf documents,
 * lsa vectors of 200 dimensions, B = 50, k = 10, four callers at once. The reranker answers from a table at once, so the
 * figures are what selection costs.
 *
 * longestPauseMs: the longest time that the event loop was held while one selection of N = 10,000, B = 500 ran at 1,024
 * dimensions: what a health check beside it would wait.
 */

import { createBm25Retriever } from '../index/retrievers/bm25.ts';
import { withTokenCounts } from '../select/commands/count-tokens.ts';
import { createPool, fittedOnPool } from '../select/pool.ts';
import { select } from '../select/select.ts';
import { createSelector } from '../select/selectors/registry.ts';
import { listen } from '../select/serve/listen.ts';
import { createService, type ServedIndex } from '../select/serve/service.ts';
import { arrayCorpus } from '../src/data/mod.ts';
import { createRng } from '../src/kernels/rng.ts';
import { fitLsa } from '../src/models/embedders/mod.ts';
import type { Reranker } from '../src/ports.ts';
import { silentLog } from '../src/run/log.ts';
import type { BenchResult } from './types.ts';
import { distinctWords, zipfWords } from './zipf.ts';

const DOCUMENTS = 5000;
const POOL = 1000;
const CALLERS = 4;
const REQUESTS = 200;
const WARM_UP = 12;

export async function run(): Promise<BenchResult> {
  const rng = createRng(20260912);
  const draw = zipfWords(8000, rng);
  const index = await makeIndex(Array.from({ length: DOCUMENTS }, () => Array.from({ length: 60 }, draw).join(' ')));
  const app = createService({
    version: '0.0.0',
    log: silentLog,
    index: () => ({ state: 'ready', index }),
    rerankerFor: () => tableReranker(),
    embed: fittedOnPool((texts) => fitLsa(texts)),
    budget: 50,
    capacity: 10,
    countTokens: withTokenCounts,
    poolSize: POOL,
    maxBodyBytes: 1_000_000,
  });
  const listening = await listen(app, '127.0.0.1', 0);
  const queries = Array.from({ length: REQUESTS + WARM_UP }, () => distinctWords(draw, 6).join(' '));
  try {
    await callAll(listening.url, queries.slice(0, WARM_UP));
    const started = performance.now();
    const { latencies, pools } = await callAll(listening.url, queries.slice(WARM_UP));
    const seconds = (performance.now() - started) / 1000;
    latencies.sort((a, b) => a - b);
    return {
      name: 'serve',
      figures: {
        p50Ms: quantile(latencies, 0.5),
        p99Ms: quantile(latencies, 0.99),
        requestsPerSecond: REQUESTS / seconds,
        longestPauseMs: await longestPause(),
        requests: REQUESTS,
        callers: CALLERS,
        meanPool: pools.reduce((a, b) => a + b, 0) / pools.length,
      },
      ratio: {},
    };
  } finally {
    await listening.close(1000);
  }
}

async function callAll(url: string, queries: readonly string[]): Promise<{ latencies: number[]; pools: number[] }> {
  const latencies: number[] = [];
  const pools: number[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < queries.length) {
      const query = queries[next++];
      const started = performance.now();
      const response = await fetch(`${url}/v1/select`, { method: 'POST', body: JSON.stringify({ query }) });
      const answer = (await response.json()) as { selected: unknown[]; calls: unknown[]; pool: number };
      latencies.push(performance.now() - started);
      pools.push(answer.pool);
      const expected = Math.min(10, answer.pool);
      if (
        response.status !== 200 ||
        answer.selected.length !== expected ||
        answer.calls.length !== Math.min(50, answer.pool)
      ) {
        throw new Error(`a wrong answer: ${response.status} ${JSON.stringify(answer).slice(0, 200)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return { latencies, pools };
}

/** A timer that wants to run every 2 ms notes how late it was at worst. */
async function longestPause(): Promise<number> {
  const rng = createRng(7);
  const [size, width] = [10_000, 1024];
  const data = Float32Array.from({ length: size * width }, () => rng.next() - 0.3);
  const pool = createPool({
    query: { text: 'q' },
    ids: Array.from({ length: size }, (_, i) => `d${i}`),
    embeddings: { rows: size, columns: width, data },
    queryEmbedding: data.slice(0, width),
  });
  let last = performance.now();
  let longest = 0;
  const beat = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(beat, 2);
  await select({
    pool,
    documentAt: (position) => ({ id: pool.ids[position], title: '', text: '' }),
    reranker: tableReranker(),
    selector: createSelector('boundary-morph'),
    budget: 500,
    capacity: 100,
  });
  beat();
  clearInterval(timer);
  return longest;
}

/** A score that follows from the id alone. */
function tableReranker(): Reranker {
  return {
    id: 'table',
    score: async (_query, documents) =>
      Float64Array.from(documents, ({ id }) => ((Number(id.slice(1)) * 2654435761) % 4294967296) / 4294967296),
  };
}

async function makeIndex(texts: readonly string[]): Promise<ServedIndex> {
  const corpus = arrayCorpus(texts.map((text, i) => ({ id: `d${i}`, title: '', text })));
  const index = await createBm25Retriever({ k1: 0.9, b: 0.4, analyzer: 'standard', statistics: 'recompute' }).build(
    corpus,
  );
  const embedder = fitLsa(texts);
  const { columns, data } = await embedder.embed(texts, 'document');
  return {
    corpus,
    index,
    vectors: {
      documents: async (ids) => {
        const rows = new Float32Array(ids.length * columns);
        ids.forEach((id, row) => {
          const position = corpus.positionOf(id)!;
          rows.set(data.subarray(position * columns, (position + 1) * columns), row * columns);
        });
        return { rows: ids.length, columns, data: rows };
      },
      queries: (queries) =>
        embedder.embed(
          queries.map(({ text }) => text),
          'query',
        ),
    },
    chain: [],
    facts: {},
  };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
