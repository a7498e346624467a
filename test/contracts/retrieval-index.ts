/**
 * What every retriever owes its callers, whatever is inside. A driver joins with one line in
 * test/index/retrievers/contract.test.ts. What a driver cannot do is skipped with its reason.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRebuildRetriever } from '../../index/retrievers/rebuild.ts';
import { arrayCorpus } from '../../src/data/mod.ts';
import { DocOptError } from '../../src/errors.ts';
import { compareRanked } from '../../src/kernels/compare.ts';
import { createRng } from '../../src/kernels/rng.ts';
import type { RetrievalIndex, Retriever } from '../../src/ports.ts';
import { createArtefact, openArtefact } from '../../src/store/artefact.ts';
import type { Corpus, Query, Ranking } from '../../src/types.ts';
import { randomCorpus, randomQueries, randomText } from '../support/random-corpus.ts';

export interface RetrieverDriver {
  readonly name: string;
  create(): Retriever | Promise<Retriever>;
  /** Same calls, same bits. false: scores may differ by `tolerance` between calls (remote services). */
  readonly deterministic: boolean;
  /** Scores of documents that share no term with the query are 0, and such documents are left out. */
  readonly lexical: boolean;
  /** Every word has a direction, so that a query of unknown words finds something (neural embedders). */
  readonly openVocabulary?: boolean;
  /** How far searchReplacing may be from a rebuild, and similarities from search. */
  readonly tolerance: number;
  /** The smallest corpus that it takes; smaller ones must be refused with a DocOptError. Default 0. */
  readonly fewestDocuments?: number;
  /** What a swap is compared with: a retriever that rebuilds with whatever the driver holds fixed (a fitted embedder). Default: create(). */
  oracle?(corpus: Corpus): Promise<Retriever>;
  /** Tests (by title) that do not apply, with the reason. */
  readonly skips?: Readonly<Record<string, string>>;
}

const query = (text: string, id = text): Query => ({ id, text });
const corpusOf = (texts: readonly (readonly [id: string, text: string])[]): Corpus =>
  arrayCorpus(texts.map(([id, text]) => ({ id, title: '', text })));

const ANIMALS = corpusOf([
  ['b', 'cats chase mice'],
  ['a', 'cats chase mice'],
  ['B', 'cats chase mice'],
  ['c', 'dogs chase cats across the green garden'],
  ['d', 'mice eat cheese'],
  ['empty', ''],
  ['e', 'stones do not move'],
]);

