/**
 * The embedded policy: a document has a set of candidate edits, each is kept with probability sigmoid(w . features), and
 * w is shared by all documents. One edit is one action, so log-probabilities are exact and GRPO applies as it stands.
 * Trains in seconds on one core; nothing is downloaded.
 */
import { DocOptError } from '../../../errors.ts';
import { createRng, deriveSeed } from '../../../kernels/rng.ts';
import type { ArtefactReader, ArtefactWriter, TrainablePolicy } from '../../../ports.ts';
import type { Analyzer } from '../../../text/mod.ts';
import type { Completion, Corpus, IndexText, Prompt, Sampling } from '../../../types.ts';
import { adamStart, adamStep } from './adam.ts';
import { entropy, logProbability, logProbabilitySlope, sigmoid } from './bernoulli.ts';
import { createCandidates } from './candidates.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { applyEdits, type EditSet, logits } from './edits.ts';
import { FEATURE_NAMES } from './features.ts';
import { fitKnowledge, type TrainingPair } from './fit-knowledge.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import type { EditPolicyState } from './state.ts';
import { supervisedWeights } from './supervised-start.ts';
import { namedWeights, weightsFrom, zeroWeights } from './weights.ts';

export interface EditPolicyOptions {
  /** The originals: where statistics come from. */
  readonly corpus: Corpus;
  /** The retriever's own, so that the policy thinks in the terms that will be indexed. */
  readonly analyzer: Analyzer;
  /** Training queries with their relevant documents; never dev or test. [] = no labels. */
  readonly trainingPairs: readonly TrainingPair[];
  readonly operations?: readonly Operation[];
  /**
   * zero: the most likely rewrite is the original; supervised: logistic regression on the training pairs; or weights of an
   * earlier training, by feature name.
   */
  readonly init: 'zero' | 'supervised' | NamedInit;
  readonly seed: number;
}

export interface NamedInit {
  /** For reports: 'shipped', a path. */
  readonly name: string;
  readonly weights: Readonly<Record<string, number>>;
}

export interface EditPolicy extends TrainablePolicy {
  readonly operations: readonly Operation[];
  /** The candidate edits of a document, in the order of a completion's tokens. */
  candidates(document: IndexText): EditSet;
  /** Probability of each candidate under the current weights. */
  probabilities(document: IndexText): Float64Array;
  /** Current weights by feature name; zeros left out. */
  weights(): Record<string, number>;
}

export function createEditPolicy(options: EditPolicyOptions): EditPolicy {
  const operations = OPERATIONS.filter((name) => options.operations?.includes(name) ?? true);
  const { corpus, trainingPairs, analyzer, seed } = options;
  const knowledge = fitKnowledge(corpus, trainingPairs, analyzer.analyze, { seed });
  const candidates = createCandidates(knowledge, analyzer, operations);
  const { init } = options;
  const weights =
    init === 'zero'
      ? zeroWeights()
      : init === 'supervised'
        ? supervisedWeights(candidates, corpus, trainingPairs, seed)
        : weightsFrom(init.weights);
  return new LinearEditPolicy({
    candidates,
    init: typeof init === 'string' ? init : init.name,
    weights,
    reference: weights.slice(),
    adam: adamStart(weights.length),
  });
}

/** A policy from its checkpoint alone: tables and statistics travel with the weights. */
export async function openEditPolicy(artefact: ArtefactReader): Promise<EditPolicy> {
  return new LinearEditPolicy(await readCheckpoint(artefact));
}

class LinearEditPolicy implements EditPolicy {
  #state: EditPolicyState;

  constructor(state: EditPolicyState) {
    this.#state = state;
  }

  get id(): string {
    const { init, candidates } = this.#state;
    const all = candidates.operations.length === OPERATIONS.length;
    return `edit(${init}${all ? '' : `,${candidates.operations.join('+')}`})`;
  }

  get operations(): readonly Operation[] {
    return this.#state.candidates.operations;
  }

  candidates(document: IndexText): EditSet {
    return this.#state.candidates.of(document);
  }

