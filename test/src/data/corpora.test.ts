import { join } from 'node:path';
import { expect, test } from 'vitest';
import { arrayCorpus, corpusWithOriginals, corpusWithTexts, documentText, loadCorpus } from '../../../src/data/mod.ts';
import { folderWith, jsonl } from '../../support/temp-folder.ts';

const DOCUMENTS = [
  { id: 'a', title: 'Alpha', text: 'first' },
  { id: 'b', title: '', text: 'second', metadata: { url: 'u' } },
];

test('an array as a corpus', () => {
  const corpus = arrayCorpus(DOCUMENTS);
  expect([corpus.size, corpus.ids, corpus.positionOf('b'), corpus.positionOf('c')]).toEqual([
    2,
    ['a', 'b'],
    1,
    undefined,
  ]);
  expect(corpus.original(1)).toBe(DOCUMENTS[1]);
  expect([corpus.indexText(0), corpus.indexText(1)]).toEqual(['Alpha first', 'second']);
  expect(arrayCorpus(DOCUMENTS, { documentText: 'text' }).indexText(0)).toBe('first');
  for (const position of [-1, 2, 0.5, Number.NaN]) {
    expect(() => corpus.original(position)).toThrow(/outside the corpus/);
    expect(() => corpus.indexText(position)).toThrow(/outside the corpus/);
  }
  expect(arrayCorpus([]).size).toBe(0);
});

test('ids of an array are checked like those of a file', () => {
  expect(() => arrayCorpus([DOCUMENTS[0], DOCUMENTS[1], DOCUMENTS[0]])).toThrow(
    /documents 0 and 2 have the same id 'a'/,
  );
  expect(() => arrayCorpus([{ id: 'a b', title: '', text: '' }])).toThrow(
    /document 0: the id "a b" contains white space/,
  );
});

test('one space between title and text, none where one is empty', () => {
  expect(documentText({ title: 'T', text: 'x' })).toBe('T x');
  expect(documentText({ title: '', text: 'x' })).toBe('x');
  expect(documentText({ title: 'T', text: '' })).toBe('T');
  expect(documentText({ title: 'T', text: '' }, 'text')).toBe('');
});

test('other index texts over the same originals, and back', () => {
  const corpus = arrayCorpus(DOCUMENTS);
  const rewritten = corpusWithTexts(corpus, ['x', '']);
  expect([rewritten.indexText(0), rewritten.indexText(1)]).toEqual(['x', '']);
  expect(rewritten.original(0)).toBe(DOCUMENTS[0]);
  expect(rewritten.positionOf('b')).toBe(1);
  expect(() => corpusWithTexts(corpus, ['x'])).toThrow(/1 index texts for a corpus of 2 documents/);
  expect(corpusWithOriginals(rewritten).indexText(0)).toBe('Alpha first');
  expect(corpusWithOriginals(rewritten, 'text').indexText(0)).toBe('first');
});

test('a rewritten corpus from disk, indexed as it was written', async () => {
  const docopt = { title: 'Alpha', text: 'first', sourceHash: 'h', status: 'rewritten', reason: '', policy: 'edit' };
  const folder = folderWith({ 'corpus.jsonl': jsonl({ _id: 'a', title: '', text: 'better', docopt }) });
  const corpus = await loadCorpus(join(folder, 'corpus.jsonl'));
  expect(corpus.indexText(0)).toBe('better');
  expect(corpusWithOriginals(corpus).indexText(0)).toBe('Alpha first');
});