export function retrievalIndexContract(driver: RetrieverDriver): void {
  const it = (title: string, body: () => Promise<void>): void => {
    const reason = driver.skips?.[title];
    if (reason === undefined) test(title, body);
    else test.skip(`${title} (skipped: ${reason})`, body);
  };
  const build = async (corpus: Corpus): Promise<RetrievalIndex> => (await driver.create()).build(corpus);

  /** Equal to the last bit, or within the tolerance (of the scores; then only clear differences fix the order). */
  const expectEqual = (actual: Ranking, expected: Ranking, tolerance: number): void => {
    if (tolerance === 0) {
      expect(actual.ids).toEqual(expected.ids);
      expect(actual.scores).toEqual(expected.scores);
      return;
    }
    expect(actual.ids.length).toBe(expected.ids.length);
    const scoreOf = new Map(expected.ids.map((id, i) => [id, expected.scores[i]]));
    for (let i = 0; i < actual.ids.length; i++) {
      expect(Math.abs(actual.scores[i] - expected.scores[i])).toBeLessThanOrEqual(tolerance);
      const there = scoreOf.get(actual.ids[i]) ?? expected.scores[expected.scores.length - 1];
      expect(Math.abs(actual.scores[i] - there)).toBeLessThanOrEqual(tolerance);
    }
  };

  describe(`retrieval index: ${driver.name}`, () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'docopt-contract-'));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const reopened = async (index: RetrievalIndex, name: string): Promise<RetrievalIndex> => {
      const draft = await createArtefact(join(folder, name), 'index');
      await index.save(draft);
      await draft.finish({});
      return (await driver.create()).open(await openArtefact(join(folder, name), 'index'));
    };

    it('ranks by score, then by id', async () => {
      const rng = createRng(11);
      const corpus = randomCorpus(rng, { size: 60, words: 12, longest: 8 });
      const index = await build(corpus);
      expect(index.size).toBe(60);
      for (const { ids, scores } of await index.search(randomQueries(rng, 20, 12, 4), 60)) {
        expect(scores.length).toBe(ids.length);
        expect(new Set(ids).size).toBe(ids.length);
        for (const id of ids) expect(corpus.positionOf(id)).toBeDefined();
        for (const score of scores) expect(Number.isFinite(score)).toBe(true);
        for (let i = 1; i < ids.length; i++) {
          expect(compareRanked(scores[i - 1], ids[i - 1], scores[i], ids[i])).toBeLessThan(0);
        }
      }
    });

    it('gives equal texts equal scores, in id order', async () => {
      const index = await build(ANIMALS);
      const [{ ids, scores }] = await index.search([query('cats and mice')], 7);
      const at = ['B', 'a', 'b'].map((id) => ids.indexOf(id));
      expect(at).toEqual([at[0], at[0] + 1, at[0] + 2]);
      expect(scores[at[1]]).toBe(scores[at[0]]);
      expect(scores[at[2]]).toBe(scores[at[0]]);
    });

    it('answers a shallow search with the top of a deep one', async () => {
      const rng = createRng(12);
      const index = await build(randomCorpus(rng, { size: 80, words: 15, longest: 10 }));
      const queries = randomQueries(rng, 10, 15, 5);
      const deep = await index.search(queries, 1000);
      for (const k of [0, 1, 3, 17]) {
        const shallow = await index.search(queries, k);
        shallow.forEach((ranking, q) => {
          expect(ranking.ids).toEqual(deep[q].ids.slice(0, k));
          expect(ranking.scores).toEqual(deep[q].scores.slice(0, k));
        });
      }
    });

    it('answers every query on its own, in order', async () => {
      const rng = createRng(13);
      const index = await build(randomCorpus(rng, { size: 50, words: 15, longest: 10 }));
      const queries = randomQueries(rng, 8, 15, 5);
      const together = await index.search(queries, 10);
      for (let q = 0; q < queries.length; q++) {
        const [alone] = await index.search([queries[q]], 10);
        expectEqual(together[q], alone, driver.deterministic ? 0 : driver.tolerance);
      }
      expect(await index.search([], 10)).toEqual([]);
    });

    it('leaves out what matches nothing', async () => {
      const index = await build(ANIMALS);
      const [unknown, blank, cheese] = await index.search([query('zeppelin'), query(''), query('cheese')], 10);
      if (driver.openVocabulary !== true) expect(unknown.ids).toEqual([]);
      expect(blank.ids).toEqual([]);
      if (driver.lexical) expect(cheese.ids).toEqual(['d']);
      else expect(cheese.ids).not.toContain('empty');
    });

    it('scores pairs as it scores in search', async () => {
      const rng = createRng(14);
      const corpus = randomCorpus(rng, { size: 70, words: 15, longest: 10 });
      const index = await build(corpus);
      const queries = randomQueries(rng, 6, 15, 5);
      const rankings = await index.search(queries, 70);
      for (const ids of [corpus.ids, corpus.ids.slice(5, 7), []]) {
        const { rows, columns, data } = await index.similarities(queries, ids);
        expect([rows, columns, data.length]).toEqual([queries.length, ids.length, queries.length * ids.length]);
        rankings.forEach((ranking, row) => {
          const scoreOf = new Map(ranking.ids.map((id, i) => [id, ranking.scores[i]]));
          ids.forEach((id, column) => {
            const score = data[row * columns + column];
            const expected = scoreOf.get(id) ?? (driver.lexical ? 0 : score);
            expect(Math.abs(score - expected)).toBeLessThanOrEqual(driver.tolerance);
          });
        });
      }
    });

    it('replaces as a rebuild would', async () => {
      for (let seed = 0; seed < 12; seed++) {
        const rng = createRng(1000 + seed);
        const shape = { size: 8 + rng.int(40), words: 6 + rng.int(25), longest: 3 + rng.int(12) };
        const corpus = randomCorpus(rng, shape);
        const inner = driver.oracle === undefined ? await driver.create() : await driver.oracle(corpus);
        const oracle = await createRebuildRetriever(inner).build(corpus);
        const index = await build(corpus);
        const replacements = Array.from({ length: 5 }, (_, i) => {
          const position = rng.int(corpus.size);
          const other = corpus.indexText(rng.int(corpus.size));
          const own = corpus.indexText(position);
          const fresh = randomText(rng, shape.words + 4, shape.longest * 2);
          return { id: corpus.ids[position], text: ['', own, other, `${own} ${fresh}`, fresh][i] };
        });
        const queries = replacements.map(() => randomQueries(rng, 4, shape.words, 6));
        for (const k of [1, 5, 100]) {
          const answers = await index.searchReplacing(replacements, queries, k);
          const expected = await oracle.searchReplacing(replacements, queries, k);
          expect(answers.map((list) => list.length)).toEqual(queries.map((list) => list.length));
          answers.forEach((list, i) => {
            list.forEach((ranking, q) => {
              expectEqual(ranking, expected[i][q], driver.tolerance);
            });
          });
        }
      }
    });

    it('replaces each document alone and changes nothing', async () => {
      const index = await build(ANIMALS);
      const queries = [query('cats'), query('cheese'), query('green mice')];
      const before = await index.search(queries, 10);
      const same = { id: 'c', text: ANIMALS.indexText(3) };
      const answers = await index.searchReplacing(
        [{ id: 'a', text: 'cheese cheese' }, { id: 'd', text: '' }, same],
        [queries, queries, queries],
        10,
      );
      expect(answers[0][1].ids).toContain('a');
      if (driver.lexical) expect(answers[0][0].ids).not.toContain('a');
      else expect(answers[0][0].ids.indexOf('a')).toBeGreaterThan(before[0].ids.indexOf('a'));
      expect(answers[1][1].ids).not.toContain('d');
      const tolerance = driver.deterministic ? 0 : driver.tolerance;
      answers[2].forEach((ranking, q) => {
        expectEqual(ranking, before[q], tolerance);
      });
      (await index.search(queries, 10)).forEach((ranking, q) => {
        expectEqual(ranking, before[q], tolerance);
      });
      expect(await index.searchReplacing([], [], 5)).toEqual([]);
      expect(await index.searchReplacing([same], [[]], 5)).toEqual([[]]);
    });

    it('names an id that it does not have', async () => {
      const index = await build(ANIMALS);
      // Ids are compared exactly: 'A' is not 'a', although 'B' and 'b' both exist.
      const swap = index.searchReplacing([{ id: 'A', text: 'x' }], [[query('cats')]], 5);
      await expect(swap).rejects.toThrow(DocOptError);
      await expect(swap).rejects.toThrow(/'A'/);
      const pairs = index.similarities([query('cats')], ['a', 'A']);
      await expect(pairs).rejects.toThrow(DocOptError);
      await expect(pairs).rejects.toThrow(/'A'/);
    });

    it('answers the same after saving and opening', async () => {
      const rng = createRng(15);
      const corpus = randomCorpus(rng, { size: 60, words: 20, longest: 12 });
      const index = await build(corpus);
      const opened = await reopened(index, 'saved');
      const again = await reopened(opened, 'saved-again');
      const queries = randomQueries(rng, 10, 20, 5);
      const before = await index.search(queries, 20);
      for (const other of [opened, again]) {
        expect(other.size).toBe(60);
        (await other.search(queries, 20)).forEach((ranking, q) => {
          expectEqual(ranking, before[q], driver.deterministic ? 0 : driver.tolerance);
        });
      }
    });

    it('replaces after saving and opening', async () => {
      const index = await build(ANIMALS);
      const opened = await reopened(index, 'replacing');
      const swap = [{ id: 'e', text: 'cheese and more cheese for cats' }];
      const queries = [[query('cheese'), query('cats')]];
      const [expected] = await index.searchReplacing(swap, queries, 5);
      const [actual] = await opened.searchReplacing(swap, queries, 5);
      actual.forEach((ranking, q) => {
        expectEqual(ranking, expected[q], driver.tolerance);
      });
    });

    it('takes any text', async () => {
      const odd: [string, string][] = [
        ['nul', 'alpha\u0000beta\u0000'],
        ['surrogates', '\ud800 alpha \udfff gamma'],
        ['crlf', 'alpha\r\ndelta\r\n'],
        ['bom', '\ufeffalpha epsilon'],
        ['long-line', 'alpha zeta '.repeat(180_000)],
        ['long-word', 'a'.repeat(2_000_000)],
        ['signs', '!?*(){}[]^$.|\\/'],
      ];
      const corpus = corpusOf(odd);
      const index = await build(corpus);
      const queries = [query('alpha'), query('alpha\u0000\ud800 zeta'), query('signs !?*()')];
      const before = await index.search(queries, 10);
      expect(before[0].ids).toEqual(expect.arrayContaining(['nul', 'surrogates', 'crlf', 'bom', 'long-line']));
      const opened = await reopened(index, 'odd');
      expect((await opened.search(queries, 10))[0].ids).toEqual(before[0].ids);
      const [answers] = await index.searchReplacing([{ id: 'signs', text: odd[4][1] }], [queries], 10);
      expect(answers[0].ids).toContain('signs');
    });

    it('takes very small corpora, or says what is the least', async () => {
      const small: Corpus[] = [
        corpusOf([]),
        corpusOf([['only', 'one cat']]),
        corpusOf([['none', '']]),
        corpusOf(['x', 'y', 'z'].map((id) => [id, ''])),
      ];
      for (const corpus of small) {
        if (corpus.size < (driver.fewestDocuments ?? 0)) {
          await expect(build(corpus)).rejects.toThrow(DocOptError);
          continue;
        }
        const index = await build(corpus);
        const opened = await reopened(index, `small-${small.indexOf(corpus)}`);
        for (const each of [index, opened]) {
          expect(each.size).toBe(corpus.size);
          const [{ ids }] = await each.search([query('cat')], 5);
          expect(ids).toEqual(corpus.positionOf('only') === undefined ? [] : ['only']);
        }
        for (const id of corpus.ids) {
          const [[now], [gone]] = await index.searchReplacing(
            [
              { id, text: 'a cat' },
              { id, text: '' },
            ],
            [[query('cat')], [query('cat')]],
            5,
          );
          if (driver.lexical) expect(now.ids).toEqual([id]);
          expect(gone.ids).toEqual([]);
        }
      }
    });

    it('refuses a depth that is no count', async () => {
      const index = await build(ANIMALS);
      for (const k of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expect(index.search([query('cats')], k)).rejects.toThrow(DocOptError);
      }
    });
  });
}
