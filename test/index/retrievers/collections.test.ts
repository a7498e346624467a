/**
 * BM25 on real collections against numbers from outside. The collections are not part of the repository: set
 * DOCOPT_DATA to a folder that holds them in BEIR layout (scifact/, cranfield/, ...).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createBm25Retriever } from '../../../index/retrievers/bm25.ts';
import { createRebuildRetriever } from '../../../index/retrievers/rebuild.ts';
import type { Dataset } from '../../../src/data/mod.ts';
import { loadDataset } from '../../../src/data/mod.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { evaluate, parseMeasures } from '../../../src/metrics/mod.ts';
import type { Run } from '../../../src/types.ts';

const folder = process.env.DOCOPT_DATA;
const SETTINGS = { k1: 0.9, b: 0.4, analyzer: 'english', statistics: 'recompute' } as const;

/** nDCG@10, AP, R@100 by an independent ten-line implementation with the same settings. */
const INDEPENDENT: Readonly<Record<string, readonly [number, number, number]>> = {
  cranfield: [0.4116, 0.3968, 0.7409],
  cisi: [0.3571, 0.1966, 0.4246],
  medline: [0.6708, 0.5125, 0.7719],
  lisa: [0.4165, 0.3408, 0.6841],
  scifact: [0.6758, 0.6379, 0.9287],
};

async function runOf(dataset: Dataset, depth: number): Promise<Run> {
  const index = await createBm25Retriever(SETTINGS).build(dataset.corpus);
  const rankings = await index.search(dataset.queries, depth);
  return new Map(dataset.queries.map((query, i) => [query.id, rankings[i]]));
}

describe('real collections', () => {
  for (const [name, [ndcg, ap, recall]] of Object.entries(INDEPENDENT)) {
    const path = join(folder ?? '', name);
    const missing = folder === undefined ? 'DOCOPT_DATA is not set' : existsSync(path) ? '' : `${path} does not exist`;
    test.skipIf(missing !== '')(`${name}${missing === '' ? '' : ` (skipped: ${missing})`}`, async () => {
      const dataset = await loadDataset(path);
      const { mean } = evaluate(await runOf(dataset, 1000), dataset.qrels, parseMeasures('nDCG@10 AP R@100'));
      expect(Math.abs(mean['nDCG@10'] - ndcg)).toBeLessThan(0.0006);
      expect(Math.abs(mean.AP - ap)).toBeLessThan(0.0006);
      expect(Math.abs(mean['R@100'] - recall)).toBeLessThan(0.0006);
      // Anserini's published regression on SciFact.
      if (name === 'scifact') expect(Math.abs(mean['nDCG@10'] - 0.6789)).toBeLessThan(0.005);
    });
  }

  const path = join(folder ?? '', 'cranfield');
  const missing = folder === undefined ? 'DOCOPT_DATA is not set' : existsSync(path) ? '' : `${path} does not exist`;
  test.skipIf(missing !== '')(`swaps on cranfield equal rebuilds${missing && ` (skipped: ${missing})`}`, async () => {
    const { corpus, queries } = await loadDataset(path);
    const rng = createRng(5);
    const swaps = Array.from({ length: 8 }, () => {
      const position = rng.int(corpus.size);
      return {
        id: corpus.ids[position],
        text: `${corpus.indexText(position)} ${queries[rng.int(queries.length)].text}`,
      };
    });
    const lists = swaps.map(() => queries.slice(0, 40));
    const retriever = createBm25Retriever(SETTINGS);
    const answers = await (await retriever.build(corpus)).searchReplacing(swaps, lists, 10);
    const expected = await (await createRebuildRetriever(retriever).build(corpus)).searchReplacing(swaps, lists, 10);
    expect(answers).toEqual(expected);
  });
});
