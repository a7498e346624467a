import { describe, expect, it } from 'vitest';
import { createOnnxReranker, type OnnxRerankerOptions } from '../../../../src/models/rerankers/mod.ts';
import type { Log } from '../../../../src/ports.ts';
import type { Document } from '../../../../src/types.ts';
import { rerankerContract } from '../../../contracts/reranker.ts';
import { type TinyModel, tinyFolder } from '../../../support/tiny-onnx.ts';

const WORDS = ['cats', 'chase', 'mice', 'eat', 'cheese', 'a', 'b', 'c', 'd', 'e', 'f'];
const ONE: TinyModel = { words: WORDS, width: 1, output: 'logits' };
const documentOf = (text: string, title = '', id = text): Document => ({ id, title, text });
const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));
const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

/** The sum over [CLS] query [SEP] of type 0 and passage [SEP] of type 1. */
const logitOf = (
  { row, second }: ReturnType<typeof tinyFolder>,
  query: readonly string[],
  passage: readonly string[],
  label = 0,
): number =>
  ['[CLS]', ...query, '[SEP]'].reduce((sum, word) => sum + row(word)[label], 0) +
  [...passage, '[SEP]'].reduce((sum, word) => sum + row(word)[label] + second[label], 0);

const scored = async (
  folder: string,
  query: string,
  documents: readonly Document[],
  options: Partial<OnnxRerankerOptions> = {},
): Promise<Float64Array> => {
  const reranker = createOnnxReranker({ path: folder, ...options });
  const scores = await reranker.score({ id: 'q', text: query }, documents);
  await reranker.close();
  return scores;
};

