import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../support/in-process.ts';
import { studyCollection } from '../../support/study-collection.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const data = studyCollection();
const common = ['--data', data, '--budgets', '5,10', '--capacities', '8,12', '--pool', '60'];

describe('morph compare', () => {
  it('crosses collections, retrievers, rerankers, selectors, B and k in one command', async () => {
    const other = studyCollection(2);
    const out = join(temporaryFolder(), 'tables');
    const { status, stdout, stderr } = await runHere(
      [
        ...['morph', 'compare', ...common, '--data', other, '--retriever', 'lsa:dimensions=24', '--retriever', 'bm25'],
        ...['--reranker', 'qrels', '--reranker', 'qrels:noise=0', '--selectors', 'boundary-morph,single-stage'],
        ...['--out', out, '--json'],
      ],
      { cwd: temporaryFolder() },
    );
    expect(stderr).not.toMatch(/error/i);
    expect(status).toBe(0);
    const { cells, tests, groups, focus } = JSON.parse(stdout);
    expect(focus).toBe('boundary-morph');
    expect(groups).toHaveLength(2 * 2 * 2);
    expect(cells).toHaveLength(8 * 2 * 2 * 2 * 2);
    expect(tests).toHaveLength(8 * 2 * 2 * 2);
    expect(Object.keys(cells[0])).toEqual(
      expect.arrayContaining([
        ...['collection', 'retriever', 'reranker', 'selector', 'budget', 'capacity', 'metric', 'mean', 'perQuery'],
      ]),
    );
    expect(Object.keys(tests[0])).toEqual(expect.arrayContaining(['a', 'b', 'metric', 'n', 'delta', 'p', 'adjustedP']));
    // Without noise the scores are the judgements, moved and scaled alike: who finds more of one finds more of the other.
    const exact = cells.filter((c: { reranker: string }) => c.reranker.includes('noise=0'));
    expect(exact.length).toBe(cells.length / 2);
    expect(existsSync(join(out, 'report.json'))).toBe(true);
    expect(readFileSync(join(out, 'report.md'), 'utf8')).toContain('| nCG@k, %');
    expect(JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')).cells).toEqual(cells);
  });

  it('is the same twice, and leaves the queries out that a reranker was fitted on', async () => {
    const cwd = temporaryFolder();
    const argv = [
      ...['morph', 'compare', ...common, '--retriever', 'lsa', '--reranker', 'features', '--selectors', 'single-stage'],
      ...['--train', '0.25', '--json'],
    ];
    const [first, second] = [await runHere(argv, { cwd }), await runHere(argv, { cwd })];
    expect(first.stderr).toContain("queries left out that 'features' was fitted on");
    const report = JSON.parse(first.stdout);
    // A quarter of 16 trains, one of the four of which is kept for dev and was not fitted on.
    expect(report.groups[0].queries).toBe(13);
    const strip = (text: string) => text.replace(/"(selectorMs|callMs)":[^,}]+/g, '');
    expect(strip(second.stdout)).toBe(strip(first.stdout));
  });

  it('takes lexical ranks from the BM25 that is asked for, over any first stage, and leaves the first stage as it is', async () => {
    const run = async (retriever: string, ...settings: string[]) => {
      const { status, stdout } = await runHere(
        [
          ...['morph', 'compare', ...common, '--retriever', retriever, '--reranker', 'qrels', '--json'],
          ...['--selectors', 'bm25-rerank,single-stage,morph-hybrid', ...settings.flatMap((one) => ['--set', one])],
        ],
        { cwd: temporaryFolder() },
      );
      expect(status).toBe(0);
      const { cells } = JSON.parse(stdout) as { cells: { selector: string; perQuery: object }[] };
      return (selector: string) => cells.filter((cell) => cell.selector === selector).map(({ perQuery }) => perQuery);
    };
    const paper = ['lexical.k1=1.5', 'lexical.b=0.75'];
    for (const retriever of ['lsa:dimensions=24', 'bm25']) {
      const [plain, changed] = [await run(retriever), await run(retriever, ...paper)];
      expect(changed('single-stage')).toEqual(plain('single-stage'));
      expect(changed('bm25-rerank')).not.toEqual(plain('bm25-rerank'));
    }
    // Its own settings said aloud: the same lexical ranks, and vectors ranked apart, as without.
    const [plain, said] = [await run('bm25'), await run('bm25', 'lexical.k1=0.9', 'lexical.b=0.4')];
    for (const selector of ['bm25-rerank', 'morph-hybrid']) expect(said(selector)).toEqual(plain(selector));
    // BM25 with the paper's values as the first stage, or as its re-ranking: one and the same order.
    const first = await run('bm25:k1=1.5,b=0.75');
    expect((await run('bm25', ...paper))('bm25-rerank')).toEqual(first('bm25-rerank'));
  });

  it('plans without calling', async () => {
    const cwd = temporaryFolder();
    const argv = ['morph', 'compare', ...common, '--retriever', 'bm25', '--reranker', 'qrels', '--dry-run', '--json'];
    const { stdout } = await runHere(argv, { cwd });
    expect(JSON.parse(stdout).planned).toMatchObject([{ retriever: 'bm25', queries: 16, calls: 16 * 60 }]);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each([
    [['--retriever', 'lsa'], 2, /which reranker/],
    [['--reranker', 'qrels'], 2, /which retriever/],
    [['--retriever', 'lsa', '--reranker', 'recorded'], 2, /--scores/],
    [['--retriever', 'lsa', '--reranker', 'qrels', '--selectors', 'nonsense'], 2, /There is no selector 'nonsense'/],
    [['--retriever', 'lsa', '--reranker', 'qrels', '--selectors', 'single-stage,single-stage'], 2, /named twice/],
    [['--retriever', 'lsa', '--reranker', 'qrels', '--focus', 'elsewhere'], 2, /--focus elsewhere/],
    [['--retriever', 'lsa', '--reranker', 'qrels', '--min-relevant', '13'], 1, /no query.*13 or more/],
  ])('%j ends with %i and says why', async (flags, status, message) => {
    const result = await runHere(['morph', 'compare', ...common, ...flags], { cwd: temporaryFolder() });
    expect([result.status, result.stderr]).toEqual([status, expect.stringMatching(message)]);
  });
});
