/**
 * A decoder with its weights in memory and an optional adapter: log-probabilities of completions, and their gradients.
 * Layer after layer runs the same two compiled graphs (src/nn/block.ts) on other weights; between them lie plain arrays.
 */
import { DocOptError } from '../../errors.ts';
import { MASKS, rowsOf } from '../../nn/attention.ts';
import {
  BLOCK,
  type Block,
  backwardGraph,
  buildBlock,
  forwardGraph,
  GRADIENT,
  keptProducts,
  type Recomputation,
} from '../../nn/block.ts';
import { HEAD_INPUT, HEAD_OUTPUT, headBackwardGraph, logProbsGraph } from '../../nn/head.ts';
import { type LoraConfig, loraOn } from '../../nn/lora.ts';
import {
  EMBEDDING,
  FINAL_NORM,
  headName,
  layerPrefix,
  type ModelConfig,
  modelParameters,
} from '../../nn/model-config.ts';
import { causalMask, type PackedBatch } from '../../nn/pack.ts';
import { ropeFrequencies, ropeTables } from '../../nn/rope.ts';
import type { GraphRuntime, Tensors } from '../runtimes/graph-runtime.ts';
import { createExecutableCache, type ExecutableCache } from './executables.ts';

/** Parameters by their full Hugging Face names, row-major. */
export type Weights = ReadonlyMap<string, Float32Array>;

export interface Adapter {
  readonly config: LoraConfig;
  readonly weights: Weights;
}

export interface LanguageModelOptions {
  readonly recomputation?: Recomputation;
  /** Rows whose logits exist at once. */
  readonly headRows?: number;
}

/** What a forward pass leaves for the backward pass. */
export interface Tape {
  readonly batch: PackedBatch;
  readonly adapter?: Adapter;
  /** Per layer: the block's input and what was kept of it; undefined when nothing was to be kept. */
  readonly layers?: readonly Tensors[];
  /** Feeds that all layers share: angles and masks. */
  readonly shared: Tensors;
  /** [rows, hiddenSize] before the final norm. */
  readonly hidden: Float32Array;
}

export interface TokenScores {
  /** In the order of PackedBatch.targets. */
  readonly logProbs: Float32Array;
  /** Of the distribution that each token was drawn from, nats. */
  readonly entropy: Float32Array;
}

export interface LanguageModel {
  readonly config: ModelConfig;
  readonly weights: Weights;
  forward(batch: PackedBatch, adapter: Adapter | undefined, keep: boolean): Promise<Tape>;
  /** Log-probabilities at this temperature of the batch's completion tokens. */
  score(tape: Tape, temperature: number): Promise<TokenScores>;
  /** Adds to `gradients` (by full name: of the adapter, or without one of all weights) what these slopes of the loss bring. */
  backward(
    tape: Tape,
    lossByLogProb: Float32Array,
    temperature: number,
    gradients: Map<string, Float32Array>,
  ): Promise<void>;
  release(): Promise<void>;
}

/** Compiled graphs that are held; a training step of one shape needs four. */
const HELD_GRAPHS = 24;

export function createLanguageModel(
  runtime: GraphRuntime,
  config: ModelConfig,
  weights: Weights,
  options: LanguageModelOptions = {},
): LanguageModel {
  for (const { name, shape } of modelParameters(config)) {
    const size = shape.reduce((product, dimension) => product * dimension, 1);
    if (weights.get(name)?.length === size) continue;
    throw new DocOptError(
      'DATA',
      `weights of ${name} [${shape.join(', ')}] ${weights.has(name) ? 'have another size' : 'are missing'}`,
      {
        hint: 'The files do not fit the model configuration; get the model again.',
      },
    );
  }
  return new InMemoryModel(createExecutableCache(runtime, HELD_GRAPHS), config, weights, options);
}

class InMemoryModel implements LanguageModel {
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly #executables: ExecutableCache;
  readonly #frequencies: Float64Array;
  readonly #recomputation: Recomputation;
  readonly #headRows: number;

  constructor(executables: ExecutableCache, config: ModelConfig, weights: Weights, options: LanguageModelOptions) {
    this.config = config;
    this.weights = weights;
    this.#executables = executables;
    this.#frequencies = ropeFrequencies(config);
    this.#recomputation = options.recomputation ?? 'cheap';
    this.#headRows = options.headRows ?? 256;
  }

