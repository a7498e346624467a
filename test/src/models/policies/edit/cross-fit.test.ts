import { describe, expect, test } from 'vitest';
import { arrayCorpus } from '../../../../../src/data/mod.ts';
import { assignFolds } from '../../../../../src/models/policies/edit/cross-fit.ts';
import { createEditPolicy } from '../../../../../src/models/policies/edit/edit-policy.ts';
import { createAnalyzer } from '../../../../../src/text/mod.ts';

const documents = Array.from({ length: 40 }, (_, i) => ({
  id: `d${i}`,
  title: '',
  text: `def compute_${'abcdefgh'[i % 8]}(value):\n  return value ${'+-*/'[i % 4]} ${i}`,
}));
const pairs = documents
  .slice(0, 25)
  .map(({ id }, i) => ({ documentId: id, queryText: `secret${i} arithmetic on a value ${'abcdefgh'[i % 8]}` }));

describe('cross-fitting', () => {
  test('folds hold groups together and are of about equal size', () => {
    const twins = [
      ...pairs,
      { documentId: 'd30', queryText: ' SECRET3 arithmetic on a value d' },
      { documentId: 'd30', queryText: 'also' },
      { documentId: 'd31', queryText: 'also' },
    ];
    const foldOf = assignFolds(twins, 5, 1);
    expect(foldOf.size).toBe(27);
    expect(foldOf.get('d30')).toBe(foldOf.get('d3'));
    expect(foldOf.get('d31')).toBe(foldOf.get('d3'));
    const sizes = [0, 1, 2, 3, 4].map((fold) => [...foldOf.values()].filter((value) => value === fold).length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(3);
    expect(assignFolds(twins, 5, 1)).toEqual(foldOf);
  });

  test("nothing about a training document's candidates depends on its own queries", () => {
    const build = (queryText: (i: number) => string) =>
      createEditPolicy({
        corpus: arrayCorpus(documents),
        analyzer: createAnalyzer('standard'),
        trainingPairs: pairs.map(({ documentId }, i) => ({ documentId, queryText: queryText(i) })),
        init: 'zero',
        seed: 1,
      });
    const original = build((i) => pairs[i].queryText);
    for (const changed of [0, 7, 24]) {
      const other = build((i) =>
        i === changed ? 'entirely different words about compute and seven more' : pairs[i].queryText,
      );
      const { id, text } = documents[changed];
      expect(other.candidates({ id, text })).toEqual(original.candidates({ id, text }));
      // The change is not lost: documents of other folds and without labels see it.
      const unlabelled = documents[33];
      expect(other.candidates(unlabelled)).not.toEqual(original.candidates(unlabelled));
    }
  });

  test('a word of one query only is never offered to its own document', () => {
    const policy = createEditPolicy({
      corpus: arrayCorpus(documents),
      analyzer: createAnalyzer('english'),
      trainingPairs: pairs,
      init: 'zero',
      seed: 1,
    });
    documents.forEach(({ id, text }, i) => {
      for (const edit of policy.candidates({ id, text }).edits) {
        expect(edit.text).not.toBe(`secret${i}`);
      }
    });
  });
});
