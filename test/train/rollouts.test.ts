import { expect, test } from 'vitest';
import { arrayCorpus } from '../../src/data/mod.ts';
import type { Policy } from '../../src/ports.ts';
import { plainPrompt, rewriteAllWith } from '../../train/rollouts.ts';

const corpus = arrayCorpus(Array.from({ length: 200 }, (_, i) => ({ id: `d${i}`, title: '', text: `text ${i}` })));

/** Answers at once; `asked` counts its documents. */
function counting(onCall: () => void): { policy: Policy; asked: () => number } {
  let asked = 0;
  const policy: Policy = {
    id: 'counting',
    async generate(prompts) {
      asked += prompts.length;
      onCall();
      return prompts.map((prompt) => [
        { prompt, text: 'x', tokens: new Int32Array(0), logProbs: new Float64Array(0), finish: 'stop' },
      ]);
    },
  };
  return { policy, asked: () => asked };
}

const sampling = { samples: 1, temperature: 0, seed: 1 };

test('a collection is rewritten in batches that add up, each of them reported', async () => {
  const { policy, asked } = counting(() => {});
  const reported: number[] = [];
  const texts = await rewriteAllWith(plainPrompt)({ policy, corpus, sampling, onProgress: (n) => reported.push(n) });
  expect(texts).toEqual(Array(200).fill('x'));
  expect(asked()).toBe(200);
  expect(reported.reduce((a, b) => a + b)).toBe(200);
  expect(reported.length).toBeGreaterThan(1);
});

test('an interruption is heard before the next batch, not after the whole collection', async () => {
  const stop = new AbortController();
  const { policy, asked } = counting(() => stop.abort());
  await expect(rewriteAllWith(plainPrompt)({ policy, corpus, sampling, signal: stop.signal })).rejects.toThrow();
  expect(asked()).toBeLessThanOrEqual(64);
});
