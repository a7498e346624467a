import { describe, expect, test } from 'vitest';
import { arrayCorpus } from '../../../../../src/data/mod.ts';
import {
  createEditPolicy,
  type EditPolicy,
  openEditPolicy,
} from '../../../../../src/models/policies/edit/edit-policy.ts';
import { FEATURE_NAMES } from '../../../../../src/models/policies/edit/features.ts';
import { createAnalyzer } from '../../../../../src/text/mod.ts';
import type { Completion, Sampling } from '../../../../../src/types.ts';
import { memoryArtefact } from './memory-artefact.ts';

const DOCUMENTS = [
  {
    id: 'a',
    title: '',
    text: 'def max_num(arr):\n    res = arr[0]\n    for x in arr:\n        if x > res: res = x\n    return res',
  },
  { id: 'b', title: '', text: 'function sortByKey(list) { return list.sort((p, q) => p.key - q.key); }' },
  { id: 'c', title: '', text: 'export const isEven = (n) => n % 2 === 0;' },
  { id: 'd', title: '', text: "re.sub('[A-Z]', '', text).strip()" },
  { id: 'e', title: '', text: 'def count_vowels(s):\n    return sum(1 for ch in s if ch in "aeiou")' },
  { id: 'f', title: '', text: '' },
];
const PAIRS = [
  { documentId: 'a', queryText: 'find the largest number of an array' },
  { documentId: 'b', queryText: 'order objects by a property' },
  { documentId: 'c', queryText: 'check whether a number is even' },
  { documentId: 'd', queryText: 'remove uppercase letters from a string' },
  { documentId: 'e', queryText: 'number of vowels in a string' },
];

function create(seed = 1, trainingPairs = PAIRS): EditPolicy {
  return createEditPolicy({
    corpus: arrayCorpus(DOCUMENTS),
    analyzer: createAnalyzer('english'),
    trainingPairs,
    init: 'zero',
    seed,
  });
}

const prompts = DOCUMENTS.map(({ id, text }) => ({ document: { id, text } }));
const draw = (over: Partial<Sampling> = {}): Sampling => ({ samples: 4, temperature: 1, seed: 7, ...over });

async function rollout(policy: EditPolicy, over: Partial<Sampling> = {}): Promise<Completion[]> {
  return (await policy.generate(prompts, draw(over))).flat();
}

/** Weights of no symmetry, by a few steps on an arbitrary loss. */
async function moved(seed = 1): Promise<EditPolicy> {
  const policy = create(seed);
  for (let step = 0; step < 5; step++) {
    const completions = await rollout(policy, { seed: step });
    await policy.applyGradient(
      completions,
      completions.map((completion, c) =>
        Float64Array.from(completion.tokens, (_, t) => Math.sin(3 * c + 7 * t + step)),
      ),
      0.2,
    );
  }
  return policy;
}

