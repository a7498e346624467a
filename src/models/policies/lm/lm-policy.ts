/**
 * A local language model as a policy: it is asked for a text about each document, and learns from what that text does to
 * rankings. Only an adapter is trained, or all weights. It knows no rewards: it gives log-probabilities and takes the slope
 * of a loss with respect to them.
 */
import { DocOptError } from '../../../errors.ts';
import { deriveSeed } from '../../../kernels/rng.ts';
import { ADAMW, adamwStart, adamwStep, clipGradients } from '../../../nn/adamw.ts';
import { initialLora, loraParameters } from '../../../nn/lora.ts';
import { keptFloats } from '../../../nn/memory.ts';
import { modelParameters } from '../../../nn/model-config.ts';
import type { ArtefactReader, ArtefactWriter, Rehearsal, TrainablePolicy } from '../../../ports.ts';
import type { Completion, Prompt, Sampling } from '../../../types.ts';
import type { DecodeEngine } from '../../lm/decode-batch.ts';
import { type Decoded, decode } from '../../lm/decoder.ts';
import { createLanguageModel, type Gradients, type LanguageModel } from '../../lm/language-model.ts';
import type { LoadedModel } from '../../lm/load-model.ts';
import { type Adapter, ModelParts, type Weights } from '../../lm/model-parts.ts';
import { createQuantisedEngine } from '../../lm/quantised-engine.ts';
import type { GraphRuntime } from '../../runtimes/graph-runtime.ts';
import {
  type LmPolicySpec,
  loraOf,
  readLmPolicyFile,
  readLmState,
  type TrainedState,
  writeLmCheckpoint,
} from './checkpoint.ts';
import { modelFingerprint } from './model-fingerprint.ts';
import {
  cleanAnswer,
  indexTextOf,
  instructionFor,
  isPreset,
  isRunaway,
  messagesFor,
  PRESET_VERSION,
} from './prompts.ts';
import { rehearseStep } from './rehearse.ts';
import { backwardPass, type CompletionScores, planPasses, type ScoredPass, scorePass } from './scoring.ts';

/** When a request says nothing of it. */
const MAX_NEW_TOKENS = 128;

export function createLmPolicy(spec: LmPolicySpec, loaded: LoadedModel, runtime: GraphRuntime, seed: number): LmPolicy {
  return new LmPolicy(spec, loaded, runtime, seed);
}

export class LmPolicy implements TrainablePolicy {
  readonly id: string;
  readonly #spec: LmPolicySpec;
  readonly #loaded: LoadedModel;
  readonly #runtime: GraphRuntime;
  readonly #fingerprint: string;
  readonly #model: LanguageModel;
  readonly #maxRows: number;
  /** How answers are drawn; undefined: exactly. */
  readonly #engine: DecodeEngine | undefined;
  #state: TrainedState;
  /** Made when it is first asked for: an anchor of all weights is a model of its own. */
  #anchorModel: LanguageModel | undefined;
  /** Scores under the current weights, and what their passes kept: forgotten with the next update. */
  #scores = new Map<Completion, CompletionScores>();
  #kept: { readonly completions: readonly Completion[]; readonly pass: ScoredPass } | undefined;
  readonly #prompts = new WeakMap<Prompt, Int32Array>();
  readonly #truncated = new WeakSet<Prompt>();

  constructor(spec: LmPolicySpec, loaded: LoadedModel, runtime: GraphRuntime, seed: number) {
    const { config } = loaded;
    this.#spec = spec;
    this.#loaded = loaded;
    this.#runtime = runtime;
    this.#fingerprint = modelFingerprint(config, loaded.weights);
    const lora = loraOf(spec);
    const weights = lora === undefined ? new Map(loaded.weights) : initialLora(config, lora, deriveSeed(seed, 'lora'));
    this.#state = { lora, weights, reference: copyOf(weights), optimiser: adamwStart() };
    this.#model = createLanguageModel(new ModelParts(runtime, config, loaded.weights), spec);
    const bytesPerRow = 4 * config.layers * keptFloats(config, spec.recomputation);
    this.#maxRows = Math.max(1, Math.floor((spec.memoryGb * 1e9) / bytesPerRow));
    // All weights in few bits would have to be rounded anew after every step.
    // Checkpoints from before there was a choice say nothing of it.
    const { precision = 'fp32' } = spec;
    if (precision !== 'fp32' && lora === undefined) throw fullInFewBits(precision);
    this.#engine = precision === 'fp32' ? undefined : createQuantisedEngine(loaded, runtime, precision);
    const trained = lora === undefined ? 'all weights' : `rank ${lora.rank}`;
    const bits = precision === 'fp32' ? '' : `, ${precision}`;
    const preset = isPreset(spec.prompt) ? ` v${PRESET_VERSION}` : '';
    this.id = `lm(${this.#fingerprint.slice(0, 12)}, ${trained}, ${spec.output}, ${JSON.stringify(spec.prompt)}${preset}${bits})`;
  }