  async forward(batch: PackedBatch, adapter: Adapter | undefined, keep: boolean): Promise<Tape> {
    const { layers } = this.config;
    const shared: Tensors = {
      ...this.#angles(batch.positions),
      [MASKS.prompt]: batch.promptMask,
      [MASKS.causalPrompt]: causalMask(batch.layout.promptLength),
      [MASKS.causal]: causalMask(batch.layout.length),
    };
    const tapes: Tensors[] = [];
    let x = this.#embed(batch.tokens);
    for (let layer = 0; layer < layers; layer++) {
      const { key, block } = this.#block(batch, adapter, layer);
      const kept = keep ? keptProducts(block(), this.#recomputation) : {};
      const executable = await this.#executables.get(`forward ${keep} ${key}`, () => forwardGraph(block(), kept));
      const outputs = await executable.run({ ...shared, ...this.#parametersOf(layer, adapter), [BLOCK.x]: x });
      const { [BLOCK.y]: y, ...results } = outputs;
      if (keep) tapes.push({ ...results, [BLOCK.x]: x });
      x = y as Float32Array;
    }
    return { batch, adapter, shared, hidden: x, layers: keep ? tapes : undefined };
  }

  async score({ batch, hidden }: Tape, temperature: number): Promise<TokenScores> {
    const { targets } = batch;
    const logProbs = new Float32Array(targets.length);
    const entropy = new Float32Array(targets.length);
    for (const { start, end, feeds } of this.#headChunks(batch, hidden)) {
      const rows = this.#headRows;
      const executable = await this.#executables.get(`log-probs ${rows} ${temperature}`, () =>
        logProbsGraph({ config: this.config, rows, temperature }),
      );
      const outputs = await executable.run(feeds);
      logProbs.set(outputs[HEAD_OUTPUT.logProbs].subarray(0, end - start), start);
      entropy.set(outputs[HEAD_OUTPUT.entropy].subarray(0, end - start), start);
    }
    return { logProbs, entropy };
  }

  async backward(
    tape: Tape,
    lossByLogProb: Float32Array,
    temperature: number,
    gradients: Map<string, Float32Array>,
  ): Promise<void> {
    const { batch, adapter, shared, layers } = tape;
    if (layers === undefined)
      throw new DocOptError('INTERNAL', 'a backward pass needs a forward pass that kept its tape');
    let dy = await this.#headBackward(tape, lossByLogProb, temperature, gradients);
    for (let layer = this.config.layers - 1; layer >= 0; layer--) {
      const { key, block } = this.#block(batch, adapter, layer);
      const trained = [...block().parameters.keys()].filter((name) => adapter === undefined || isAdapter(name));
      // Below the lowest adapter there is nothing to train: the gradient stops there.
      const wantsDx = adapter === undefined || lowerAdapter(adapter, layer);
      if (trained.length > 0 || wantsDx) {
        const executable = await this.#executables.get(`backward ${wantsDx} ${key}`, () =>
          backwardGraph(block(), keptProducts(block(), this.#recomputation), trained, wantsDx),
        );
        const inputs = { ...shared, ...this.#parametersOf(layer, adapter), ...layers[layer], [BLOCK.dy]: dy };
        const outputs = await executable.run(inputs);
        for (const name of trained) {
          accumulate(gradients, layerPrefix(layer) + name, outputs[GRADIENT + name] as Float32Array);
        }
        if (wantsDx) dy = outputs[BLOCK.dx] as Float32Array;
      }
      if (!wantsDx) return;
    }
    this.#embeddingBackward(batch.tokens, dy, gradients);
  }

  release(): Promise<void> {
    return this.#executables.release();
  }

  /** Loss slopes -> gradient of the hidden states, [rows, hiddenSize]. */
  async #headBackward(
    { batch, hidden, adapter }: Tape,
    lossByLogProb: Float32Array,
    temperature: number,
    gradients: Map<string, Float32Array>,
  ): Promise<Float32Array> {
    const { hiddenSize } = this.config;
    const rows = this.#headRows;
    const full = adapter === undefined;
    const dy = new Float32Array(rowsOf(batch.layout) * hiddenSize);
    for (const { start, end, feeds } of this.#headChunks(batch, hidden)) {
      const slopes = new Float32Array(rows);
      slopes.set(lossByLogProb.subarray(start, end));
      const executable = await this.#executables.get(`head backward ${rows} ${temperature} ${full}`, () =>
        headBackwardGraph({ config: this.config, rows, temperature }, full),
      );
      const outputs = await executable.run({ ...feeds, [HEAD_INPUT.dLogProbs]: slopes });
      const dHidden = outputs[HEAD_OUTPUT.dHidden] as Float32Array;
      for (let i = start; i < end; i++) {
        addRow(dy, batch.predictedFrom[i], dHidden, i - start, hiddenSize);
      }
      if (full) {
        accumulate(gradients, FINAL_NORM, outputs[GRADIENT + HEAD_INPUT.norm] as Float32Array);
        accumulate(gradients, headName(this.config), outputs[GRADIENT + HEAD_INPUT.matrix] as Float32Array);
      }
    }
    return dy;
  }

  /** The rows that predict tokens, a few hundred at a time; the last chunk is filled up with rows that nobody reads. */
  *#headChunks(batch: PackedBatch, hidden: Float32Array): Generator<{ start: number; end: number; feeds: Tensors }> {
    const { hiddenSize } = this.config;
    const rows = this.#headRows;
    for (let start = 0; start < batch.targets.length; start += rows) {
      const end = Math.min(batch.targets.length, start + rows);
      const chunk = new Float32Array(rows * hiddenSize);
      const targets = new Int32Array(rows);
      targets.set(batch.targets.subarray(start, end));
      for (let i = start; i < end; i++) {
        const row = batch.predictedFrom[i];
        chunk.set(hidden.subarray(row * hiddenSize, (row + 1) * hiddenSize), (i - start) * hiddenSize);
      }
      const feeds: Tensors = {
        [HEAD_INPUT.hidden]: chunk,
        [HEAD_INPUT.targets]: targets,
        [HEAD_INPUT.norm]: this.weights.get(FINAL_NORM)!,
        [HEAD_INPUT.matrix]: this.weights.get(headName(this.config))!,
      };
      yield { start, end, feeds };
    }
  }

  /** The block of a layer, built when first asked for, and the key of everything that decides its graph. */
  #block(
    { layout }: PackedBatch,
    adapter: Adapter | undefined,
    layer: number,
  ): { readonly key: string; readonly block: () => Block } {
    const lora = adapter !== undefined && loraOn(adapter.config, layer) ? adapter.config : undefined;
    const shape = lora === undefined ? 'plain' : `${lora.rank} ${lora.alpha} ${lora.targets.join()}`;
    let built: Block | undefined;
    return {
      key: `${JSON.stringify(layout)} ${shape} ${adapter === undefined}`,
      block: () => {
        built ??= buildBlock({ config: this.config, layout, lora });
        return built;
      },
    };
  }

