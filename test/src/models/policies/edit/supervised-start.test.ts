import { describe, expect, test } from 'vitest';
import { arrayCorpus } from '../../../../../src/data/mod.ts';
import { createEditPolicy, type EditPolicy } from '../../../../../src/models/policies/edit/edit-policy.ts';
import { createAnalyzer } from '../../../../../src/text/mod.ts';

// Every function is asked for by the words of its name, never by what is in its body.
const VERBS = ['sort', 'merge', 'count', 'filter', 'rotate', 'invert', 'compress', 'hash', 'parse', 'trim'];
const NOUNS = ['Items', 'Pixels', 'Vowels', 'Users', 'Matrix', 'Tree', 'Buffer', 'Token', 'Header', 'Margin'];
const documents = VERBS.flatMap((verb, v) =>
  NOUNS.map((noun, n) => ({
    id: `${v}${n}`,
    title: '',
    text: `function ${verb}${noun}(alphaBeta) {\n  return gammaDelta(alphaBeta, epsilonZeta);\n}`,
  })),
);
const trainingPairs = documents
  .filter((_, i) => i % 3 === 0)
  .map(({ id }) => ({ documentId: id, queryText: `${VERBS[+id[0]]} the ${NOUNS[+id[1]].toLowerCase()}` }));

function create(pairs = trainingPairs, seed = 1): EditPolicy {
  return createEditPolicy({
    corpus: arrayCorpus(documents),
    analyzer: createAnalyzer('standard'),
    trainingPairs: pairs,
    init: 'supervised',
    seed,
  });
}

describe('supervised start of the edit policy', () => {
  test('on documents without labels it keeps the words that queries use, and not those they do not', async () => {
    const policy = create();
    const unseen = documents.filter(({ id }) => !trainingPairs.some(({ documentId }) => documentId === id));
    for (const { id, text } of unseen.slice(0, 20)) {
      const [[completion]] = await policy.generate([{ document: { id, text } }], {
        samples: 1,
        temperature: 0,
        seed: 1,
      });
      const added = completion.text.slice(text.length).trim().toLowerCase().split(/\s+/);
      expect(added).toContain(VERBS[+id[0]]);
      expect(added).toContain(NOUNS[+id[1]].toLowerCase());
      for (const word of ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta']) expect(added).not.toContain(word);
    }
  });

  test('same pairs, same weights; the anchor of the KL is this start, and the name says where it came from', async () => {
    const policy = create();
    expect(create().weights()).toEqual(policy.weights());
    expect(policy.id).toBe('edit(supervised)');
    const completions = (
      await policy.generate([{ document: documents[0] }], { samples: 4, temperature: 1, seed: 3 })
    ).flat();
    expect(await policy.logProbs(completions, 'reference')).toEqual(await policy.logProbs(completions, 'current'));
  });

  test('without training queries it is refused, with the ways out', () => {
    expect(() => create([])).toThrowError(/needs training queries/);
    expect(() => create([{ documentId: 'gone', queryText: 'sort items' }])).toThrowError(/needs training queries/);
  });
});
