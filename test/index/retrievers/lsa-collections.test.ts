/** lsa on real collections. Set DOCOPT_DATA to a folder that holds them in BEIR layout. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRetriever } from '../../../index/mod.ts';
import { createRebuildRetriever } from '../../../index/retrievers/rebuild.ts';
import { loadDataset } from '../../../src/data/mod.ts';
import { createRng } from '../../../src/kernels/rng.ts';
import { evaluate, parseMeasures } from '../../../src/metrics/mod.ts';

const folder = process.env.DOCOPT_DATA;
const LSA = { driver: 'dense', embedder: { driver: 'lsa', dimensions: 200, seed: 1, analyzer: 'english' } } as const;

/** nDCG@10 of an independent implementation of the same recipe; seeds differ by up to .012. */
const INDEPENDENT: Readonly<Record<string, number>> = { medline: 0.759, cisi: 0.38, cranfield: 0.469 };

describe('lsa on real collections', () => {
  for (const [name, expected] of Object.entries(INDEPENDENT)) {
    const path = join(folder ?? '', name);
    const missing = folder === undefined ? 'DOCOPT_DATA is not set' : existsSync(path) ? '' : `${path} does not exist`;
    test.skipIf(missing !== '')(`${name}${missing && ` (skipped: ${missing})`}`, { timeout: 120_000 }, async () => {
      const { corpus, queries, qrels } = await loadDataset(path);
      const retriever = createRetriever(LSA);
      const index = await retriever.build(corpus);
      const rankings = await index.search(queries, 10);
      const run = new Map(queries.map((query, i) => [query.id, rankings[i]]));
      const { mean } = evaluate(run, qrels, parseMeasures('nDCG@10'));
      expect(Math.abs(mean['nDCG@10'] - expected)).toBeLessThan(0.015);

      const rng = createRng(5);
      const swaps = Array.from({ length: 3 }, () => {
        const position = rng.int(corpus.size);
        return {
          id: corpus.ids[position],
          text: `${corpus.indexText(position)} ${queries[rng.int(queries.length)].text}`,
        };
      });
      const lists = swaps.map(() => queries.slice(0, 30));
      const oracle = await createRebuildRetriever(retriever).build(corpus);
      expect(await index.searchReplacing(swaps, lists, 10)).toEqual(await oracle.searchReplacing(swaps, lists, 10));
    });
  }
});
