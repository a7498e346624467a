/**
 * A tiny trainable policy with exact log-probabilities, for tests of the training loop: every document has candidate words
 * of a few classes, each word is appended with probability sigmoid(weight of its class), Adam moves the class weights.
 */
import { createRng, deriveSeed } from '../../src/kernels/rng.ts';
import type { TrainablePolicy } from '../../src/ports.ts';
import type { Completion, Prompt } from '../../src/types.ts';

export interface Candidate {
  readonly word: string;
  readonly kind: number;
}

export interface ClassPolicy extends TrainablePolicy {
  readonly weights: Float64Array;
  /** Optimiser steps so far. */
  updates(): number;
}

export function createClassPolicy(
  classes: number,
  candidatesOf: (documentId: string) => readonly Candidate[],
  start = 0,
): ClassPolicy {
  const weights = new Float64Array(classes).fill(start);
  let anchor = weights.slice();
  let first = new Float64Array(classes);
  let second = new Float64Array(classes);
  let steps = 0;
  const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
  const kindsOf = ({ prompt }: Completion): number[] => candidatesOf(prompt.document.id).map(({ kind }) => kind);
  const logProb = (kept: number, weight: number): number => -Math.log1p(Math.exp(kept === 1 ? -weight : weight));

  const sample = (prompt: Prompt, temperature: number, seed: number): Completion => {
    const rng = createRng(seed);
    const candidates = candidatesOf(prompt.document.id);
    const tokens = Int32Array.from(candidates, ({ kind }) =>
      temperature === 0 ? Number(weights[kind] > 0) : Number(rng.next() < sigmoid(weights[kind] / temperature)),
    );
    const words = candidates.filter((_, i) => tokens[i] === 1).map(({ word }) => word);
    return {
      prompt,
      text: [prompt.document.text, ...words].join(' '),
      tokens,
      logProbs: Float64Array.from(tokens, (kept, i) => logProb(kept, weights[candidates[i].kind])),
      finish: 'stop',
    };
  };

  return {
    id: 'classes',
    weights,
    updates: () => steps,
    generate: async (prompts, { samples, temperature, seed }) =>
      prompts.map((prompt) =>
        Array.from({ length: samples }, (_, s) => sample(prompt, temperature, deriveSeed(seed, prompt.document.id, s))),
      ),
    logProbs: async (completions, which) => {
      const from = which === 'current' ? weights : anchor;
      return completions.map((completion) => {
        const kinds = kindsOf(completion);
        return Float64Array.from(completion.tokens, (kept, t) => logProb(kept, from[kinds[t]]));
      });
    },
    async applyGradient(completions, lossByLogProb, learningRate) {
      const gradient = new Float64Array(classes);
      completions.forEach((completion, c) => {
        const kinds = kindsOf(completion);
        completion.tokens.forEach((kept, t) => {
          gradient[kinds[t]] += lossByLogProb[c][t] * (kept - sigmoid(weights[kinds[t]]));
        });
      });
      steps++;
      for (let i = 0; i < classes; i++) {
        first[i] = 0.9 * first[i] + 0.1 * gradient[i];
        second[i] = 0.999 * second[i] + 0.001 * gradient[i] ** 2;
        const step = first[i] / (1 - 0.9 ** steps) / (Math.sqrt(second[i] / (1 - 0.999 ** steps)) + 1e-8);
        weights[i] -= learningRate * step;
      }
    },
    async entropy(completions) {
      let sum = 0;
      let count = 0;
      for (const completion of completions) {
        for (const kind of kindsOf(completion)) {
          const p = sigmoid(weights[kind]);
          sum -= p * Math.log(p) + (1 - p) * Math.log(1 - p);
          count++;
        }
      }
      return sum / Math.max(1, count);
    },
    anchor() {
      anchor = weights.slice();
    },
    async save(artefact) {
      const arrays = { weights, anchor, first, second };
      const plain = Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, [...values]]));
      await artefact.write('policy.json', JSON.stringify({ ...plain, steps }));
    },
    async load(artefact) {
      const saved = await artefact.readJson<Record<string, number[]> & { steps: number }>('policy.json');
      weights.set(saved.weights);
      anchor = Float64Array.from(saved.anchor);
      first = Float64Array.from(saved.first);
      second = Float64Array.from(saved.second);
      steps = saved.steps;
    },
  };
}