describe('onnx reranker', () => {
  it('reads query and passage with their token types, title and text as one', async () => {
    const model = tinyFolder(ONE);
    const scores = await scored(model.folder, 'cats', [
      documentOf('mice eat cheese'),
      documentOf('eat cheese', 'mice'),
    ]);
    const expected = sigmoid(logitOf(model, ['cats'], words('mice eat cheese')));
    expect(Math.abs(scores[0] - expected)).toBeLessThan(1e-6);
    expect(scores[1]).toBe(scores[0]);
    const asOne = sigmoid(logitOf(model, ['cats'], words('mice eat cheese')) - 4 * model.second[0]);
    expect(Math.abs(scores[0] - asOne)).toBeGreaterThan(0.01);
  });

  it('makes a probability of two labels, whichever means relevant', async () => {
    const model = tinyFolder({ ...ONE, width: 2 });
    const query = ['cats'];
    const passage = words('chase mice');
    const difference = logitOf(model, query, passage, 1) - logitOf(model, query, passage, 0);
    for (const [positiveLabel, sign] of [
      [1, 1],
      [0, -1],
    ] as const) {
      const [score] = await scored(model.folder, 'cats', [documentOf('chase mice')], { positiveLabel });
      expect(Math.abs(score - sigmoid(sign * difference))).toBeLessThan(1e-6);
    }
  });

  it('cuts the passage and not the query, unless the query would take more than half', async () => {
    const model = tinyFolder(ONE);
    const passage = 'a b c d e f a b c d e f';
    // 16 tokens: 3 special ones, 13 for both texts.
    const options = { maxTokens: 16, minQueryTokens: 2 };
    const cases = [
      ['cats chase', ['cats', 'chase'], words(passage).slice(0, 11)],
      [
        'cats chase mice eat cheese cats chase mice',
        words('cats chase mice eat cheese cats'),
        words(passage).slice(0, 7),
      ],
    ] as const;
    for (const [query, kept, read] of cases) {
      const [score] = await scored(model.folder, query, [documentOf(passage)], options);
      expect(Math.abs(score - sigmoid(logitOf(model, kept, read)))).toBeLessThan(1e-6);
    }
    const least = { maxTokens: 16, minQueryTokens: 10 };
    const [score] = await scored(
      model.folder,
      'cats chase mice eat cheese cats chase mice',
      [documentOf(passage)],
      least,
    );
    const whole = logitOf(model, words('cats chase mice eat cheese cats chase mice'), words(passage).slice(0, 5));
    expect(Math.abs(score - sigmoid(whole))).toBeLessThan(1e-6);
    await expect(scored(model.folder, 'cats', [documentOf('a')], { maxTokens: 16 })).rejects.toThrow(/no room/);
  });

  it('takes the best of overlapping windows when asked to', async () => {
    const model = tinyFolder(ONE);
    const passage = words('a b c d e f a c e b d f f e d c b a a a b b c c');
    const warnings: string[] = [];
    const log = { warn: (message: string) => warnings.push(message), debug() {} } as unknown as Log;
    const options = { path: model.folder, maxTokens: 12, minQueryTokens: 1, maxPassage: 'best-of-windows' } as const;
    // Room for 8 passage tokens beside a query of one; windows start every 6.
    const windows = [0, 6, 12, 18].map((start) => passage.slice(start, start + 8));
    for (const maxWindows of [1, 2, 8]) {
      const reranker = createOnnxReranker({ ...options, maxWindows }, { log });
      const [score] = await reranker.score({ id: 'q', text: 'cats' }, [documentOf(passage.join(' '))]);
      const logits = windows.slice(0, maxWindows).map((window) => logitOf(model, ['cats'], window));
      expect(Math.abs(score - sigmoid(Math.max(...logits)))).toBeLessThan(1e-6);
      expect(reranker.counts).toEqual({ pairs: 1, cut: 1 });
      await reranker.close();
    }
    expect(warnings.length).toBe(3);
  });

  it('reads each pair once, by what it says and not by its id', async () => {
    const reranker = createOnnxReranker({ path: tinyFolder(ONE).folder });
    const query = { id: 'q', text: 'cats' };
    const first = await reranker.score(query, [
      documentOf('mice'),
      documentOf('mice', '', 'twin'),
      documentOf('cheese'),
    ]);
    expect(first[1]).toBe(first[0]);
    expect(reranker.counts.pairs).toBe(2);
    const again = await reranker.score({ id: 'other', text: 'cats' }, [
      documentOf('cheese', '', 'x'),
      documentOf('eat'),
    ]);
    expect(again[0]).toBe(first[2]);
    expect(reranker.counts.pairs).toBe(3);
    await reranker.close();
  });

  it('takes probabilities as they are, and refuses logits in their place', async () => {
    const model = tinyFolder(ONE);
    const documents = ['a', 'b', 'c', 'd', 'cats chase mice', 'eat cheese a b c'].map((text) => documentOf(text));
    await expect(scored(model.folder, 'cats', documents, { scoreSpace: 'probability' })).rejects.toThrow(
      /no probability/,
    );
  });

  it('says what is no reranker', async () => {
    const states = tinyFolder({ ...ONE, output: 'states', width: 4 }).folder;
    await expect(scored(states, 'cats', [documentOf('a')])).rejects.toThrow(/is no reranker/);
    const classes = tinyFolder({ ...ONE, width: 5 }).folder;
    await expect(scored(classes, 'cats', [documentOf('a')])).rejects.toThrow(/is no reranker/);
  });
});

const documents = ['cats chase mice', '', 'zeppelin \u0000 \ud800', 'mice eat cheese', 'cheese '.repeat(900)].map(
  (text, i) => documentOf(text, i === 0 ? 'title' : '', `d${i}`),
);
const queries = ['cats', '', 'mice '.repeat(700)].map((text, i) => ({ id: `q${i}`, text }));
for (const dynamic of [false, true]) {
  const { folder } = tinyFolder({ ...ONE, dynamic });
  rerankerContract({
    name: `onnx${dynamic ? ' (dynamic)' : ''}`,
    create: () => createOnnxReranker({ path: folder }),
    documents,
    queries,
  });
}
