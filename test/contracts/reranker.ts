/** What every reranker owes its callers, whatever is inside. */
import { describe, expect, it } from 'vitest';
import type { Reranker } from '../../src/ports.ts';
import type { Document, Query } from '../../src/types.ts';

export interface RerankerDriver {
  readonly name: string;
  create(): Reranker | Promise<Reranker>;
  readonly queries: readonly Query[];
  /** At least three documents, ids unique, that the driver can score. */
  readonly documents: readonly Document[];
  /** Of those, the ones whose pair fails. Default none. */
  readonly failing?: readonly string[];
  /** Same pair, same bits. Default true; services may differ by `tolerance`. */
  readonly tolerance?: number;
}

export function rerankerContract(driver: RerankerDriver): void {
  const { queries, documents, failing = [], tolerance = 0 } = driver;
  const close = (a: Float64Array, b: Float64Array): void => {
    expect(a.length).toBe(b.length);
    a.forEach((value, i) => {
      if (Number.isNaN(b[i])) expect(value).toBeNaN();
      else expect(Math.abs(value - b[i])).toBeLessThanOrEqual(tolerance);
    });
  };

  describe(`reranker: ${driver.name}`, () => {
    it('has a name', async () => {
      expect((await driver.create()).id).not.toBe('');
    });

    it('answers one probability per document, NaN for a pair that failed', async () => {
      const reranker = await driver.create();
      for (const query of queries) {
        const scores = await reranker.score(query, documents);
        expect(scores).toBeInstanceOf(Float64Array);
        expect(scores.length).toBe(documents.length);
        scores.forEach((score, i) => {
          if (failing.includes(documents[i].id)) expect(score).toBeNaN();
          else expect(score >= 0 && score <= 1).toBe(true);
        });
      }
    });

    it('answers in the order of the documents', async () => {
      const reranker = await driver.create();
      const scores = await reranker.score(queries[0], documents);
      const reversed = await reranker.score(queries[0], [...documents].reverse());
      close(reversed.reverse(), scores);
    });

    it('scores a pair the same alone, in company, and again', async () => {
      const reranker = await driver.create();
      const scores = await reranker.score(queries[0], documents);
      for (let i = 0; i < documents.length; i++) {
        close(await reranker.score(queries[0], [documents[i]]), scores.slice(i, i + 1));
      }
      close(await reranker.score(queries[0], documents), scores);
      close(await (await driver.create()).score(queries[0], documents), scores);
    });

    it('takes a document twice, and none at all', async () => {
      const reranker = await driver.create();
      const [a, b] = documents;
      const scores = await reranker.score(queries[0], [a, b, a]);
      close(scores.slice(2), scores.slice(0, 1));
      expect((await reranker.score(queries[0], [])).length).toBe(0);
    });

    it('leaves its input alone', async () => {
      const copy = structuredClone(documents);
      await (await driver.create()).score(queries[0], documents);
      expect(documents).toEqual(copy);
    });
  });
}
