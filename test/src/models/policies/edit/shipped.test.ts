import { describe, expect, it } from 'vitest';
import { arrayCorpus } from '../../../../../src/data/mod.ts';
import { FEATURE_NAMES } from '../../../../../src/models/policies/edit/features.ts';
import { shippedNotes, shippedWeights, textMark } from '../../../../../src/models/policies/edit/shipped.ts';
import { createPolicy } from '../../../../../src/models/policies/mod.ts';

const corpus = arrayCorpus([
  { id: 'a', title: '', text: 'def find_max(numbers):\n    return max(numbers)' },
  { id: 'b', title: '', text: 'function sumOfSquares(xs) { return xs.reduce((a, x) => a + x * x, 0); }' },
]);

describe('the shipped weights', () => {
  it('name features that exist, and the licence of everything they were trained on', () => {
    const { trainedOn, weights } = shippedWeights();
    const known = new Set(FEATURE_NAMES);
    expect(Object.keys(weights).filter((name) => !known.has(name))).toEqual([]);
    expect(Object.values(weights).every(Number.isFinite)).toBe(true);
    expect(trainedOn.length).toBeGreaterThan(0);
    for (const { name, licence, source } of trainedOn)
      expect([name, licence, source].every((text) => text !== '')).toBe(true);
  });

  it('are the start of a policy without labels, which changes documents; with labels the start is zero', async () => {
    const context = { corpus, analyzer: 'english', seed: 1 } as const;
    const without = await createPolicy({ driver: 'edit' }, { ...context, trainingPairs: [] });
    expect(without.id).toBe('edit(shipped)');
    const prompts = [{ document: { id: 'a', text: corpus.indexText(0) } }];
    const [[rewrite]] = await without.generate(prompts, { samples: 1, temperature: 0, seed: 1 });
    expect(rewrite.text).not.toBe(corpus.indexText(0));
    expect(rewrite.text.startsWith(corpus.indexText(0))).toBe(true);
    const labelled = await createPolicy(
      { driver: 'edit' },
      { ...context, trainingPairs: [{ documentId: 'a', queryText: 'largest number' }] },
    );
    expect(labelled.id).toBe('edit(zero)');
  });

  it('know the collections that they were trained on, whatever the white space', () => {
    const { documents } = shippedWeights().trainedOn[0];
    expect(new Set(documents).has(textMark('no document of it'))).toBe(false);
    expect(textMark('a  b\n')).toBe(textMark('a b'));
    expect(shippedNotes('edit(shipped)', corpus)).toEqual([]);
    expect(shippedNotes('edit(zero)', corpus)).toEqual([]);
  });
});