  /** A layer's weights under the names that its graph has them. */
  #parametersOf(layer: number, adapter: Adapter | undefined): Tensors {
    const prefix = layerPrefix(layer);
    const found: Record<string, Float32Array> = {};
    for (const [name, values] of this.#byLayer(this.weights, layer)) found[name.slice(prefix.length)] = values;
    if (adapter !== undefined && loraOn(adapter.config, layer)) {
      for (const [name, values] of adapter.weights)
        if (name.startsWith(prefix)) found[name.slice(prefix.length)] = values;
    }
    return found;
  }

  readonly #layerWeights: (readonly (readonly [string, Float32Array])[])[] = [];
  #byLayer(weights: Weights, layer: number): readonly (readonly [string, Float32Array])[] {
    this.#layerWeights[layer] ??= [...weights].filter(([name]) => name.startsWith(layerPrefix(layer)));
    return this.#layerWeights[layer];
  }

  #angles(positions: Int32Array): Tensors {
    const { cos, sin } = ropeTables(this.#frequencies, positions);
    return { [BLOCK.cos]: cos, [BLOCK.sin]: sin };
  }

  #embed(tokens: Int32Array): Float32Array {
    const { hiddenSize } = this.config;
    const table = this.weights.get(EMBEDDING)!;
    const rows = new Float32Array(tokens.length * hiddenSize);
    tokens.forEach((token, row) => {
      rows.set(table.subarray(token * hiddenSize, (token + 1) * hiddenSize), row * hiddenSize);
    });
    return rows;
  }

  #embeddingBackward(tokens: Int32Array, dx: Float32Array, gradients: Map<string, Float32Array>): void {
    const size = this.weights.get(EMBEDDING)!.length;
    const sum = gradients.get(EMBEDDING) ?? new Float32Array(size);
    gradients.set(EMBEDDING, sum);
    tokens.forEach((token, row) => {
      addRow(sum, token, dx, row, this.config.hiddenSize);
    });
  }
}

function isAdapter(name: string): boolean {
  return name.includes('.lora_');
}

function lowerAdapter({ config }: Adapter, layer: number): boolean {
  return layer > 0 && (config.layers === undefined || config.layers.some((other) => other < layer));
}

function addRow(target: Float32Array, row: number, source: Float32Array, sourceRow: number, width: number): void {
  const to = row * width;
  const from = sourceRow * width;
  for (let i = 0; i < width; i++) target[to + i] += source[from + i];
}

function accumulate(gradients: Map<string, Float32Array>, name: string, values: Float32Array): void {
  const sum = gradients.get(name);
  if (sum === undefined) {
    gradients.set(name, values.slice());
    return;
  }
  for (let i = 0; i < sum.length; i++) sum[i] += values[i];
}