  async generate(prompts: readonly Prompt[], sampling: Sampling): Promise<Completion[][]> {
    const { samples } = sampling;
    const answers: Completion[][] = new Array(prompts.length);
    // Prompts of similar length together: what is added to make them equally long is computed too.
    const order = prompts
      .map((prompt, index) => ({ prompt, index, tokens: this.#promptTokens(prompt) }))
      .sort((a, b) => a.tokens.length - b.tokens.length || a.index - b.index);
    const together = Math.max(1, Math.floor(this.#spec.batchSize / Math.max(1, samples)));
    for (let start = 0; start < order.length; start += together) {
      const batch = order.slice(start, start + together);
      const decoded = await decode(
        this.#model.parts,
        batch.map(({ prompt, tokens }) => ({
          prompt: tokens,
          seeds: Array.from({ length: samples }, (_, s) => deriveSeed(sampling.seed, 'lm', prompt.document.id, s)),
        })),
        {
          ...sampling,
          maxNewTokens: this.#newTokens(sampling, batch[batch.length - 1].tokens.length),
          endTokens: this.#loaded.tokenizer.endTokens,
          stops: (tokens) => this.#stops(tokens, sampling.stop),
        },
        this.#adapter('current'),
        this.#engine,
      );
      batch.forEach(({ prompt, index }, b) => {
        answers[index] = decoded[b].map((one) => this.#completion(prompt, one, sampling));
      });
    }
    return answers;
  }

  async logProbs(completions: readonly Completion[], weights: 'current' | 'reference'): Promise<Float64Array[]> {
    if (weights === 'current') return (await this.#scoresOf(completions)).map(({ logProbs }) => logProbs);
    const rows: Float64Array[] = new Array(completions.length);
    for (const pass of this.#plan(completions)) {
      const { scores } = await scorePass(this.#anchor(), pass, completions, this.#adapter('reference'), false);
      pass.members.forEach((i, n) => {
        rows[i] = scores[n].logProbs;
      });
    }
    return rows;
  }

  async entropy(completions: readonly Completion[]): Promise<number> {
    const scores = await this.#scoresOf(completions);
    const tokens = scores.reduce((count, { logProbs }) => count + logProbs.length, 0);
    return scores.reduce((sum, { entropy }) => sum + entropy, 0) / Math.max(1, tokens);
  }

  async applyGradient(
    completions: readonly Completion[],
    lossByLogProb: readonly Float64Array[],
    learningRate: number,
  ): Promise<void> {
    const gradients: Gradients = new Map();
    const kept = this.#takeKept(completions);
    if (kept !== undefined) await backwardPass(this.#model, kept, lossByLogProb, gradients);
    else {
      for (const pass of this.#plan(completions)) {
        const scored = await scorePass(this.#model, pass, completions, this.#adapter('current'), true);
        await backwardPass(this.#model, scored, lossByLogProb, gradients);
      }
    }
    clipGradients(gradients, this.#spec.maxGradNorm);
    const { weights, optimiser } = this.#state;
    adamwStep(weights, gradients, optimiser, learningRate, { ...ADAMW, weightDecay: this.#spec.weightDecay });
    this.#forget();
  }

  truncates(prompt: Prompt): boolean {
    this.#promptTokens(prompt);
    return this.#truncated.has(prompt);
  }

  async rehearse(prompts: readonly Prompt[], documents: number, sampling: Sampling): Promise<Rehearsal> {
    const longest = prompts
      .map((prompt) => ({ prompt, length: this.#promptTokens(prompt).length }))
      .sort((a, b) => b.length - a.length)
      .slice(0, documents);
    const asked = { ...sampling, maxNewTokens: this.#newTokens(sampling, longest[0].length) };
    let trained = 0;
    for (const { length } of this.#state.weights.values()) trained += length;
    const own = { model: this.#model, adapter: this.#adapter('current'), maxRows: this.#maxRows, trained };
    return rehearseStep(
      longest.map(({ prompt }) => prompt),
      asked,
      { ...own, recomputation: this.#spec.recomputation, promptTokens: (prompt) => this.#promptTokens(prompt) },
    );
  }

  anchor(): void {
    this.#state = { ...this.#state, reference: copyOf(this.#state.weights) };
    this.#anchorModel = undefined;
  }

  async save(artefact: ArtefactWriter): Promise<void> {
    const { config } = this.#loaded;
    const { lora } = this.#state;
    const parameters = lora === undefined ? modelParameters(config) : loraParameters(config, lora);
    const shapes = new Map(parameters.map(({ name, shape }) => [name, shape]));
    const spec = { ...this.#spec, path: this.#loaded.name };
    await writeLmCheckpoint(artefact, spec, this.#fingerprint, this.#state, shapes);
  }

  async load(artefact: ArtefactReader): Promise<void> {
    const file = await readLmPolicyFile(artefact);
    if (file.model !== this.#fingerprint) {
      throw new DocOptError(
        'ARTEFACT',
        `the policy in '${artefact.folder}' was trained on another base model than ${this.#loaded.path}`,
        {
          hint: `Put back the model that it names: ${file.spec.path}`,
        },
      );
    }
    const saved = await readLmState(artefact, file, this.#state.lora);
    // In place: the graphs are fed these very arrays.
    for (const [name, values] of this.#state.weights) values.set(saved.weights.get(name)!);
    this.#state = { ...saved, weights: this.#state.weights };
    this.#anchorModel = undefined;
    this.#forget();
  }

  /** Frees the compiled graphs. */
  async release(): Promise<void> {
    await this.#engine?.release();
    await this.#model.parts.release();
    await this.#anchorModel?.parts.release();
  }

  #completion(prompt: Prompt, decoded: Decoded, { temperature, stop }: Sampling): Completion {
    const { tokens, logProbs, finish } = decoded;
    const answer = cleanAnswer(beforeStop(this.#loaded.tokenizer.decode(tokens), stop));
    const text = indexTextOf(this.#spec.output, prompt.document.text, answer);
    return { prompt, text, tokens, logProbs, finish, temperature: temperature === 0 ? 1 : temperature };
  }

  #stops(tokens: readonly number[], stop: readonly string[] | undefined): 'stop' | 'length' | undefined {
    if (isRunaway(tokens)) return 'length';
    if (stop === undefined || stop.length === 0) return undefined;
    const text = this.#loaded.tokenizer.decode(tokens);
    return stop.some((one) => text.includes(one)) ? 'stop' : undefined;
  }

  #newTokens({ maxNewTokens = MAX_NEW_TOKENS }: Sampling, promptLength: number): number {
    return Math.max(1, Math.min(maxNewTokens, this.#loaded.config.maxPositions - promptLength));
  }

  /** The prompt as tokens: its own messages, or the instruction with the document, cut to what fits. */
  #promptTokens(prompt: Prompt): Int32Array {
    const known = this.#prompts.get(prompt);
    if (known !== undefined) return known;
    const { tokenizer } = this.#loaded;
    const { text } = prompt.document;
    const instruction = instructionFor(this.#spec.prompt, this.#spec.output, text);
    const encode = (document: string): Int32Array =>
      tokenizer.encode(tokenizer.renderChat(prompt.messages ?? messagesFor(instruction, document)));
    let tokens = encode(text);
    const over = tokens.length - this.#spec.maxPromptTokens;
    if (over > 0 && prompt.messages === undefined) {
      const document = tokenizer.encode(text);
      this.#truncated.add(prompt);
      tokens = encode(tokenizer.decode(document.subarray(0, Math.max(0, document.length - over))));
    }
    this.#prompts.set(prompt, tokens);
    return tokens;
  }

  #plan(completions: readonly Completion[]) {
    return planPasses(completions, (prompt) => this.#promptTokens(prompt), this.#maxRows);
  }

  /** Scores under the current weights, each computed once between two updates. */
  async #scoresOf(completions: readonly Completion[]): Promise<CompletionScores[]> {
    const missing = completions.filter((completion) => !this.#scores.has(completion));
    const passes = this.#plan(missing);
    for (const pass of passes) {
      // What one pass keeps is remembered only when it is all there is.
      const keep = passes.length === 1 && missing.length === completions.length;
      const scored = await scorePass(this.#model, pass, missing, this.#adapter('current'), keep);
      pass.members.forEach((i, n) => {
        this.#scores.set(missing[i], scored.scores[n]);
      });
      if (keep) this.#kept = { completions: missing, pass: scored };
    }
    return completions.map((completion) => this.#scores.get(completion)!);
  }

  /** The pass that scored exactly these completions, if it is still there. */
  #takeKept(completions: readonly Completion[]): ScoredPass | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    const same =
      kept?.completions.length === completions.length && kept.completions.every((one, i) => one === completions[i]);
    return same ? kept.pass : undefined;
  }

  #forget(): void {
    this.#scores = new Map();
    this.#kept = undefined;
  }

  #adapter(which: 'current' | 'reference'): Adapter | undefined {
    const { lora, weights, reference } = this.#state;
    return lora === undefined ? undefined : { config: lora, weights: which === 'current' ? weights : reference };
  }

  /** With an adapter the anchor shares the base weights. */
  #anchor(): LanguageModel {
    if (this.#state.lora !== undefined) return this.#model;
    this.#anchorModel ??= createLanguageModel(
      new ModelParts(this.#runtime, this.#loaded.config, this.#state.reference),
      this.#spec,
    );
    return this.#anchorModel;
  }
}

function fullInFewBits(precision: string): DocOptError {
  return new DocOptError('CONFIG', `policy.precision ${precision} is for adapters, and policy.training is full`, {
    hint: 'Train an adapter (policy.training lora), or leave precision at fp32.',
  });
}

function copyOf(weights: Weights): Map<string, Float32Array> {
  return new Map([...weights].map(([name, values]) => [name, values.slice()]));
}

function beforeStop(text: string, stop: readonly string[] = []): string {
  const ends = stop.map((one) => text.indexOf(one)).filter((at) => at >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}