  probabilities(document: IndexText): Float64Array {
    return logits(this.candidates(document), this.#state.weights).map(sigmoid);
  }

  weights(): Record<string, number> {
    return namedWeights(this.#state.weights);
  }

  /** Temperature 0 keeps what is more likely kept than not; otherwise each edit is drawn from sigmoid(z / temperature). */
  async generate(prompts: readonly Prompt[], sampling: Sampling): Promise<Completion[][]> {
    return prompts.map((prompt) => {
      const { document } = prompt;
      const { edits } = this.candidates(document);
      const z = logits(this.candidates(document), this.#state.weights);
      return Array.from({ length: sampling.samples }, (_, sample): Completion => {
        const tokens = new Int32Array(z.length);
        if (sampling.temperature === 0) {
          for (let e = 0; e < z.length; e++) tokens[e] = z[e] > 0 ? 1 : 0;
        } else {
          const rng = createRng(deriveSeed(sampling.seed, 'edit', document.id, sample));
          for (let e = 0; e < z.length; e++) tokens[e] = rng.next() < sigmoid(z[e] / sampling.temperature) ? 1 : 0;
        }
        const logProbs = Float64Array.from(z, (value, e) => logProbability(value, tokens[e]));
        return { prompt, text: applyEdits(document.text, edits, tokens), tokens, logProbs, finish: 'stop' };
      });
    });
  }

  /** At temperature 1, whatever the completions were drawn with. */
  async logProbs(completions: readonly Completion[], which: 'current' | 'reference'): Promise<Float64Array[]> {
    const weights = which === 'current' ? this.#state.weights : this.#state.reference;
    return this.#withLogits(completions, weights, ({ tokens }, z) =>
      z.map((value, e) => logProbability(value, tokens[e])),
    );
  }

  async applyGradient(
    completions: readonly Completion[],
    lossByLogProb: readonly Float64Array[],
    learningRate: number,
  ): Promise<void> {
    const gradient = new Float64Array(FEATURE_NAMES.length);
    this.#withLogits(completions, this.#state.weights, ({ tokens }, z, set, c) => {
      for (let e = 0; e < z.length; e++) {
        const slope = lossByLogProb[c][e] * logProbabilitySlope(z[e], tokens[e]);
        for (let i = set.offsets[e]; i < set.offsets[e + 1]; i++) gradient[set.indexes[i]] += slope * set.values[i];
      }
    });
    const weights = this.#state.weights.slice();
    const adam = adamStep(weights, gradient, learningRate, this.#state.adam);
    this.#state = { ...this.#state, weights, adam };
  }

  async entropy(completions: readonly Completion[]): Promise<number> {
    let sum = 0;
    let tokens = 0;
    this.#withLogits(completions, this.#state.weights, (_, z) => {
      for (const value of z) sum += entropy(value);
      tokens += z.length;
    });
    return tokens === 0 ? 0 : sum / tokens;
  }

  anchor(): void {
    this.#state = { ...this.#state, reference: this.#state.weights.slice() };
  }

  async save(artefact: ArtefactWriter): Promise<void> {
    await writeCheckpoint(artefact, this.#state);
  }

  async load(artefact: ArtefactReader): Promise<void> {
    this.#state = await readCheckpoint(artefact);
  }

  /** The samples of one document share its logits. */
  #withLogits<T>(
    completions: readonly Completion[],
    weights: Float64Array,
    use: (completion: Completion, z: Float64Array, set: EditSet, index: number) => T,
  ): T[] {
    let last: { set: EditSet; z: Float64Array } | undefined;
    return completions.map((completion, c) => {
      const set = this.candidates(completion.prompt.document);
      if (last?.set !== set) last = { set, z: logits(set, weights) };
      if (completion.tokens.length !== set.edits.length) {
        throw new DocOptError(
          'INTERNAL',
          `a rewrite of document '${completion.prompt.document.id}' has ${completion.tokens.length} decisions, ` +
            `but the document has ${set.edits.length} candidate edits`,
          { hint: 'It was sampled by another policy.' },
        );
      }
      return use(completion, last.z, set, c);
    });
  }
}