describe('edit policy', () => {
  test('before training the most likely rewrite is the original', async () => {
    for (const completion of await rollout(create(), { temperature: 0 })) {
      expect(completion.text).toBe(completion.prompt.document.text);
    }
  });

  test('a rewrite is the document with the words of the kept edits behind it', async () => {
    const policy = create();
    for (const completion of await rollout(policy)) {
      const { edits } = policy.candidates(completion.prompt.document);
      const words = edits.filter((_, e) => completion.tokens[e] === 1).map((edit) => edit.text);
      const { text } = completion.prompt.document;
      expect(completion.text).toBe(words.length === 0 ? text : `${text}\n${words.join(' ')}`);
    }
  });

  test('log-probabilities are the logarithms of the probabilities of what was decided', async () => {
    const policy = await moved();
    const completions = await rollout(policy);
    const logProbs = await policy.logProbs(completions, 'current');
    completions.forEach((completion, c) => {
      const p = policy.probabilities(completion.prompt.document);
      expect(logProbs[c].length).toBe(completion.tokens.length);
      completion.tokens.forEach((token, t) => {
        expect(logProbs[c][t]).toBeCloseTo(Math.log(token === 1 ? p[t] : 1 - p[t]), 12);
        expect(completion.logProbs[t]).toBe(logProbs[c][t]);
      });
    });
  });

  test('the probabilities of all rewrites of a document add up to 1', async () => {
    const policy = await moved();
    const [document] = prompts.map((prompt) => prompt.document);
    const n = Math.min(12, policy.candidates(document).edits.length);
    expect(n).toBeGreaterThan(5);
    const tokens = policy.candidates(document).edits.length;
    let sum = 0;
    for (let bits = 0; bits < 2 ** n; bits++) {
      const decisions = Int32Array.from({ length: tokens }, (_, e) => (e < n ? (bits >> e) & 1 : 0));
      const [logProbs] = await policy.logProbs(
        [{ prompt: { document }, text: '', tokens: decisions, logProbs: new Float64Array(tokens), finish: 'stop' }],
        'current',
      );
      sum += Math.exp(logProbs.slice(0, n).reduce((a, b) => a + b, 0));
    }
    expect(sum).toBeCloseTo(1, 10);
  });

  test('edits are drawn as often as their probability says', async () => {
    const policy = await moved();
    const document = prompts[0].document;
    const samples = 4000;
    const [completions] = await policy.generate([{ document }], draw({ samples }));
    policy.probabilities(document).forEach((p, e) => {
      const kept = completions.filter((completion) => completion.tokens[e] === 1).length / samples;
      // Five deviations: one failure in a million edits.
      expect(Math.abs(kept - p)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / samples) + 1e-9);
    });
  });

  test('temperature sharpens towards the most likely decision', async () => {
    const policy = await moved();
    const document = prompts[0].document;
    const samples = 4000;
    const p = policy.probabilities(document);
    const [cool] = await policy.generate([{ document }], draw({ samples, temperature: 0.5 }));
    p.forEach((probability, e) => {
      const odds = (probability / (1 - probability)) ** 2;
      const expected = odds / (1 + odds);
      const kept = cool.filter((completion) => completion.tokens[e] === 1).length / samples;
      expect(Math.abs(kept - expected)).toBeLessThan(5 * Math.sqrt((expected * (1 - expected)) / samples) + 1e-9);
    });
    const [cold] = await policy.generate([{ document }], draw({ samples: 2, temperature: 0 }));
    for (const completion of cold) expect([...completion.tokens]).toEqual(Array.from(p, (x) => (x > 0.5 ? 1 : 0)));
  });

  test('the step is Adam on the gradient that finite differences give', async () => {
    const policy = await moved();
    const completions = await rollout(policy);
    const slopes = completions.map((completion, c) =>
      Float64Array.from(completion.tokens, (_, t) => Math.cos(c + 2 * t)),
    );
    const before = policy.weights();
    const loss = async (weights: Record<string, number>): Promise<number> => {
      const at = await withWeights(weights);
      const logProbs = await at.logProbs(completions, 'current');
      return logProbs.reduce((sum, row, c) => sum + row.reduce((s, value, t) => s + value * slopes[c][t], 0), 0);
    };
    // The gradient itself is read from Adam's first moment, a tenth of it after one step.
    const fresh = await withWeights(before);
    await fresh.applyGradient(completions, slopes, 0.01);
    const artefact = memoryArtefact();
    await fresh.save(artefact);
    const { adam } = await artefact.readJson<{ adam: { mean: Record<string, number> } }>('policy.json');
    const names = FEATURE_NAMES.filter((name) => name in adam.mean);
    expect(names.length).toBeGreaterThan(30);
    const h = 1e-5;
    for (const name of names.filter((_, i) => i % 3 === 0)) {
      const up = await loss({ ...before, [name]: (before[name] ?? 0) + h });
      const down = await loss({ ...before, [name]: (before[name] ?? 0) - h });
      const numeric = (up - down) / (2 * h);
      const gradient = adam.mean[name] / 0.1;
      expect(gradient).toBeCloseTo(numeric, 5);
      expect(fresh.weights()[name]).toBeCloseTo(
        (before[name] ?? 0) - (0.01 * gradient) / (Math.abs(gradient) + 1e-8),
        9,
      );
    }
  });

  test('what lowers the loss becomes likelier', async () => {
    const policy = create();
    const completions = await rollout(policy);
    const sum = async (): Promise<number> =>
      (await policy.logProbs(completions, 'current')).reduce((s, row) => s + row.reduce((a, b) => a + b, 0), 0);
    const before = await sum();
    for (let step = 0; step < 20; step++) {
      await policy.applyGradient(
        completions,
        completions.map(({ tokens }) => new Float64Array(tokens.length).fill(-1)),
        0.05,
      );
    }
    expect(await sum()).toBeGreaterThan(before);
  });

  test('the anchor stays where it was put', async () => {
    const policy = create();
    const completions = await rollout(policy);
    const start = await policy.logProbs(completions, 'reference');
    expect(start).toEqual(await policy.logProbs(completions, 'current'));
    await policy.applyGradient(
      completions,
      completions.map(({ tokens }) => new Float64Array(tokens.length).fill(-1)),
      0.1,
    );
    expect(await policy.logProbs(completions, 'reference')).toEqual(start);
    expect(await policy.logProbs(completions, 'current')).not.toEqual(start);
    policy.anchor();
    expect(await policy.logProbs(completions, 'reference')).toEqual(await policy.logProbs(completions, 'current'));
  });

  test('entropy is that of its coins', async () => {
    const policy = await moved();
    const completions = await rollout(policy, { samples: 1 });
    const values = completions.flatMap(({ prompt }) =>
      Array.from(policy.probabilities(prompt.document), (p) => -p * Math.log(p) - (1 - p) * Math.log(1 - p)),
    );
    expect(await policy.entropy(completions)).toBeCloseTo(values.reduce((a, b) => a + b, 0) / values.length, 12);
    expect(await policy.entropy([])).toBe(0);
  });

  test('same seed, same series; another seed, another', async () => {
    const [one, two] = [await moved(), await moved()];
    expect(one.weights()).toEqual(two.weights());
    expect((await rollout(one)).map(({ text }) => text)).toEqual((await rollout(two)).map(({ text }) => text));
    expect((await rollout(one, { seed: 8 })).map(({ text }) => text)).not.toEqual(
      (await rollout(one)).map(({ text }) => text),
    );
  });

  test('a document is rewritten the same whatever it is asked together with', async () => {
    const policy = await moved();
    const together = (await policy.generate(prompts, draw())).flat();
    const alone = [];
    for (const prompt of prompts.toReversed()) alone.unshift(...(await policy.generate([prompt], draw()))[0]);
    expect(alone).toEqual(together);
  });

  test('a checkpoint alone goes on identically, on new documents too', async () => {
    const policy = await moved();
    const artefact = memoryArtefact();
    await policy.save(artefact);
    const opened = await openEditPolicy(artefact);
    const loaded = create(99, []);
    await loaded.load(artefact);
    const unseen = { document: { id: 'new', text: 'def min_num(lst): return sorted(lst)[0]' } };
    for (const other of [opened, loaded]) {
      expect(other.id).toBe(policy.id);
      expect(other.weights()).toEqual(policy.weights());
      expect(await other.generate([...prompts, unseen], draw())).toEqual(
        await policy.generate([...prompts, unseen], draw()),
      );
      const completions = await rollout(other);
      const slopes = completions.map(({ tokens }) => new Float64Array(tokens.length).fill(0.3));
      const twin = await openEditPolicy(artefact);
      await twin.applyGradient(completions, slopes, 0.1);
      await other.applyGradient(completions, slopes, 0.1);
      expect(other.weights()).toEqual(twin.weights());
    }
    // The policy itself, stepped alike, is where its checkpoints are: the optimiser's state travelled too.
    const completions = await rollout(policy);
    await policy.applyGradient(
      completions,
      completions.map(({ tokens }) => new Float64Array(tokens.length).fill(0.3)),
      0.1,
    );
    expect(policy.weights()).toEqual(opened.weights());
  });

  test('a completion of another candidate set is refused by name', async () => {
    const policy = create();
    const [completion] = await rollout(policy);
    const wrong = { ...completion, tokens: new Int32Array(completion.tokens.length + 1) };
    await expect(policy.logProbs([wrong], 'current')).rejects.toThrow(/document 'a' has/);
  });

  test('operations can be left out', () => {
    const policy = createEditPolicy({
      corpus: arrayCorpus(DOCUMENTS),
      analyzer: createAnalyzer('english'),
      trainingPairs: PAIRS,
      operations: ['verb', 'title'],
      init: 'zero',
      seed: 1,
    });
    expect(policy.id).toBe('edit(zero,title+verb)');
    const used = new Set(
      prompts.flatMap(({ document }) => policy.candidates(document).edits.map((edit) => edit.operation)),
    );
    expect([...used].sort()).toEqual(['title', 'verb']);
  });

  async function withWeights(weights: Record<string, number>): Promise<EditPolicy> {
    return createEditPolicy({
      corpus: arrayCorpus(DOCUMENTS),
      analyzer: createAnalyzer('english'),
      trainingPairs: PAIRS,
      init: { name: 'given', weights },
      seed: 1,
    });
  }
});
