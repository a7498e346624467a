/**
 * Starting weights by supervision, before any reward: logistic regression of "the word of this edit occurs in a training
 * query of this document" on the edit's features. Candidates are cross-fitted, so that a document's own queries have not
 * proposed its words. What this gives is reported as zeroShot, and is not credited to GRPO.
 */
import { DocOptError } from '../../../errors.ts';
import { createRng, deriveSeed, shuffle } from '../../../kernels/rng.ts';
import type { Corpus } from '../../../types.ts';
import { adamStart, adamStep } from './adam.ts';
import { sigmoid } from './bernoulli.ts';
import type { Candidates } from './candidates.ts';
import { type EditSet, logits } from './edits.ts';
import { FEATURE_NAMES, factIndex } from './features.ts';
import type { TrainingPair } from './fit-knowledge.ts';

const ITERATIONS = 400;
const LEARNING_RATE = 0.05;
const L2 = 1e-3;
/** Enough to fit some two hundred weights, and a bound on the time. */
const MAX_DOCUMENTS = 1000;

/**
 * Odds from which an edit is worth making: a right word lifts its document, a wrong one lengthens it a little, so a word
 * is kept when it is in a query once in thirteen, and said twice when it is once in four.
 */
const KEEP_LOGIT = -2.5;
const REPEAT_LOGIT = -1;

/** Weights in the order of FEATURE_NAMES. Throws CONFIG when no document has a training query. */
export function supervisedWeights(
  candidates: Candidates,
  corpus: Corpus,
  trainingPairs: readonly TrainingPair[],
  seed: number,
): Float64Array {
  const examples = examplesOf(candidates, corpus, trainingPairs, seed);
  const edits = examples.reduce((sum, { set }) => sum + set.edits.length, 0);
  if (edits === 0) {
    throw new DocOptError('CONFIG', "policy.init 'supervised' needs training queries, and no document has any", {
      hint: "Use --init shipped, or 'zero' with data that has judgements.",
    });
  }
  const weights = new Float64Array(FEATURE_NAMES.length);
  let adam = adamStart(weights.length);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const gradient = weights.map((weight) => L2 * weight);
    for (const { set, wanted } of examples) {
      const z = logits(set, weights);
      for (let e = 0; e < z.length; e++) {
        const slope = (sigmoid(z[e]) - wanted[e]) / edits;
        for (let i = set.offsets[e]; i < set.offsets[e + 1]; i++) gradient[set.indexes[i]] += slope * set.values[i];
      }
    }
    adam = adamStep(weights, gradient, LEARNING_RATE, adam);
  }
  // The policy keeps an edit whose logit is above 0; both thresholds move into the biases.
  weights[factIndex('any', 'bias')] -= KEEP_LOGIT;
  weights[factIndex('rep', 'bias')] -= REPEAT_LOGIT - KEEP_LOGIT;
  return weights;
}

interface Example {
  readonly set: EditSet;
  /** 1 where the edit's word occurs in a training query of the document. */
  readonly wanted: Uint8Array;
}

function examplesOf(
  { analyzer, of }: Candidates,
  corpus: Corpus,
  trainingPairs: readonly TrainingPair[],
  seed: number,
): Example[] {
  const asked = new Map<string, Set<string>>();
  for (const { documentId, queryText } of trainingPairs) {
    let terms = asked.get(documentId);
    if (terms === undefined) asked.set(documentId, (terms = new Set()));
    for (const term of analyzer.analyze(queryText)) terms.add(term);
  }
  let documents = [...asked];
  if (documents.length > MAX_DOCUMENTS) {
    documents = shuffle(documents, createRng(deriveSeed(seed, 'supervised'))).slice(0, MAX_DOCUMENTS);
  }
  return documents.flatMap(([id, terms]) => {
    const position = corpus.positionOf(id);
    if (position === undefined) return [];
    const set = of({ id, text: corpus.indexText(position) });
    const wanted = Uint8Array.from(set.edits, ({ text }) => (analyzer.analyze(text).some((t) => terms.has(t)) ? 1 : 0));
    return [{ set, wanted }];
  });
}
